/* SPDX-License-Identifier: MIT */
/* What decides what a sandbox may do, and must therefore never be writable in one. */
#pragma once

#include "base/err.h"
#include "policy/host.h"

/* May a sandboxed command write in `path` (absolute and normal)? Not when the user's settings or
 * hutch's state (with the record of trust) are in it, or it is in them, or a file of settings is a link
 * into it; links are followed as far as they exist. 0, or -1 with a sentence. */
int ground_check(const struct host *host, const char *path, struct err *e);
