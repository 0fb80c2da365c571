/* SPDX-License-Identifier: MIT */
#include "kernel/userns.h"

#include <fcntl.h>
#include <stdio.h>

#include "base/fd.h"

static int map_write(int proc, const char *path, unsigned inner, unsigned outer)
{
	char line[40];
	snprintf(line, sizeof line, "%u %u 1", inner, outer);
	return file_poke_at(proc, path, line);
}

int userns_map_at(int proc, uid_t uid, uid_t outer_uid, gid_t gid, gid_t outer_gid)
{
	if (map_write(proc, "self/uid_map", uid, outer_uid) < 0)
		return -1;
	if (file_poke_at(proc, "self/setgroups", "deny") < 0)
		return -1;
	return map_write(proc, "self/gid_map", gid, outer_gid);
}

int userns_map(uid_t uid, uid_t outer_uid, gid_t gid, gid_t outer_gid)
{
	AUTO_CLOSE int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return proc < 0 ? -1 : userns_map_at(proc, uid, outer_uid, gid, outer_gid);
}
