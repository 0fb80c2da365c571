/* SPDX-License-Identifier: MIT */
/* Removing a tree that somebody hostile wrote, or still writes to. */
#pragma once

#include "base/err.h"

/*
 * Remove what `name` below `parent` is, with everything in it. No link is followed and no mount
 * point entered; directories without permissions are opened up first; any depth is removed with
 * three descriptors and no recursion. What is not there (any more) counts as removed.
 *
 * Fails after having removed what can be removed: the sentence names one leftover and why (a mount
 * point, an immutable file, another owner, somebody who writes faster than this deletes).
 */
int tree_remove_at(int parent, const char *name, struct err *e);
