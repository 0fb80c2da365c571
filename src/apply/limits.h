/* SPDX-License-Identifier: MIT */
/* The limits that one process sets for itself and what it starts (setrlimit(2)). */
#pragma once

#include "base/err.h"
#include "plan/plan.h"

/* Apply a LIMIT operation: "tasks" (number of processes and threads of this user namespace), "data"
 * (bytes of private writable memory per process), "core" (bytes). Names that the supervisor enforces
 * ("memory") do nothing here. */
int limit_apply(const struct op *op, struct err *e);
