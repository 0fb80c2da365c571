/* SPDX-License-Identifier: MIT */
/*
 * What a run makes on the host before it starts, and unmakes after: the session with its private
 * home (or a kept home), and the agents' state directories and files where they are missing. All of
 * it lies in hutch's own state directory or belongs to the chosen agents.
 */
#pragma once

#include "base/err.h"
#include "base/strings.h"
#include "policy/compile.h"
#include "store/session.h"

struct home {
	struct session session;
	char *source; /* directory on the host that becomes $HOME */
};

/* Make them. `ret_notes`: what the sweep of dead sessions found. */
int home_prepare(const struct policy *policy, const struct host *host, const struct agents *agents,
	struct home *ret_home, struct strings *ret_notes, struct err *e);

/* The sandbox has ended: merge state back and remove the session. */
int home_finish(struct home *home, struct strings *ret_notes, struct err *e);
