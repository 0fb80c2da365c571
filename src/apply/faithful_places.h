/* SPDX-License-Identifier: MIT */
/* Places in the root of a faithful plan: found, or made as bubblewrap makes them. */
#pragma once

#include <limits.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/err.h"
#include "plan/plan.h"

struct faithful {
	const struct plan *plan;
	int base;      /* the tmpfs beside the root */
	int root;      /* what is mounted at / by now */
	unsigned made; /* things in the base have numbers */
	struct stat old_root;
	int *whole; /* by operation: a clone of the old root, or -1 */
};

/* A target without the slashes that it begins with. */
const char *place_inside(const char *target);

/* Open `path` inside the root; links cannot lead out of it. A descriptor, or -1 with errno. */
int place_find(const struct faithful *f, const char *path, int flags);

/* The directory that the target of `op` is in, made with its parents if missing, and the target's
 * last component. -1 with a sentence. */
int place_parent(
	const struct faithful *f, const struct op *op, char ret_name[NAME_MAX + 1], struct err *e);

/* The target as a directory, or as something that is none, made if missing (O_PATH). */
int place_directory(const struct faithful *f, const struct op *op, mode_t perms, struct err *e);
int place_file(const struct faithful *f, const struct op *op, struct err *e);

/* The target as an empty file of the operation's permissions, open for writing. */
int place_written(const struct faithful *f, const struct op *op, struct err *e);

/* `mount` was attached at `target`: if that is the root, later targets are found in it. */
void place_covered(struct faithful *f, int *mount, const char *target);
