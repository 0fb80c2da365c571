/* SPDX-License-Identifier: MIT */
/*
 * The limits of a plan that are enforced from outside: "memory", and "tasks" where a control group
 * can do it. A plan without them costs nothing here.
 *
 *   limits_prepare   before engine.start: decides how, makes groups; may add to the plan
 *   limits_attach    when init exists, before GO
 *   limits_interval  how long until the next limits_tick, which says when to end the box
 *   limits_finish    when init is gone: says whether a limit was why; removes the groups
 */
#pragma once

#include "base/err.h"
#include "kernel/cgroup.h"
#include "plan/plan.h"

struct limits {
	uint64_t memory; /* bytes; 0: no limit */
	struct cgroup tasks_group;
	struct cgroup memory_group;
	bool scope;   /* systemd is to make the group */
	bool sampled; /* no group: look at the processes from time to time */
	bool exceeded;
	bool blind;     /* /proc does not show the box: nothing would be noticed, so it is ended */
	uint64_t tasks; /* for the scope; 0: no limit */
	pid_t init;
	uint64_t cost; /* how long the last look took, milliseconds */
};

/* Decide how the plan's limits are enforced on this host and prepare that. Where memory can only be
 * sampled, a "data" limit is put into the plan behind the "memory" one. Fails closed: a limit that
 * nothing enforces here is refused. On failure nothing is left and nothing is to be finished. */
int limits_prepare(struct plan *plan, struct limits *ret_limits, struct err *e);

/* Put init, which has started nothing yet, under the limits. */
int limits_attach(struct limits *limits, pid_t init, struct err *e);

/* Milliseconds until limits_tick wants to be called (again); 0: never. */
uint64_t limits_interval(const struct limits *limits);

/* Look. True: the box has used more than it may, kill it. */
bool limits_tick(struct limits *limits);

/* After init was reaped (or never started). True: the box ended because of a limit; `ret_e` is then
 * the sentence to print and has the exit code, 137. */
bool limits_finish(struct limits *limits, struct err *ret_e);
