/* SPDX-License-Identifier: MIT */
/*
 * Carry out the mount operations of a plan in this process, which must be alone in a new user and
 * mount namespace.
 *
 * Theory. The new root is a mount held by a descriptor. Sources are opened by absolute path in the
 * old root, which stays this process's root until the end; targets are resolved inside the new root
 * only (openat2 with RESOLVE_IN_ROOT). Each source is opened exactly once, as a detached clone of its
 * mount tree, restricted while detached, then attached: nothing is checked and used later by name.
 * The last act is pivot_root.
 *
 * Mountpoints are made only in file systems that were made here and in binds marked BIND_SCRATCH;
 * everywhere else a missing target is an error, since making one would leave a file on the host
 * (unless the plan is `faithful`: bubblewrap makes them).
 */
#pragma once

#include "apply/landlock.h"
#include "base/err.h"
#include "plan/plan.h"

/* All mount operations in order, then pivot into the new root. `ruleset` gets the rules that say the
 * same. */
int apply_mounts(const struct plan *plan, const struct ruleset *ruleset, struct err *e);
