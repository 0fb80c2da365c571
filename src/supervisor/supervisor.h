/* SPDX-License-Identifier: MIT */
/*
 * The supervisor is hutch outside of the sandbox while a command runs: it starts it through an
 * engine, relays the terminal, passes signals and job control on in both directions, and waits. The
 * command is to feel as if hutch was not there.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engines/engine.h"
#include "plan/plan.h"
#include "supervisor/memory.h"

struct supervisor_options {
	bool terminal_raw;   /* escape sequences are not filtered and modes not reset */
	uint64_t timeout_ms; /* 0: none */
	int keep;            /* see struct start */

	struct limits *limits; /* prepared; NULL: none. Finished when supervisor_run returns */

	/* Called, if given, when init exists and before the command starts: to look into the
	 * sandbox's namespaces, limit it or record it. -1 ends the sandbox. */
	int (*started)(const struct box *box, void *data, struct err *e);
	void *data;
};

/* Run the plan's command. Whoever calls has called process_guard_stdio early on.
 *
 * 0 when the command ran: `ret_code` is its own exit code, 128+N when signal N ended it, or 124 at
 * the time limit. -1 when it was not started (the exit code is in `e`: 125, 126, 127) or its
 * sandbox was killed. By then nothing runs inside, the terminal is as it was, and signals are as
 * before.
 *
 * Descriptors 0 and 1 are /dev/null afterwards if they were no terminals: a pipe that hutch held on
 * to would keep its other end waiting after the command has closed it. */
int supervisor_run(const struct engine *engine, const struct plan *plan,
	const struct supervisor_options *options, int *ret_code, struct err *e);
