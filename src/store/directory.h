/* SPDX-License-Identifier: MIT */
/*
 * The one directory below which hutch keeps what outlives a process:
 *
 *   sessions/ID/   one run: its private home and what to merge back (store/session.h)
 *   rejected/      what a box left in a state file that could not be merged
 *   replaced/      what a merge wrote over although it had been changed outside too
 *   merge.lock     held while a state file is merged
 *
 * It is $HUTCH_STATE_DIR, else $XDG_STATE_HOME/hutch, else ~/.local/state/hutch. No box sees it,
 * save its own home.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"

/* Where it is, whether or not it exists. Owned by the caller. */
int state_directory_path(char **ret_path, struct err *e);

/* Open it. With `make` it is made, mode 0700, where it is missing; else `*ret_fd` is -1 then, which
 * is no failure. One that another user owns or may write to is refused. `ret_path` may be NULL. */
int state_directory_open(bool make, int *ret_fd, char **ret_path, struct err *e);
