/* SPDX-License-Identifier: MIT */
#include "kernel/userns.h"

#include <fcntl.h>
#include <stdio.h>

#include "base/fd.h"

static int map_write(const char *path, unsigned inner, unsigned outer)
{
	char line[40];
	snprintf(line, sizeof line, "%u %u 1", inner, outer);
	return file_poke_at(AT_FDCWD, path, line);
}

int userns_map(uid_t uid, uid_t outer_uid, gid_t gid, gid_t outer_gid)
{
	if (map_write("/proc/self/uid_map", uid, outer_uid) < 0)
		return -1;
	if (file_poke_at(AT_FDCWD, "/proc/self/setgroups", "deny") < 0)
		return -1;
	return map_write("/proc/self/gid_map", gid, outer_gid);
}
