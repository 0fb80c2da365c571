/* SPDX-License-Identifier: MIT */
/* Files that ship inside the program (share/homes/shell, share/flake) and are written out once. */
#pragma once

#include <stddef.h>

#include "base/err.h"

struct seed {
	const char *path; /* relative */
	const char *content;
	size_t length;
};

/* Made at build time by tools/seed-table; end with a NULL path. */
extern const struct seed seed_home_files[];
extern const struct seed seed_flake_files[];

/* Write what is missing of each below `directory`, which exists and belongs to the user. What is
 * there, changed or not, stays; what the user removed comes back only with a new directory: a marker
 * remembers that it was seeded. */
int seed_home(const char *directory, struct err *e);
int seed_flake(const char *directory, struct err *e);

/* One file at `below` of `directory`, unless there is something by that name. No link is followed. */
int seed_file(
	const char *directory, const char *below, const char *data, size_t length, struct err *e);
