/* SPDX-License-Identifier: MIT */
/*
 * Run a function on hostile bytes in a forked child that can do nothing but compute and answer.
 *
 * Before the work starts the child
 *   1. closes every descriptor but its end of the answer pipe;
 *   2. limits itself: 512 MiB of address space, CONFINED_SECONDS of processor, no files, no core;
 *   3. is non-dumpable, takes no_new_privs, and dies with its parent;
 *   4. enters a Landlock ruleset without any rule, where the kernel has Landlock (Linux 5.13);
 *   5. installs a seccomp filter that permits: memory (never executable), write to the pipe, exit.
 * A step that fails ends the child before the work; only a missing Landlock is passed over, since
 * the filter alone already permits no path and no socket.
 *
 * The answer crosses the pipe whole or not at all, and stays hostile: whoever parses it checks it.
 */
#pragma once

#include <stddef.h>

#include "base/err.h"
#include "base/text.h"

/* Longest time in seconds that a call takes, the start of the child included. */
enum { CONFINED_SECONDS = 5 };

/* What the child does: read `input` (which it has by being forked), add its answer to `ret_answer`.
 * On -1 the error it filled travels instead of the answer. */
typedef int confined_work(const void *input, struct text *ret_answer, struct err *e);

/* Call `work(input)` in such a child. `limit`: most bytes of answer. `what` names the work in
 * errors
 * ("FILE cannot be read safely"). The caller owns the answer. Needs no other thread in the process.
 * Fails with the child's own error, or when it died, was too slow or answered too much. */
int confined_call(confined_work *work, const void *input, size_t limit, const char *what,
	struct text *ret_answer, struct err *e);
