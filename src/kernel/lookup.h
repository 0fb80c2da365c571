/* SPDX-License-Identifier: MIT */
/* Looking up paths that somebody else may be changing (openat2(2), Linux 5.6). */
#pragma once

#include <sys/types.h>

/* Open `path` as if `root` were the root directory: links, absolute ones too, cannot lead out, and
 * the magic links of /proc are refused. Close-on-exec is added. A descriptor, or -1 with errno. */
int lookup_in_root(int root, const char *path, int flags);

/* The same without following any link at all, and not above `directory`. */
int lookup_beneath(int directory, const char *path, int flags);
