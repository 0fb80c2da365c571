/* SPDX-License-Identifier: MIT */
/* Paths as words: nothing here looks at a file system. */
#pragma once

#include <stdbool.h>

/* Absolute, and without empty, "." or ".." components. "/" is normal. */
bool path_is_normal(const char *path);

/* `path` taken from `directory` when relative, with ".", ".." and doubled slashes resolved as words
 * (a link before ".." is not followed). Owned by the caller. */
char *path_absolute(const char *directory, const char *path);

char *path_join(const char *directory, const char *name); /* owned by the caller */

/* Is `path` the same as `parent` or below it? Both normal. */
bool path_is_within(const char *path, const char *parent);

/* The last component; "/" for the root. Points into `path`. */
const char *path_base(const char *path);

/* Everything before the last component ("/" for children of the root). Owned by the caller. */
char *path_parent(const char *path);
