/* SPDX-License-Identifier: MIT */
/*
 * Theory. A control group counts everything and the kernel acts on it; where none can be had, three
 * weaker things together stand in: RLIMIT_DATA bounds the private memory of each process, so that
 * one process cannot run away between two looks; the sum over all processes is taken every 50 ms;
 * and it is called sampled wherever it is shown, because memory that no process maps (a memfd,
 * files in a tmpfs) is not in it.
 *
 *  1  A plan without these limits makes no system call here.
 *  2  Nothing is started under a limit that is not enforced.
 *  3  Whoever is killed is named by init's pidfd, which is not ours: numbers read here are only
 * read.
 */
#include "supervisor/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/memory.h"
#include "base/number.h"
#include "engines/probe.h"
#include "kernel/scope.h"

enum {
	LOOK_MILLISECONDS = 50,
	LOOK_SHARE = 10,          /* looking may take one part in so many of the time */
	LOOK_MOST = 1000,         /* milliseconds between two looks, whatever they take */
	PROCESSES_MOST = 1 << 15, /* that one look considers */
	CHILDREN_BYTES = PROCESSES_MOST * 16,
	EXIT_KILLED = 128 + 9,
};

/* --- deciding -------------------------------------------------------------------------------- */

static size_t limit_find(const struct plan *plan, const char *name)
{
	size_t i = 0;
	while (i < plan->count && (plan->op[i].kind != OP_LIMIT || strcmp(plan->op[i].name, name)))
		i++;
	return i;
}

static int group_prepare(
	enum cgroup_controller controller, uint64_t most, struct cgroup *ret_group, struct err *e)
{
	if (cgroup_make(controller, ret_group, e) < 0)
		return -1;
	if (cgroup_limit(ret_group, most, e) == 0)
		return 0;
	cgroup_close(ret_group);
	return -1;
}

static int tasks_refuse(const struct op *op, const struct err *why, struct err *e)
{
	err_set(e, 0,
		"%s: the number of tasks cannot be limited: %s, and the kernel counts no tasks "
		"of this user",
		op->because, why->text);
	return err_hint(e,
		"leave the limit out, make a pids control group writable, or run hutch as "
		"an ordinary user");
}

/* The plan's own operation sets RLIMIT_NPROC, which is enough where the kernel counts it. A process
 * is in one group of a unified hierarchy: where systemd makes that, it sets this limit as well. */
static int tasks_prepare(const struct op *op, struct limits *limits, struct err *e)
{
	struct err why = { 0 };
	if (limits->scope) {
		limits->tasks = op->number;
		return 0;
	}
	if (group_prepare(CGROUP_PIDS, op->number, &limits->tasks_group, &why) == 0)
		return 0;
	if (probe_task_limit(NULL) == 0)
		return 0;
	return tasks_refuse(op, &why, e);
}

/* Put {"data", number} behind the operation at `index`. */
static void data_limit_add(struct plan *plan, size_t index)
{
	uint64_t number = plan->op[index].number;
	const char *because = plan_text(plan, "%s, no control group", plan->op[index].because);
	struct op *added = plan_add(plan, OP_LIMIT, because);
	added->name = "data";
	added->number = number;
	struct op data = *added;
	memmove(&plan->op[index + 2], &plan->op[index + 1],
		(plan->count - index - 2) * sizeof plan->op[0]);
	plan->op[index + 1] = data;
}

static int memory_prepare(struct plan *plan, size_t index, struct limits *limits, struct err *e)
{
	limits->memory = plan->op[index].number;
	/* First, since a group made behind systemd's back may lose its controllers to it. */
	limits->scope = scope_is_reachable();
	if (limits->scope ||
		group_prepare(CGROUP_MEMORY, limits->memory, &limits->memory_group, NULL) == 0)
		return 0;
	if (access("/proc/self/task", R_OK) < 0)
		return err_set(e, errno,
			"%s: memory cannot be limited: there is no control group, "
			"and /proc cannot be read",
			plan->op[index].because);
	limits->sampled = true;
	if (limit_find(plan, "data") == plan->count)
		data_limit_add(plan, index);
	return 0;
}

static int plan_prepare(struct plan *plan, struct limits *limits, struct err *e)
{
	size_t memory = limit_find(plan, "memory");
	if (memory < plan->count && memory_prepare(plan, memory, limits, e) < 0)
		return -1;
	size_t tasks = limit_find(plan, "tasks"); /* only now: the plan may have grown */
	return tasks < plan->count ? tasks_prepare(&plan->op[tasks], limits, e) : 0;
}

int limits_prepare(struct plan *plan, struct limits *ret_limits, struct err *e)
{
	*ret_limits = (struct limits){ .tasks_group = CGROUP_NONE, .memory_group = CGROUP_NONE };
	if (plan_prepare(plan, ret_limits, e) == 0)
		return 0;
	limits_finish(ret_limits, NULL);
	return -1;
}

/* --- looking --------------------------------------------------------------------------------- */

struct pids {
	pid_t *pid;
	size_t count;
	size_t size;
};

static void pids_add(struct pids *pids, pid_t pid)
{
	if (pids->count == pids->size) {
		pids->size = pids->size ? pids->size * 2 : 64;
		pids->pid = memory_grow(pids->pid, pids->size, sizeof *pids->pid);
	}
	pids->pid[pids->count++] = pid;
}

/* Read what there is of a small file of /proc; the length, or -1. */
static ssize_t proc_read(int directory, const char *name, char *buffer, size_t size)
{
	AUTO_CLOSE int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	while (fd >= 0 && used + 1 < size) {
		ssize_t got = read(fd, buffer + used, size - 1 - used);
		if (got <= 0)
			break;
		used += (size_t)got;
	}
	buffer[used] = '\0';
	return fd < 0 ? -1 : (ssize_t)used;
}

/* The whole list, however long: what is left out is not counted. */
static int children_read(int task, const char *thread, struct pids *pids)
{
	char name[300];
	AUTO_FREE char *list = NULL;
	snprintf(name, sizeof name, "%s/children", thread);
	if (file_read_at(task, name, CHILDREN_BYTES, &list, NULL, NULL) < 0)
		return -1;
	for (char *p = list, *end; pids->count < PROCESSES_MOST; p = end) {
		long pid = strtol(p, &end, 10);
		if (end == p || *end != ' ')
			break;
		pids_add(pids, (pid_t)pid);
	}
	return 0;
}

/* Add the children of every thread of a process; -1 when none could be read. */
static int children_add(pid_t pid, struct pids *pids)
{
	char name[40];
	int result = -1;
	snprintf(name, sizeof name, "/proc/%d/task", pid);
	DIR *task = opendir(name);
	if (!task)
		return -1;
	for (struct dirent *entry; (entry = readdir(task));)
		if (entry->d_name[0] != '.' && children_read(dirfd(task), entry->d_name, pids) == 0)
			result = 0;
	closedir(task);
	return result;
}

/* Bytes of private memory in RAM: all that is resident less what is of files or shared. */
static uint64_t process_memory(pid_t pid, uint64_t page)
{
	char name[40], buffer[128];
	uint64_t total, resident, shared;
	snprintf(name, sizeof name, "/proc/%d/statm", pid);
	if (proc_read(AT_FDCWD, name, buffer, sizeof buffer) < 0 ||
		sscanf(buffer, "%" SCNu64 " %" SCNu64 " %" SCNu64, &total, &resident, &shared) != 3)
		return 0;
	return resident > shared ? (resident - shared) * page : 0;
}

/* Bytes of it that are swapped out. Only asked for where there is swap: it costs as much again. */
static uint64_t process_swapped(pid_t pid)
{
	char name[40], buffer[4096];
	snprintf(name, sizeof name, "/proc/%d/status", pid);
	if (proc_read(AT_FDCWD, name, buffer, sizeof buffer) < 0)
		return 0;
	const char *line = strstr(buffer, "\nVmSwap:");
	return line ? strtoull(line + 8, NULL, 10) << 10 : 0;
}

/* Everything in the box descends from init: orphans become its children. -1 when init, which is
 * there until the supervisor has waited for it, is not shown. */
static int box_memory(pid_t init, uint64_t *ret_sum)
{
	struct sysinfo info;
	bool swap = sysinfo(&info) < 0 || info.totalswap > 0;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	char name[40], ignored[128];
	struct pids pids = { 0 };
	*ret_sum = 0;
	snprintf(name, sizeof name, "/proc/%d/statm", init);
	if (proc_read(AT_FDCWD, name, ignored, sizeof ignored) < 0)
		return -1;
	pids_add(&pids, init);
	int result = 0;
	for (size_t i = 0; i < pids.count; i++) {
		*ret_sum += process_memory(pids.pid[i], page);
		*ret_sum += swap ? process_swapped(pids.pid[i]) : 0;
		int shown = children_add(pids.pid[i], &pids);
		result = i == 0 ? shown : result;
	}
	free(pids.pid);
	return result;
}

/* --- the life of a box ----------------------------------------------------------------------- */

static int scope_attach(struct limits *limits, pid_t init, struct err *e)
{
	struct err ignored;
	if (scope_start(init, limits->memory, limits->tasks, e) < 0)
		return -1;
	/* systemd keeps the group and removes it; here it is only read. */
	return cgroup_of(CGROUP_MEMORY, init, &limits->memory_group, e ? e : &ignored);
}

int limits_attach(struct limits *limits, pid_t init, struct err *e)
{
	limits->init = init;
	if (limits->tasks_group.directory >= 0 && cgroup_enter(&limits->tasks_group, init, e) < 0)
		return -1;
	if (limits->memory_group.directory >= 0 && cgroup_enter(&limits->memory_group, init, e) < 0)
		return -1;
	if (limits->scope && scope_attach(limits, init, e) < 0)
		return -1;
	return 0;
}

uint64_t limits_interval(const struct limits *limits)
{
	if (limits->memory == 0)
		return 0;
	uint64_t rest = limits->cost * LOOK_SHARE;
	if (rest < LOOK_MILLISECONDS)
		return LOOK_MILLISECONDS;
	return rest < LOOK_MOST ? rest : LOOK_MOST;
}

bool limits_tick(struct limits *limits)
{
	if (limits->sampled && limits->init > 0) {
		uint64_t start = clock_milliseconds(), used;
		limits->blind |= box_memory(limits->init, &used) < 0;
		limits->exceeded |= used > limits->memory;
		limits->cost = clock_milliseconds() - start;
	} else if (limits->memory) {
		/* The kernel picks one process of a group; a box that lost one is not what was
		 * started any more. */
		limits->exceeded |= cgroup_kills(&limits->memory_group) > 0;
	}
	return limits->exceeded || limits->blind;
}

bool limits_finish(struct limits *limits, struct err *ret_e)
{
	if (limits->memory && !limits->sampled)
		limits_tick(limits);
	cgroup_close(&limits->tasks_group);
	cgroup_close(&limits->memory_group);
	bool ended = limits->exceeded || limits->blind;
	if (!ended || !ret_e)
		return ended;
	if (limits->exceeded)
		err_set(ret_e, 0, "the sandbox was ended: it used more memory than its limit of %s",
			size_show(limits->memory).text);
	else
		err_set(ret_e, 0,
			"the sandbox was ended: /proc does not show its processes, so its "
			"memory cannot be watched (is /proc mounted with hidepid?)");
	ret_e->exit_code = EXIT_KILLED;
	return true;
}
