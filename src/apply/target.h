/* SPDX-License-Identifier: MIT */
/* The new root while it is being built: finding places in it, and making them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "apply/landlock.h"
#include "base/err.h"
#include "base/strings.h"

struct tree {
	int root;           /* the new root, a mount */
	int base;           /* the first root, a tmpfs, which a mount at "/" may have covered */
	bool make_anywhere; /* mountpoints may be made in directories of the host too */
	uint64_t own[32];   /* mounts in which they may be made, by id (statx(2), Linux 5.8) */
	size_t own_count;
	uint64_t scratch;     /* of these, the home: a sandbox may have left links in it; 0: none */
	struct strings links; /* where the plan made links */
	bool masks[2];        /* the sources of masks exist in the base: file, directory */
	int whole[4]; /* clones of the old root for binds of "/", in the order of the plan */
	size_t whole_count, whole_used;
	const struct ruleset *ruleset; /* gets a rule for each mount */

	/* The directory that something was made in last: most neighbours of a plan share one. */
	int parent;        /* -1: none */
	char *parent_path; /* owned; NULL: none */
};

/* Let things be made in the mount that `fd` is in: not in another one of the same file system, which
 * the project next to the private home usually is. `scratch`: it is the home. -1 with a sentence. */
int tree_own(struct tree *tree, int fd, bool scratch, struct err *e);

/* An O_PATH descriptor of `path` inside the new root, made when it is missing: a directory if
 * `directory`, else an empty file; its parents as directories. -1 with a sentence. */
int tree_target(struct tree *tree, const char *path, bool directory, struct err *e);

/* An O_PATH descriptor of the directory that `path` is in, made when missing, and the last component
 * of the path. It is the tree's, good until the next call. -1 with a sentence; also when nothing may
 * be made there. */
int tree_parent(struct tree *tree, const char *path, const char **ret_name, struct err *e);

/* To be called after a mount at `path`: what was known of directories may not be so any more. */
void tree_mounted(struct tree *tree, const char *path);

/* Make a directory with exactly these permissions; an existing one stays as it is. */
int tree_directory(struct tree *tree, const char *path, mode_t perms, struct err *e);
