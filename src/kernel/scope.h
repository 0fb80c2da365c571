/* SPDX-License-Identifier: MIT */
/*
 * A scope of the user's systemd: how a user whom nothing is delegated to directly (a login over ssh
 * or on a console) gets a control group. One method call over the user's D-Bus, spoken here, since
 * that is all of D-Bus that is needed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/* Does the user's systemd answer, and does it hand the controllers down (v2 only)?
 */
bool scope_is_reachable(void);

/* Have `pid` moved into a new scope with these limits (0: none), and wait until it is there, at
 * most two seconds. The scope ends with its last process. */
int scope_start(pid_t pid, uint64_t memory, uint64_t tasks, struct err *e);
