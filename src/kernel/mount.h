/* SPDX-License-Identifier: MIT */
/*
 * The mount interface of Linux 5.2 and 5.12: detached trees held by descriptors, attached where a
 * descriptor says. No path is looked up twice and /proc/self/mountinfo is never read.
 *
 * All functions return a descriptor or 0, or -1 with errno; the descriptors are close-on-exec and
 * the caller's.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/mount.h>

/* A private copy of the mount tree at `path` with everything mounted below it (open_tree(2)).
 * `path` may be "" for `directory` itself. Links in `path` are followed. */
int mount_clone(int directory, const char *path);

/* Add attributes (MOUNT_ATTR_*) to a detached tree and all mounts below it, and make it private
 * (mount_setattr(2), Linux 5.12). Attributes that are there stay. */
int mount_restrict(int tree, uint64_t attributes);

/* The same for one mount that is attached at `path` of `directory`, and only for that one. */
int mount_restrict_one(int directory, const char *path, uint64_t attributes);

/* Make every mount of this namespace private: nothing mounted outside later appears inside. */
int mount_all_private(void);

/* Attach a detached tree over `target`, an O_PATH descriptor (move_mount(2)). */
int mount_attach(int tree, int target);

struct mount_option {
	const char *name;
	const char *value; /* NULL for a flag; a NULL name ends the list */
};

/* A new detached file system (fsopen(2), fsconfig(2), fsmount(2)). */
int mount_new(const char *type, const struct mount_option *options, uint64_t attributes);

/* Make `root` (an attached mount) the root of the calling process and detach the old one. */
int mount_pivot(int root);
