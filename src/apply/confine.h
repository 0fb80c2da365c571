/* SPDX-License-Identifier: MIT */
/*
 * The last two phases of a plan: limits and confinement. Each operation takes hold either in init,
 * for all that will ever run in the sandbox, or in the command's own process just before exec.
 */
#pragma once

#include <stdbool.h>

#include "apply/landlock.h"
#include "base/err.h"
#include "plan/plan.h"

/* What is got ready in init, and the command's process then only enters. */
struct confinement {
	const struct plan *plan;
	struct ruleset ruleset;
};

/* Before the mounts, each of which adds a rule to the ruleset. */
int confine_start(const struct plan *plan, struct confinement *ret_confinement, struct err *e);

/* Before the old /proc is gone: no more user namespaces below this one, if the plan says so; else none of
 * control groups, if `root` is who starts all this. */
int confine_namespaces(const struct plan *plan, bool root, struct err *e);

/* In init, when all mounts are made: the bounding set, no_new_privs, not dumpable. */
int confine_init(const struct confinement *confinement, struct err *e);

/* In the command's process (vfork: no allocation): limits, then what confines only the command. */
int confine_command(const void *confinement, struct err *e);
