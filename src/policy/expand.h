/* SPDX-License-Identifier: MIT */
/*
 * Values as they are written, made independent of where they were written: in a policy every path
 * is absolute. "~" and "~/x" are the home directory; a relative path starts from the directory of
 * its layer (the workspace for the project's file, the home for the user's, the current directory
 * for flags).
 */
#pragma once

#include "base/err.h"
#include "policy/policy.h"

/* The value `text` of `key` with its paths made absolute; owned by the caller. Values of
 * keys that hold no path come back unchanged. */
int value_expand(enum key key, const char *text, const char *directory, const char *home,
	char **ret_text, struct err *e);

/* Split a value of bind or bind-ro: "PATH" (the target is the same), or "SOURCE:TARGET". A colon
 * that belongs to a path is written "\:" and a backslash before a colon "\\". Both are owned by the
 * caller. */
void bind_split(const char *text, char **ret_source, char **ret_target);

/* The other way: one value for the two, "PATH" when they are equal. Owned by the caller. */
char *bind_join(const char *source, const char *target);
