/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/strings.h"
#include "plan/plan.h"

/* What the plan's environment operations make of `outer` (ends with NULL). */
void apply_environment(
	const struct plan *plan, char *const *outer, struct strings *ret_environment);

/* The directory the command starts in: the plan's, or "/". */
const char *apply_directory(const struct plan *plan);

/* The value of NAME in a list of NAME=VALUE, or NULL. */
const char *environment_get(char *const *environment, const char *name);
