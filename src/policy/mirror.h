/* SPDX-License-Identifier: MIT */
/*
 * Parts of the host's own file system, read-only and at their own places, with links as the host
 * has them: a link stays a link with the same text, and what it leads to is there as well.
 *
 * The order of calls matters: what is already in the plan is not added again, so that large mounts
 * (host_tree_add, /nix/store) come first, and what the caller wants to be different inside (a file
 * /etc/passwd of its own) is left alone when it is in the plan before host_etc_add.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "plan/plan.h"

/* Make what the host has at `host_path` (absolute) appear there inside too. Nothing happens when
 * the host has nothing there. Nothing in /proc, /dev or /sys is bound: those have operations of
 * their own. A file that a link leads to in a directory of /run is shown by binding that directory,
 * since a bind of the file would go on showing the old one after the host has replaced it. Fails on
 * a loop of links, and then leaves those links in the plan, as they are on the host. */
int mirror_add(struct plan *plan, const char *host_path, const char *because, struct err *e);

/* Only the links on the way of `path` (absolute), not what they lead to. False when they do not lead there
 * inside, because the plan has something else in the place of one. */
bool mirror_links(struct plan *plan, const char *path, const char *because);

/* Does the plan show the host's own `path` (normal) at its place? True within a bind whose source
 * and target are the same, and for a link that the plan makes there; a mount that covers it again
 * counts. This is what a struct program_request wants as `visible`: the data is the plan. */
bool mirror_shows(const char *path, const void *plan);

/* Can the command write to the host's `path`, as far as the plan's mounts go? */
bool mirror_writes(const char *path, const void *plan);

/* /usr, and /bin, /lib, /lib32, /lib64, /libx32 and /sbin as the host has them. */
int host_tree_add(struct plan *plan, const char *because, struct err *e);

/* What etc_list names, except for `skip` (names as in the list; ends with NULL; may be NULL). A run
 * without the host's network skips "resolv.conf": the directory that it links to holds the
 * resolver's socket as well. */
void host_etc_add(struct plan *plan, const char *because, const char *const *skip);
