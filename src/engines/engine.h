/* SPDX-License-Identifier: MIT */
/*
 * An engine carries a plan out. It knows plans, not policies: what is not in the plan does not
 * happen.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include <termios.h>

#include "base/err.h"
#include "plan/plan.h"

/* How the command meets the world outside, apart from the plan. */
struct start {
	/* Give the command a pseudo-terminal of the sandbox's own in place of each of descriptors 0 to
	 * 2 that is a terminal. Its first settings and size: */
	bool terminal;
	bool foreground; /* the command starts in the foreground of that terminal */
	struct termios settings;
	struct winsize size;
	/* A descriptor that init keeps open as long as anything lives inside; -1: none. A session's lock
	 * is held by it when the supervisor has been killed. */
	int keep;
	uint64_t
		timeout_ms; /* 0: none. Init ends the command; the supervisor only if init cannot */
	/* What hutch was started with, and the command gets back. Ignored signals other than SIGCHLD
	 * stay ignored all the way, so they need no word here. */
	sigset_t blocked;
	bool child_ignored; /* SIGCHLD was ignored */
};

/* A started sandbox, as its supervisor sees it. */
struct box {
	pid_t pid;   /* of init, outside */
	int pidfd;   /* of init */
	int channel; /* SOCK_SEQPACKET to init, messages of protocol/message.h */
};

struct engine {
	const char *name;
	/* Start the sandbox. Returns once init exists; that it is ready, failed or ended arrives on the
	 * channel. `environ` is what the plan's environment operations start from. */
	int (*start)(const struct plan *plan, const struct start *start, struct box *ret_box,
		struct err *e);
};

extern const struct engine engine_namespace;
