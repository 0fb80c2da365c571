/* SPDX-License-Identifier: MIT */
/* Processes: descriptors for them, their ends, and execution without allocation. */
#pragma once

#include <limits.h>
#include <sys/types.h>

/* Open /dev/null, close-on-exec, in place of each of descriptors 0 to 2 that is closed, so that
 * nothing else lands there; a command that is executed finds them closed, as the caller had them.
 * To be called before anything is opened. 0, or -1 with errno. */
int process_guard_stdio(void);

/* Have a write past RLIMIT_FSIZE fail instead of ending this program. The command is not affected: an
 * exec takes handlers away. */
void process_catch_limits(void);

/* Send a signal to the process behind a pidfd (Linux 5.3). 0, or -1 with errno. */
int process_signal(int pidfd, int signal);

/* Wait for the end of the child behind a pidfd (Linux 5.4). `ret_signal` (may be NULL) is the
 * signal that ended it, or 0. Returns what a shell would call its exit code, or -1 with errno. */
int process_wait(int pidfd, int *ret_signal);

/* What a shell would call the exit code of a wait status: 128+N for a signal. */
int process_exit_code(int status);

/* Where process_execute got to. */
struct execution {
	char path[PATH_MAX]; /* the last file that exists but was not executed, or empty */
};

/* Execute argv[0], looked for in `search` (a PATH; NULL: a default one) when it has no slash, and
 * by /bin/sh when it is no program and has no #! line, as execvp does. It sees `argv0` as its name
 * (NULL: argv[0]). Allocates nothing but pages that it maps: fit for a vforked child. Returns only
 * on failure: -1 with errno. ENOENT with a path means that the path's interpreter or loader is
 * missing. */
int process_execute(const char *argv0, char *const *argv, char *const *environment,
	const char *search, struct execution *ret_execution);
