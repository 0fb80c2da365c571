/* SPDX-License-Identifier: MIT */
/*
 * An error is a value: one sentence that says what happened and where, and a hint that says what to
 * do. It is filled in where the facts are known, travels by return value (and, from the sandbox's
 * init to the supervisor, as one message), and is printed once, by err_print at the program's edge.
 *
 * Fixed buffers: an error can be made after clone, where nothing may be allocated.
 */
#pragma once

#include <stdbool.h>

/* Exit codes of hutch itself; any other code is the command's own. */
enum {
	EXIT_TIME_LIMIT = 124,
	EXIT_HUTCH = 125,
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127,
};

struct err {
	int number;    /* errno that caused it, or 0 */
	int exit_code; /* what the process should exit with; EXIT_HUTCH unless set */
	char text[1024];
	char hint[1024];
};

#define PRINTF(string, first) __attribute__((__format__(__printf__, string, first)))

/* Fill `e` (which may be NULL). With a non-zero `number`, ": " and its description are appended.
 * Always returns -1, so that `return err_set(...)` is the usual last line of a failing function. */
int err_set(struct err *e, int number, const char *format, ...) PRINTF(3, 4);

/* Add what the user can do about it. Returns -1. */
int err_hint(struct err *e, const char *format, ...) PRINTF(2, 3);

/* Put "PREFIX: " before the sentence. Returns -1. */
int err_prefix(struct err *e, const char *format, ...) PRINTF(2, 3);

/* Print to stderr as `hutch: sentence` and, when there is one, `hutch: hint`; control bytes are shown
 * as escapes, since file names are hostile. Returns the exit code. */
int err_print(const struct err *e);

/* One line on stderr that is not an error: `hutch: ...`, with control bytes escaped. */
void notice(const char *format, ...) PRINTF(1, 2);
