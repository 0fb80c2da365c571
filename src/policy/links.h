/* SPDX-License-Identifier: MIT */
/* Follow a path component by component, as the kernel does, and tell of every link on the way. */
#pragma once

#include <limits.h>
#include <stdbool.h>

/* As many as the kernel follows. */
enum { LINKS_MOST = 40 };

enum links_end {
	LINKS_FOUND,
	LINKS_MISSING, /* or in a directory that this user may not search */
	LINKS_STOPPED, /* `met` said so */
	LINKS_LOOP,    /* more than LINKS_MOST links, or a path longer than PATH_MAX */
};

struct links {
	/* Directories taken as they are: no link is looked for in them or in their parents. Ends
	 * with NULL; may be NULL. Normal paths. */
	const char *const *known;
	/* Called for each link, with the place where it lies (a normal path without links before
	 * the last component) and its text. False ends the walk. May be NULL. */
	bool (*met)(const char *link, const char *text, void *data);
	void *data;

	char real[PATH_MAX]; /* where the last walk ended; without links when FOUND */
	char text[PATH_MAX]; /* scratch, here so that one struct serves many walks */
	char rest[PATH_MAX];
};

/* Follow `path`, which must be absolute. One readlink per component is all it costs. */
enum links_end links_follow(struct links *links, const char *path);
