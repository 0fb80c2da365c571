/* SPDX-License-Identifier: MIT */
#include "kernel/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fd.h"

#define CGROUP_V1_MAGIC 0x27e0eb
#define CGROUP_V2_MAGIC 0x63677270

enum { TASKS_MOST = 1 << 22 }; /* PID_MAX_LIMIT: more is refused as a limit */

/* Files by interface; NULL ends a list. A file that is missing is passed over unless it is first.
 */
static const struct controller {
	const char *name;
	const char *limit[2]; /* v1, v2 */
	const char *swap[2];
	const char *counts[2]; /* has a line "oom_kill N" */
} controllers[CGROUP_CONTROLLERS] = {
	[CGROUP_PIDS] = { "pids", { "pids.max", "pids.max" }, { NULL, NULL }, { NULL, NULL } },
	[CGROUP_MEMORY] = { "memory", { "memory.limit_in_bytes", "memory.max" },
		{ "memory.memsw.limit_in_bytes", "memory.swap.max" },
		{ "memory.oom_control", "memory.events" } },
};

/* Where hierarchies are mounted on every distribution; a "%s" is the controller. */
static const struct hierarchy {
	int version;
	const char *path;
} hierarchies[] = {
	{ 1, "/sys/fs/cgroup/%s" },
	{ 2, "/sys/fs/cgroup" },
	{ 2, "/sys/fs/cgroup/unified" },
};

/* --- finding --------------------------------------------------------------------------------- */

static bool word_in(const char *list, const char *separators, const char *word)
{
	size_t length = strlen(word);
	for (const char *p = list; *p; p += strcspn(p, separators), p += strspn(p, separators))
		if (strcspn(p, separators) == length && strncmp(p, word, length) == 0)
			return true;
	return false;
}

/* A line of /proc/PID/cgroup is NUMBER:CONTROLLERS:PATH; the unified hierarchy has number 0 and no
 * controllers. */
static const char *line_path(char *line, const char *controller)
{
	char *names = strchr(line, ':');
	char *path = names ? strchr(names + 1, ':') : NULL;
	if (!path)
		return NULL;
	*names++ = '\0';
	*path++ = '\0';
	bool wanted = controller ? word_in(names, ",", controller) : strcmp(line, "0") == 0;
	return wanted ? path : NULL;
}

int cgroup_path(pid_t pid, const char *controller, char ret_path[PATH_MAX])
{
	char name[40];
	char *next, *data = NULL;
	int result = -1;
	snprintf(name, sizeof name, "/proc/%d/cgroup", pid);
	if (file_read_at(AT_FDCWD, name, 1 << 16, &data, NULL, NULL) < 0)
		return -1;
	errno = ENOENT;
	for (char *line = strtok_r(data, "\n", &next); line; line = strtok_r(NULL, "\n", &next)) {
		const char *path = line_path(line, controller);
		/* "/.." begins the path of a group outside of our cgroup namespace. */
		if (!path || path[0] != '/' || strncmp(path, "/..", 3) == 0 ||
			strlen(path) >= PATH_MAX)
			continue;
		strcpy(ret_path, path);
		result = 0;
		break;
	}
	free(data);
	return result;
}

/* Does the list of words in a file of a group name the controller? */
static bool file_lists(int directory, const char *file, const char *controller)
{
	char *data = NULL;
	bool found = file_read_at(directory, file, 4096, &data, NULL, NULL) == 0 &&
		     word_in(data, " \n", controller);
	free(data);
	return found;
}

static int hierarchy_open(const struct hierarchy *hierarchy, const char *controller)
{
	char path[64];
	struct statfs info;
	snprintf(path, sizeof path, hierarchy->path, controller);
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fstatfs(fd, &info) < 0)
		return -1;
	if (info.f_type == (hierarchy->version == 1 ? CGROUP_V1_MAGIC : CGROUP_V2_MAGIC))
		return take_fd(&fd);
	errno = ENOENT;
	return -1;
}

/* The group that `pid` is in. Inside a container without a cgroup namespace the path is one of the
 * host and what is mounted is the container's own group: then that is it. */
static int own_open(int root, const struct hierarchy *hierarchy, const char *controller, pid_t pid,
	char ret_path[PATH_MAX])
{
	if (cgroup_path(pid, hierarchy->version == 1 ? controller : NULL, ret_path) < 0)
		return -1;
	int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	int own = ret_path[1] ? openat(root, ret_path + 1, flags) : openat(root, ".", flags);
	if (own < 0 && errno == ENOENT && hierarchy->version == 1) {
		strcpy(ret_path, "/");
		own = openat(root, ".", flags);
	}
	return own;
}

/* Each of these says "max" first where there is no limit. */
static bool is_unlimited(int directory)
{
	static const char *const files[] = { "memory.max", "memory.high", "memory.swap.max",
		"pids.max", "cpu.max" };
	bool limited = false;
	for (size_t i = 0; i < sizeof files / sizeof files[0] && !limited; i++) {
		char *data = NULL;
		limited = file_read_at(directory, files[i], 64, &data, NULL, NULL) == 0 &&
			  strncmp(data, "max", 3) != 0;
		free(data);
	}
	return !limited;
}

/* In the unified hierarchy a group with processes has no children that are limited, so a new one is
 * made beside ours: where the parent is ours to write and hands the controller down. What limits
 * our own group must not be left behind by that. */
static int parent_of_new(int own, const char *path, const struct hierarchy *hierarchy,
	const struct controller *wanted)
{
	if (hierarchy->version == 1 || file_lists(own, "cgroup.subtree_control", wanted->name))
		return openat(own, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	errno = EACCES;
	if (strcmp(path, "/") == 0 || !is_unlimited(own))
		return -1;
	AUTO_CLOSE int parent = openat(own, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (parent < 0 || !file_lists(parent, "cgroup.subtree_control", wanted->name) ||
		faccessat(parent, "cgroup.procs", W_OK, AT_EACCESS) < 0)
		return -1;
	return take_fd(&parent);
}

static int place_open(const struct hierarchy *hierarchy, const struct controller *wanted)
{
	char path[PATH_MAX];
	AUTO_CLOSE int root = hierarchy_open(hierarchy, wanted->name);
	if (root < 0)
		return -1;
	if (hierarchy->version == 2 && !file_lists(root, "cgroup.controllers", wanted->name)) {
		errno = ENOENT;
		return -1;
	}
	AUTO_CLOSE int own = own_open(root, hierarchy, wanted->name, getpid(), path);
	return own < 0 ? -1 : parent_of_new(own, path, hierarchy, wanted);
}

/* --- making ---------------------------------------------------------------------------------- */

/* When a process started, in the kernel's ticks: with its number it names the process for good. */
static uint64_t process_start(pid_t pid)
{
	char name[40];
	char *data = NULL;
	uint64_t start = 0;
	snprintf(name, sizeof name, "/proc/%d/stat", pid);
	if (file_read_at(AT_FDCWD, name, 4096, &data, NULL, NULL) == 0) {
		const char *p = strrchr(data, ')');
		/* Field 22; the parenthesis ends field 2. */
		for (int field = 2; p && field < 22; field++)
			p = strchr(p + 1, ' ');
		start = p ? strtoull(p + 1, NULL, 10) : 0;
	}
	free(data);
	return start;
}

static void name_make(char ret_name[64])
{
	snprintf(ret_name, 64, "hutch-%d-%" PRIu64, getpid(), process_start(getpid()));
}

/* Groups whose hutch was killed are empty soon and then removed by the next one that comes along.
 */
static void sweep(int parent)
{
	int copy = openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = copy < 0 ? NULL : fdopendir(copy);
	if (!directory) {
		fd_close(&copy);
		return;
	}
	for (struct dirent *entry; (entry = readdir(directory));) {
		int pid;
		uint64_t start;
		if (sscanf(entry->d_name, "hutch-%d-%" SCNu64, &pid, &start) == 2 &&
			process_start(pid) != start)
			unlinkat(parent, entry->d_name, AT_REMOVEDIR);
	}
	closedir(directory);
}

static int group_make(int parent, struct cgroup *group)
{
	name_make(group->name);
	sweep(parent);
	if (mkdirat(parent, group->name, 0755) < 0 && errno != EEXIST)
		return -1;
	group->directory =
		openat(parent, group->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (group->directory < 0)
		return -1;
	group->parent = fcntl(parent, F_DUPFD_CLOEXEC, 3);
	return group->parent < 0 ? -1 : 0;
}

int cgroup_make(enum cgroup_controller controller, struct cgroup *ret_group, struct err *e)
{
	const struct controller *wanted = &controllers[controller];
	int number = ENOENT;
	*ret_group = (struct cgroup)CGROUP_NONE;
	for (size_t i = 0; i < sizeof hierarchies / sizeof hierarchies[0]; i++) {
		AUTO_CLOSE int place = place_open(&hierarchies[i], wanted);
		ret_group->version = hierarchies[i].version;
		ret_group->controller = controller;
		if (place >= 0 && group_make(place, ret_group) == 0)
			return 0;
		if (errno != ENOENT)
			number = errno;
	}
	cgroup_close(ret_group);
	if (number == ENOENT)
		return err_set(
			e, 0, "there is no %s controller for control groups here", wanted->name);
	return err_set(e, number, "no %s control group can be made here", wanted->name);
}

int cgroup_of(enum cgroup_controller controller, pid_t pid, struct cgroup *ret_group, struct err *e)
{
	const struct controller *wanted = &controllers[controller];
	char path[PATH_MAX];
	*ret_group = (struct cgroup)CGROUP_NONE;
	for (size_t i = 0; i < sizeof hierarchies / sizeof hierarchies[0]; i++) {
		AUTO_CLOSE int root = hierarchy_open(&hierarchies[i], wanted->name);
		AUTO_CLOSE int own =
			root < 0 ? -1 : own_open(root, &hierarchies[i], wanted->name, pid, path);
		int version = hierarchies[i].version;
		if (own < 0 || faccessat(own, wanted->limit[version - 1], R_OK, AT_EACCESS) < 0)
			continue;
		*ret_group = (struct cgroup){ .controller = controller,
			.version = version,
			.parent = -1,
			.directory = take_fd(&own) };
		ret_group->kills = cgroup_kills(ret_group);
		return 0;
	}
	return err_set(
		e, 0, "the %s control group of process %d is not visible", wanted->name, pid);
}

int cgroup_limit(const struct cgroup *group, uint64_t most, struct err *e)
{
	const struct controller *controller = &controllers[group->controller];
	int interface = group->version - 1;
	char number[24];
	if (group->controller == CGROUP_PIDS && most > TASKS_MOST)
		most = TASKS_MOST;
	snprintf(number, sizeof number, "%" PRIu64, most);
	if (file_poke_at(group->directory, controller->limit[interface], number) < 0)
		return err_set(e, errno, "cannot set %s of the control group to %s",
			controller->limit[interface], number);
	/* v1 limits memory and swap in one number, v2 swap alone. Without the file nothing is
	 * counted or there is no swap. */
	const char *swap = controller->swap[interface];
	if (swap && file_poke_at(group->directory, swap, group->version == 1 ? number : "0") < 0 &&
		errno != ENOENT && errno != EOPNOTSUPP)
		return err_set(e, errno, "cannot set %s of the control group", swap);
	return 0;
}

int cgroup_enter(const struct cgroup *group, pid_t pid, struct err *e)
{
	char number[16];
	snprintf(number, sizeof number, "%d", pid);
	if (file_poke_at(group->directory, "cgroup.procs", number) < 0)
		return err_set(e, errno, "cannot move the sandbox into its control group");
	return 0;
}

uint64_t cgroup_kills(const struct cgroup *group)
{
	const char *file = group->directory < 0 || !group->version
				   ? NULL
				   : controllers[group->controller].counts[group->version - 1];
	char *data = NULL;
	uint64_t kills = 0;
	if (file && file_read_at(group->directory, file, 4096, &data, NULL, NULL) == 0) {
		const char *line =
			strncmp(data, "oom_kill ", 9) == 0 ? data : strstr(data, "\noom_kill ");
		line = line ? strchr(line, ' ') : NULL;
		kills = line ? strtoull(line, NULL, 10) : 0;
	}
	free(data);
	return kills > group->kills ? kills - group->kills : 0;
}

void cgroup_close(struct cgroup *group)
{
	fd_close(&group->directory);
	/* A process that has just ended may still be in it. */
	for (int tries = 0; group->parent >= 0 && group->name[0] && tries < 20; tries++) {
		if (unlinkat(group->parent, group->name, AT_REMOVEDIR) == 0 || errno != EBUSY)
			break;
		usleep(10000);
	}
	fd_close(&group->parent);
	group->name[0] = '\0';
}
