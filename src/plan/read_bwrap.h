/* SPDX-License-Identifier: MIT */
/*
 * Bubblewrap's command line (version 0.11), read into a plan and what is asked around it.
 *
 * Errors are bubblewrap's own sentences, as its callers match on them. Numbers of descriptors are
 * the caller's; nothing is opened here, and only --args is read from.
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
	uid_t uid;	      /* in the sandbox */
	gid_t gid;

	/* Descriptors; -1: not given. */
	int userns; /* the user namespace to be in, instead of a new one */
	int userns2; /* the one to be in when all is set up */
	int pidns;
	int sync; /* kept open as long as the sandbox exists */
	int block; /* its first byte is waited for */
	int userns_block; /* the same, while somebody else writes the maps */
	int info;	  /* gets JSON */
	int status;	  /* gets lines of JSON */

	struct strings locks; /* files inside that are locked while the sandbox exists */
	bool new_session;
	bool die_with_parent;
	bool as_pid_1;
	bool userns_disabled_assert;
	bool capabilities_given; /* else root keeps all it has */

	bool level_prefix; /* messages begin with "<3>" or so */
	struct strings warnings;

	/* While it is read. */
	bool user_try, cgroup_try, net_shared;
	bool unshare[7]; /* by enum bwrap_namespace */
	bool disable_userns;
	bool seccomp_added;
	int seccomp;
	uint64_t capabilities;
	bool uid_given, gid_given;
	const char *hostname, *directory;
	int perms;     /* for the next operation; -1: none */
	uint64_t size; /* the same; 0: none */
	struct strings layers;
	size_t words; /* seen so far */
	unsigned seen; /* options that only count once, bit by option_once */
	struct strings pieces; /* data of --args, that the plan points into */
};

/* Who calls, as it decides what is asked for without words. */
struct bwrap_caller {
	uid_t uid;
	gid_t gid;
	bool user_namespaces;  /* this system seems to have them */
	uint64_t capabilities; /* permitted now */
};

/* Read `argv` (its first word is not an option). The request points into argv. On failure too the
 * request is to be freed, and its level_prefix and warnings are good. */
int read_bwrap(int argc, char *const *argv, const struct bwrap_caller *caller,
	struct bwrap_request *ret_request, struct err *e);
void bwrap_request_free(struct bwrap_request *request);

/* The text of --help, without the line of usage. */
extern const char bwrap_help[];
