/* SPDX-License-Identifier: MIT */
/* What the first bytes of a program, its ELF headers, or a shell script say that it needs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum executable_kind { EXECUTABLE_OTHER, EXECUTABLE_SCRIPT, EXECUTABLE_ELF };

/* As much of a script's first line as is looked at (the kernel takes 256). */
enum { EXECUTABLE_LINE = 512 };

struct executable {
	enum executable_kind kind;
	char interpreter[EXECUTABLE_LINE]; /* of a script, or of an ELF program; "" for none */
	char name[EXECUTABLE_LINE];        /* what `#!/usr/bin/env NAME` looks up; "" otherwise */
	char run_path[1024]; /* of an ELF program, as it is in the file; "" for none */
};

/* Reads at `offset` up to `length` bytes: the number read, 0 at the end, -1 on failure. */
typedef ssize_t executable_read(void *data, uint64_t offset, void *buffer, size_t length);

/* Never fails: what cannot be understood is OTHER, or lacks what it does not say. Only
 * little-endian 64-bit ELF has its parts read. */
void executable_parse(executable_read *read, void *data, struct executable *ret);

/* Call `emit` for each word after an `exec` of a shell script, quotes removed and expansions left
 * as they are written; `first` marks the program, the others are its arguments. `text` ends with
 * NUL. */
void executable_shell_words(
	const char *text, void (*emit)(const char *word, bool first, void *data), void *data);
