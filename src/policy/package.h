/* SPDX-License-Identifier: MIT */
/* Which part of the file system belongs to a program, and which is never shown for one. */
#pragma once

#include <stdbool.h>

/* Normal paths. The real ones are those without links; the same where there are none. */
struct package_places {
	const char *home;
	const char *real_home;
	const char *workspace;
	const char *real_workspace;
};

/* Would showing `path` whole show what nobody meant: the home, what lies above it or the workspace,
 * keys and passwords, or a directory that everything shares? */
bool package_is_private(const struct package_places *places, const char *path);

/* Does `path` lie where people's installers put programs, so that one may be shown although
 * something that the command can write has asked for it? */
bool package_is_installed(const struct package_places *places, const char *path);

/* The file or directory to show so that the program `file` (no links in it) finds its parts; owned
 * by the caller. NULL when that is private. */
char *package_root(const struct package_places *places, const char *file);

/* The virtual environment of Python that `file` (which may be a link) lies in; owned, or NULL. */
char *package_environment(const char *file);

/* A program that picks among versions: what it reads beside itself. */
struct package_manager {
	const char *shims;  /* where its stand-ins lie, below the home */
	const char *root;   /* what to show, below the home */
	const char *unseen; /* what it reads as well and is not shown, in words; NULL: nothing */
};

/* The manager whose stand-in `file` is, or NULL. */
const struct package_manager *package_manager(
	const struct package_places *places, const char *file);
