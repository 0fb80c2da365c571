/* SPDX-License-Identifier: MIT */
/*
 * Trust in a project's file is trust in its bytes. What the user accepted is kept as a copy in
 * STATE/trust, one file per workspace path; a project file that differs from it by one byte is not
 * trusted any more, and the copy says what changed. Nothing here parses.
 *
 * A copy counts only as a regular file of the calling user that nobody else may write.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum trust {
	TRUST_NONE,    /* never accepted, or taken back */
	TRUST_SAME,    /* these very bytes were accepted */
	TRUST_CHANGED, /* others were */
};

/* Compare `data` with what was accepted for `workspace` (absolute). With TRUST_CHANGED the accepted
 * bytes are stored, owned by the caller, when `ret_accepted` is not NULL; else it becomes NULL.
 * `state` is the state directory; NULL: nothing was ever accepted. */
int trust_look(const char *state, const char *workspace, const char *data, size_t length,
	enum trust *ret_trust, char **ret_accepted, size_t *ret_accepted_length, struct err *e);

/* Accept exactly these bytes for `workspace`. Makes the directories that are missing (mode 0700).
 */
int trust_accept(
	const char *state, const char *workspace, const char *data, size_t length, struct err *e);

/* Take it back. `ret_was`: there was something to take back. */
int trust_revoke(const char *state, const char *workspace, bool *ret_was, struct err *e);

/* The file for `workspace`, below STATE/trust; owned by the caller. */
char *trust_file_name(const char *workspace);
