/* SPDX-License-Identifier: MIT */
/*
 * The last two phases of a plan: limits and confinement. Each operation takes hold either in init,
 * for all that will ever run in the sandbox, or in the command's own process just before exec.
 */
#pragma once

#include "base/err.h"
#include "plan/plan.h"

/* Before the old /proc is gone: no more user namespaces below this one, if the plan says so. */
int confine_namespaces(const struct plan *plan, struct err *e);

/* In init, when all mounts are made: the bounding set, no_new_privs, not dumpable. */
int confine_init(const struct plan *plan, struct err *e);

/* In the command's process (vfork: no allocation): limits, then what confines only the command. */
int confine_command(const void *plan, struct err *e);
