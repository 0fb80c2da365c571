/* SPDX-License-Identifier: MIT */
/*
 * What runs inside a sandbox and tries to get out. One verb per attempt: each does, in as many ways
 * as it knows, what a numbered sentence of SECURITY.md denies, calls escaped() for every way that
 * works and says what it got; main then prints `held` or `ESCAPED: ...`.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* One way out was found. Its description is kept, and printed with the others at the end. */
void escaped(const char *format, ...) __attribute__((__format__(__printf__, 1, 2)));

/* Does the file at `path` contain `word` anywhere in its first 256 KiB, NULs included? */
bool file_contains(const char *path, const char *word);

/* Say on stdout that the verb is where it should be, and wait until `path` exists; 20 s at most. */
void wait_for(const char *path);

/* Call `visit` for each name in a directory, but for "." and "..". */
void directory_each(const char *path, void (*visit)(const char *path, const char *name));

bool is_number(const char *name);

typedef void verb_function(char **arguments); /* ends with NULL */

#define VERB(name, help) verb_function verb_##name;
#include "probe.def"
#undef VERB
