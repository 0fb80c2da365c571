/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/text.h"

/* Run a program of the host in the current directory and take what it prints on standard output, at
 * most `limit` bytes; its input and errors are /dev/null. It is killed after `milliseconds`.
 * `ret_code` is its exit code, 128+N when signal N ended it. Fails when it cannot be started, prints
 * more or takes longer. */
int capture_run(const char *file, char *const *arguments, char *const *variables,
	uint64_t milliseconds, size_t limit, struct text *ret_output, int *ret_code, struct err *e);
