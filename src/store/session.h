/* SPDX-License-Identifier: MIT */
/*
 * A session is one run: an id, a directory on the host, a private home in it.
 *
 *   sessions/ID/lock          flocked while the run lives; how a dead session is told from a live
 * one sessions/ID/home/         the box's home: everything in it is written by somebody hostile
 *   sessions/ID/state         what to merge back, see store/state.h
 *   sessions/ID/base.N        the bytes that the box started from
 *   sessions/ID/session.json  the record
 *   spare/                    a session that ended clean, for the next run
 *
 * Of these the box sees home/ alone. A run that is killed leaves its session; session_sweep, in the
 * next run or in `hutch gc`, takes its lock, merges what it left, and removes it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/strings.h"

struct session {
	char *id;        /* twelve letters and digits; sorts by time of creation */
	char *directory; /* absolute paths */
	char *home;
	int state_fd; /* the state directory */
	int directory_fd;
	int home_fd; /* -1 when a dead session has none */

	/* Closed on exec. The session counts as alive until the last copy of this descriptor is
	 * closed, so init should keep one until everything in the box is dead: with its supervisor
	 * killed, a box may still be writing. */
	int lock;

	bool recycled; /* set by the owner: it serves the next run, with a new home, if all goes well */
};

/* Make a session, and the state directory if it is missing. Fails with what to do when no state can
 * be kept. Call session_sweep before, so that a killed run's state is back in its place. */
int session_create(struct session *ret_session, struct err *e);

/* Write session.json: what runs, where, since when. `command` ends with NULL. */
int session_record(
	const struct session *session, char *const *command, const char *workspace, struct err *e);

/* Everything in the box is dead: merge its state back, remove the session, free it. What the user
 * must know is added to `ret_notes`, a sentence each. When the merge fails the session is left for
 * the next run to try, and the error says why. */
int session_end(struct session *session, struct strings *ret_notes, struct err *e);

/* Remove what waits for the next run. */
int session_spare_remove(struct err *e);

/* Give up the session without merging or removing anything, as a killed run would. */
void session_abandon(struct session *session);

/* Do what session_end does for every session whose run is dead, and never wait for a live one. A
 * session that cannot be merged or removed becomes a note; the others are still done. `ret_count`
 * (may be NULL): how many were removed. */
int session_sweep(struct strings *ret_notes, size_t *ret_count, struct err *e);

/* One session as `hutch gc --list` shows it. */
struct session_info {
	char *id;
	bool alive;
	pid_t pid;
	int64_t started; /* seconds since 1970; 0 when there is no record */
	char *workspace; /* "" when there is no record */
	char *command;   /* as shell words */
};

/* All sessions, oldest first. Free with session_list_free. */
int session_list(struct session_info **ret_list, size_t *ret_count, struct err *e);
void session_list_free(struct session_info *list, size_t count);
