/* SPDX-License-Identifier: MIT */
/* The child's half of direct.c. */
#pragma once

#include <linux/filter.h>
#include <stdbool.h>
#include <stdnoreturn.h>
#include <sys/types.h>

#include "base/strings.h"
#include "plan/read_bwrap.h"

struct direct_filter {
	struct sock_filter *code; /* owned */
	size_t length;            /* instructions */
};

/* All that is found out before the clone. */
struct direct {
	const struct bwrap_request *request;
	bool harden;
	unsigned long flags; /* of clone(2) */
	bool new_pid;        /* a pid namespace is made: by that clone, or below a given one */
	uid_t uid;           /* of the caller */
	gid_t gid;
	bool child_ignored; /* SIGCHLD was, and is for the command */
	int proc;           /* the outer /proc */
	int report;         /* the child's end: struct direct_report, or only its code */
	int go;             /* a byte arrives when the parent is done; -1: not waited for */

	/* The environment, whose last entry is PWD; for which there are candidates. */
	struct strings environment;
	const char *directory; /* the caller's */
	const char *home;
	char *pwd_given, *pwd_same, *pwd_home;

	struct direct_filter *filter;
	size_t filter_count;
	int *lock; /* a descriptor for each of the request's locks */
};

/* How it ended. A whole one is a failure before the command was executed; a success is the code
 * alone, so that both arrive at once (PIPE_BUF is larger). */
struct direct_report {
	int code;
	struct err err;
};

/* Set everything up and become the command, or process 1 beside it. */
noreturn void direct_inside(struct direct *direct);
