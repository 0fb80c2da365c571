/* SPDX-License-Identifier: MIT */
/* Looking up paths that somebody else may be changing (openat2(2), Linux 5.6). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Open `path` as if `root` were the root directory: links, absolute ones too, cannot lead out, and
 * the magic links of /proc are refused. Close-on-exec is added. A descriptor, or -1 with errno. */
int lookup_in_root(int root, const char *path, int flags);

/* The same, and no link is followed. */
int lookup_plain_in_root(int root, const char *path, int flags);

/* The same without following any link at all, and not above `directory`. */
int lookup_beneath(int directory, const char *path, int flags);

/* Open an absolute path that has no link in it; ELOOP when it has. */
int lookup_plain(const char *path, int flags);

/* May a link in `directory` be followed? */
typedef bool lookup_follows(int directory, const void *data);

/* Open `path` (absolute) with O_PATH, one component after the other, so that nobody who changes it
 * meanwhile can lead elsewhere. A link in a directory that `follows` does not accept is ELOOP, and so is
 * one too many. `ret_directory`, which may be NULL, is for the directory that what was opened lies in, or
 * is. A descriptor, or -1 with errno. */
int lookup_through(const char *path, lookup_follows *follows, const void *data, int *ret_directory);

/* Is it only for others than this user to say what lies in `directory`? Its permissions alone say nothing:
 * whoever acts for the user may have taken them away from what is the user's. */
bool lookup_is_of_others(int directory);

/* The path of what `fd` is open on: the length, or -1 with errno. */
int lookup_path(int fd, char *ret_path, size_t size);

/* Is `directory` the same as `above`, or below it? 1: yes. 0: no. -1: that cannot be told. */
int lookup_is_below(int directory, int above);
