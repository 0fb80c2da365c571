/* SPDX-License-Identifier: MIT */
/*
 * Init: pid 1 of the sandbox. It starts the command, reaps, passes signals in and reports out, and
 * keeps the time limit; when its channel ends it ends, and the kernel ends everything inside.
 */
#pragma once

#include <stdnoreturn.h>

#include "engines/engine.h"

struct init {
	int channel; /* to the supervisor */
	const struct start *start;
	char *const *command;
	const char *argv0; /* NULL: command[0] */
	char *const *environment;
	const char *directory; /* where the command starts */

	/* Called in the command's process (vfork: memory is shared with init, nothing may be
	 * allocated, and ids are changed by system call, since the C library would change init's
	 * too) just before exec: limits and confinement. */
	int (*confine)(const void *data, struct err *e);
	const void *confine_data;
};

/* Runs after every mount of the plan is made and the root is the new one. With a terminal,
 * /dev/ptmx is that of the sandbox's own devpts. Never returns: exits with the command's code, or
 * with that of the error that it reported. */
noreturn void init_run(const struct init *init);
