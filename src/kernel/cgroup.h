/* SPDX-License-Identifier: MIT */
/*
 * Control groups for one box: where one can be made, making it, what it counted. Both interfaces:
 * one hierarchy per controller (v1, for root), and the unified one (v2, for whoever a subtree is
 * delegated to).
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

enum cgroup_controller { CGROUP_PIDS, CGROUP_MEMORY, CGROUP_CONTROLLERS };

/* A group, made by us or found. Zeroed with `directory` -1 is no group at all. */
struct cgroup {
	enum cgroup_controller controller;
	int version; /* 1 or 2 */
	int parent;  /* descriptors, owned */
	int directory;
	char name[64];  /* below `parent`; empty: not ours to remove */
	uint64_t kills; /* what the kernel had counted when the group was taken over */
};

#define CGROUP_NONE                                                                                \
	{                                                                                          \
		.parent = -1, .directory = -1                                                      \
	}

/* Make a group below our own (v1; v2 where the group may have children) or beside it (v2), and take
 * away what earlier runs that were killed left there. The name comes from this process: the same
 * group of a unified hierarchy is made once, whatever the number of controllers asked for.
 *
 * Fails where no group with this controller can be made by this process: nothing is mounted, not
 * writable, not delegated; or a limit that holds for our own group would not hold beside it. */
int cgroup_make(enum cgroup_controller controller, struct cgroup *ret_group, struct err *e);

/* The group that process `pid` is in already, for reading what it counted. */
int cgroup_of(
	enum cgroup_controller controller, pid_t pid, struct cgroup *ret_group, struct err *e);

/* Most processes and threads, or bytes (memory and swap together). 0, or -1 with a sentence. */
int cgroup_limit(const struct cgroup *group, uint64_t most, struct err *e);

/* Move a process in; what it starts from now on is born there. */
int cgroup_enter(const struct cgroup *group, pid_t pid, struct err *e);

/* How many processes of a memory group the kernel has killed because of its limit, since it was
 * made or taken over. 0 when it cannot be told. */
uint64_t cgroup_kills(const struct cgroup *group);

/* Remove the group if it is ours, once it is empty; waits up to 200 ms for that. Closes. */
void cgroup_close(struct cgroup *group);

/* The path of the unified group (or of the v1 hierarchy with `controller`) that /proc/PID/cgroup
 * names, "/user.slice/...". 0, or -1 with errno; ENOENT when it names none. */
int cgroup_path(pid_t pid, const char *controller, char ret_path[PATH_MAX]);
