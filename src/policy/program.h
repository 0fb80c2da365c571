/* SPDX-License-Identifier: MIT */
/*
 * Where a command is on the host, and what of the host it needs to start inside: its chain of
 * links, its interpreter, and the directory that its package fills.
 *
 * Two things it never does. It shows no private place (the home itself, what lies above it, keys
 * and passwords), whatever points there. And what the command can write, the workspace above all,
 * does not widen its own next sandbox: a link, a first line or a script that lies there may lead to
 * installed programs in their known places and nowhere else.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/strings.h"

struct program_request {
	const char *command;        /* as typed; with a slash it is taken from the workspace */
	const char *path;           /* the value of PATH; NULL: none */
	const char *home;           /* normal */
	const char *workspace;      /* normal; the directory the command is started in */
	const char *const *install; /* directories to look in when PATH does not have it; "~/" and
				       one component "*" (the highest version) are understood. Ends
				       with NULL; may be NULL */
	/* Is `path` (normal) of the host visible inside already, at its own place? And can the
	 * command write there? mirror_shows and mirror_writes answer for a plan that has all its
	 * other mounts. Either may be NULL; the workspace is always taken as both. */
	bool (*visible)(const char *path, const void *data);
	bool (*writable)(const char *path, const void *data);
	const void *data;
};

struct program_link {
	char *path; /* where the link is; its parents are directories */
	char *text;
};

struct program {
	char *path; /* what to execute inside, absolute; NULL: not found on the host */
	struct strings read_only;  /* to bind read-only at their own places; none within another */
	struct program_link *link; /* to make inside; none within a member of read_only */
	size_t link_count;
	struct strings notes; /* a sentence for each thing that it may want and does not get */
};

/* Find the command. That it is not on the host is no error: `ret->path` is NULL then. Fails when
 * home or workspace is not a normal path. What is already visible costs a few system calls. Free
 * `ret` with program_free in every case. */
int program_find(const struct program_request *request, struct program *ret, struct err *e);
void program_free(struct program *program);
