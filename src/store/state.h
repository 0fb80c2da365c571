/* SPDX-License-Identifier: MIT */
/*
 * State files that an agent replaces by rename: copied into the private home before the run, merged
 * back after it.
 *
 * What the box left is read without following links, at most STATE_LIMIT bytes, and parsed only in
 * a confined child. Nothing is lost in silence:
 *   - the host's file is touched only to put a whole, well-formed version in its place, atomically;
 *   - a box's version that cannot be used is kept in rejected/, with a note;
 *   - a host's version of which something was written over is kept in replaced/, with a note;
 *   - when neither is possible (a full disk), the session stays and the next run tries again.
 *
 * The target is where the host's file was when it was added, through at most one link and with no
 * link in the directories by the time it is written: a box that may write to the directory where a
 * dotfile really lies cannot turn the merge elsewhere.
 */
#pragma once

#include "base/err.h"
#include "base/strings.h"

struct session;

enum {
	STATE_LIMIT = 32 << 20, /* bytes of one file */
	STATE_KEPT = 32,        /* files kept in rejected/ and in replaced/, the newest */
};

/*
 * Copy `host_path` (absolute) to `below_home` (relative) in the session's home, and remember it.
 * `merge` is "json", or "whole": the box's version replaces the host's. Where the host has none it
 * is made there with the content `initial` (mode 0600), or, with NULL, expected to come from the
 * box. Fails, naming the path, when it is not a regular file, too large, or a link to another link.
 */
int state_add(struct session *session, const char *host_path, const char *below_home,
	const char *initial, const char *merge, struct err *e);

/* Only read the host's file, made first as state_add does. `ret_data` is owned by the caller, NULL where there
 * is none. */
int state_read(const struct session *session, const char *host_path, const char *initial,
	char **ret_data, size_t *ret_length, struct err *e);

/* Merge every file back. Calling it again does no harm. Fails when a version could neither be
 * merged nor kept; what was not reached is then still to be merged. */
int state_merge(struct session *session, struct strings *ret_notes, struct err *e);
