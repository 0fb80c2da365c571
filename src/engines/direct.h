/* SPDX-License-Identifier: MIT */
/*
 * The namespace engine as bubblewrap is one: no supervisor, no relay, no session. The caller's own
 * process waits for the command and returns its exit code; descriptors, terminal and signals are the
 * command's as they are the caller's.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "plan/read_bwrap.h"

/* Run what a bubblewrap command line asks for and wait for the command's end. `ret_code` is its exit
 * code, 128+N when signal N ended it. With `harden`, the confinement operations of the plan that
 * bubblewrap does not know are carried out too. On failure a sentence in bubblewrap's words; nothing
 * is left running then. */
int direct_run(const struct bwrap_request *request, bool harden, int *ret_code, struct err *e);
