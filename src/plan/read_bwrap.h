/* SPDX-License-Identifier: MIT */
/*
 * Bubblewrap's command line (version 0.11), read into a plan and what is asked around it.
 *
 * Errors are bubblewrap's own sentences, since callers match on them. Numbers of descriptors are the
 * caller's; nothing is opened here, and only what --args names is read from.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/strings.h"
#include "plan/plan.h"

enum bwrap_task { BWRAP_RUN, BWRAP_HELP, BWRAP_VERSION, BWRAP_USAGE };

struct bwrap_request {
	enum bwrap_task task; /* only with BWRAP_RUN does the rest mean something */
	struct plan plan;     /* faithful */
	uid_t uid;            /* in the sandbox */
	gid_t gid;

	/* Descriptors; -1: not given. */
	int userns;       /* the user namespace to be in, instead of a new one */
	int userns2;      /* the one to be in when all is set up */
	int pidns;        /* the pid namespace to be in, or below */
	int sync;         /* kept open as long as the sandbox exists */
	int block;        /* its first byte is waited for */
	int userns_block; /* the same, while somebody else writes the maps */
	int info;         /* gets JSON */
	int status;       /* gets lines of JSON */

	struct strings locks; /* files inside that are locked while the sandbox exists */
	bool new_session;
	bool die_with_parent;
	bool as_pid_1;
	bool assert_userns_disabled;

	uint64_t capabilities;   /* of the command, bit N for capability N */
	bool capabilities_given; /* else root keeps what it has, as it has it */

	bool level_prefix; /* messages begin with "<3>" or so */
	struct strings warnings;
	struct strings data; /* what --args read; the plan points into it */
};

/* Who calls: it decides what is asked for without words. */
struct bwrap_caller {
	uid_t uid;
	gid_t gid;
	bool user_namespaces;  /* this system seems to have them */
	uint64_t capabilities; /* permitted now */
};

/* Read `argv`, whose first word is a program's name. The request points into argv. On failure too the
 * request is to be freed, and its level_prefix and warnings are good. */
int read_bwrap(int argc, char *const *argv, const struct bwrap_caller *caller,
	struct bwrap_request *ret_request, struct err *e);

void bwrap_request_free(struct bwrap_request *request);

/* The lines of --help below that of usage. */
void bwrap_help_add(struct text *out);
