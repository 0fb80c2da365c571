/* SPDX-License-Identifier: MIT */
/*
 * Theory. The parent clones the child into all namespaces at once; the child does everything and
 * then either becomes the command or, as process 1 (or to own locks), starts it and reaps. The parent
 * waits at a pipe: the command's exit code comes from process 1, or a failure from whoever has it;
 * that the pipe closes without a word means that the child is the command now, and its end is waited
 * for. So the command's end is known before the last process of the sandbox has gone.
 */
#include "engines/direct.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apply/environment.h"
#include "base/fd.h"
#include "base/memory.h"
#include "base/text.h"
#include "engines/direct_inside.h"
#include "kernel/process.h"

static const struct namespace
{
	const char *name; /* in a plan */
	unsigned long flag;
	const char *file; /* below /proc/PID/ns; NULL: bubblewrap does not tell */
}
namespaces[] = {
	{ "user", CLONE_NEWUSER, NULL },
	{ "cgroup", CLONE_NEWCGROUP, "cgroup" },
	{ "ipc", CLONE_NEWIPC, "ipc" },
	{ "mount", CLONE_NEWNS, "mnt" },
	{ "net", CLONE_NEWNET, "net" },
	{ "pid", CLONE_NEWPID, "pid" },
	{ "uts", CLONE_NEWUTS, "uts" },
};

enum { NAMESPACES = sizeof namespaces / sizeof namespaces[0] };

static unsigned long plan_flags(const struct plan *plan)
{
	unsigned long flags = 0;
	for (size_t i = 0; i < plan->count; i++)
		for (size_t n = 0; n < NAMESPACES; n++)
			if (plan->op[i].kind == OP_NAMESPACE &&
				strcmp(plan->op[i].name, namespaces[n].name) == 0)
				flags |= namespaces[n].flag;
	return flags;
}

/* --- what is found out before the clone ------------------------------------------------------- */

static int filter_read(int fd, struct direct_filter *ret_filter, struct err *e)
{
	enum { MOST = 8 << 20 };
	size_t length;
	char *data;
	struct err why = { 0 };
	if (fd_read_all(fd, MOST, &data, &length, &why) < 0)
		return err_set(e, why.number, "Can't read seccomp data");
	close(fd);
	ret_filter->code = (struct sock_filter *)(void *)data;
	ret_filter->length = length / sizeof *ret_filter->code;
	if (length % sizeof *ret_filter->code)
		return err_set(e, 0, "Invalid seccomp data, must be multiple of 8");
	return 0;
}

static int filters_read(struct direct *direct, struct err *e)
{
	const struct plan *plan = &direct->request->plan;
	direct->filter = memory_alloc(plan->count + 1, sizeof *direct->filter);
	for (size_t i = 0; i < plan->count; i++)
		if (plan->op[i].kind == OP_SECCOMP_FD &&
			filter_read(plan->op[i].fd, &direct->filter[direct->filter_count++], e) < 0)
			return -1;
	return 0;
}

static const char *plan_directory(const struct plan *plan)
{
	for (size_t i = 0; i < plan->count; i++)
		if (plan->op[i].kind == OP_CWD)
			return plan->op[i].target;
	return NULL;
}

/* PWD is known only inside, where nothing is allocated. */
static void environment_make(struct direct *direct)
{
	struct strings *list = &direct->environment;
	const char *given = plan_directory(&direct->request->plan);
	apply_environment(&direct->request->plan, environ, list);
	direct->home = environment_get(list->item, "HOME");
	direct->directory = get_current_dir_name();
	direct->pwd_given = memory_format("PWD=%s", given ? given : "/");
	direct->pwd_same = memory_format("PWD=%s", direct->directory ? direct->directory : "/");
	direct->pwd_home = memory_format("PWD=%s", direct->home ? direct->home : "/");
	for (size_t i = 0; i < list->count; i++)
		if (strncmp(list->item[i], "PWD=", 4) == 0) {
			list->item[i] = list->item[--list->count];
			break;
		}
	strings_add(list, "PWD=/");
}

/* --- the parent's part ------------------------------------------------------------------------ */

static int namespaces_join(const struct bwrap_request *request, struct err *e)
{
	if (request->userns >= 0 && setns(request->userns, CLONE_NEWUSER) < 0) {
		if (errno == EINVAL)
			return err_set(e, 0,
				"Joining the specified user namespace failed, it might not be a "
				"descendant of the current user namespace.");
		return err_set(e, errno, "Joining specified user namespace failed");
	}
	if (request->pidns >= 0 && setns(request->pidns, CLONE_NEWPID) < 0)
		return err_set(e, errno, "Setting pidns failed");
	return 0;
}

static int clone_failed(const struct direct *direct, struct err *e)
{
	int number = errno;
	if ((number == ENOSPC || number == EPERM || number == ENOSYS || number == EUSERS) &&
		faccessat(AT_FDCWD, "/run/hutch/bin/hutch", F_OK, 0) == 0)
		return err_set(e, 0,
			"Creating new namespace failed: this is inside a sandbox of hutch that allows "
			"no other one in it; start it with hutch --nesting");
	if (number == EINVAL && (direct->flags & CLONE_NEWUSER))
		return err_set(e, 0,
			"Creating new namespace failed, likely because the kernel does not support "
			"user namespaces.  bwrap must be installed setuid on such systems.");
	if (number == EPERM && (direct->flags & CLONE_NEWUSER))
		return err_set(e, 0,
			"No permissions to create a new namespace, likely because the kernel does not "
			"allow non-privileged user namespaces. On e.g. debian this can be enabled "
			"with 'sysctl kernel.unprivileged_userns_clone=1'.");
	if (number == ENOSPC)
		return err_set(e, 0,
			"Creating new namespace failed: nesting depth or "
			"/proc/sys/user/max_*_namespaces exceeded (ENOSPC)");
	return err_set(e, number, "Creating new namespace failed");
}

/* "child-pid" and the namespaces that are new, in the words of --info-fd or --json-status-fd. */
static int information_write(const struct direct *direct, int fd, pid_t pid, const char *begin,
	const char *separator, const char *end, struct err *e)
{
	AUTO_TEXT out = { 0 };
	text_format(&out, "%s\"child-pid\": %d", begin, pid);
	for (size_t i = 0; i < NAMESPACES; i++) {
		char path[64];
		struct stat info;
		if (!namespaces[i].file || !(direct->flags & namespaces[i].flag))
			continue;
		snprintf(path, sizeof path, "%d/ns/%s", pid, namespaces[i].file);
		if (fstatat(direct->proc, path, &info, 0) == 0)
			text_format(&out, ",%s\"%s-namespace\": %ju", separator, namespaces[i].file,
				(uintmax_t)info.st_ino);
	}
	text_add(&out, end);
	if (fd_write_all(fd, out.data, out.length) < 0)
		return err_set(e, errno, "Write to info_fd");
	return 0;
}

static int information(const struct direct *direct, pid_t pid, struct err *e)
{
	const struct bwrap_request *request = direct->request;
	if (request->info >= 0) {
		if (information_write(direct, request->info, pid, "{\n    ", "\n    ", "\n}\n", e) <
			0)
			return -1;
		close(request->info);
	}
	if (request->status >= 0 &&
		information_write(direct, request->status, pid, "{ ", " ", " }\n", e) < 0)
		return -1;
	return 0;
}

static void byte_await(int fd)
{
	char byte;
	ssize_t got;
	do
		got = read(fd, &byte, 1);
	while (got < 0 && errno == EINTR);
	close(fd);
}

static int parent_prepare(const struct direct *direct, pid_t pid, int *go, struct err *e)
{
	if (information(direct, pid, e) < 0)
		return -1;
	if (direct->request->userns_block >= 0)
		byte_await(direct->request->userns_block);
	if (*go >= 0 && fd_write_all(*go, "", 1) < 0)
		return err_set(e, errno, "write to child");
	fd_close(go);
	return 0;
}

/* The exit code of the command, or the failure that the child reports. */
static int end_await(pid_t pid, int report, int *ret_code, struct err *e)
{
	struct direct_report got;
	ssize_t length;
	int status;
	do
		length = read(report, &got, sizeof got);
	while (length < 0 && errno == EINTR);
	if (length == sizeof got) {
		waitpid(pid, NULL, 0);
		*e = got.err;
		return -1;
	}
	if (length >= (ssize_t)sizeof got.code) {
		*ret_code = got.code;
		return 0;
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return err_set(e, errno, "wait for the command");
	*ret_code = process_exit_code(status);
	return 0;
}

static int parent_run(
	struct direct *direct, pid_t pid, int report, int *go, int *ret_code, struct err *e)
{
	if (parent_prepare(direct, pid, go, e) < 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		return -1;
	}
	if (end_await(pid, report, ret_code, e) < 0)
		return -1;
	if (direct->request->status >= 0)
		dprintf(direct->request->status, "{ \"exit-code\": %d }\n", *ret_code);
	return 0;
}

static int clone_run(struct direct *direct, int *ret_code, struct err *e)
{
	int report[2], go[2] = { -1, -1 };
	const struct bwrap_request *request = direct->request;
	if (pipe2(report, O_CLOEXEC) < 0)
		return err_set(e, errno, "Can't create pipe");
	AUTO_CLOSE int report_read = report[0];
	AUTO_CLOSE int report_write = report[1];
	bool waits = request->info >= 0 || request->status >= 0 || request->userns_block >= 0;
	if (waits && pipe2(go, O_CLOEXEC) < 0)
		return err_set(e, errno, "Can't create pipe");
	AUTO_CLOSE int go_read = go[0];
	AUTO_CLOSE int go_write = go[1];
	direct->report = report_write;
	direct->go = go_read;
	pid_t pid = (pid_t)syscall(SYS_clone, direct->flags | SIGCHLD, NULL, NULL, NULL, 0);
	if (pid < 0)
		return clone_failed(direct, e);
	if (pid == 0) {
		fd_close(&go_write);
		direct_inside(direct);
	}
	fd_close(&report_write);
	fd_close(&go_read);
	if (request->sync >= 0)
		close(request->sync);
	return parent_run(direct, pid, report_read, &go_write, ret_code, e);
}

static void direct_free(struct direct *direct)
{
	for (size_t i = 0; i < direct->filter_count; i++)
		free(direct->filter[i].code);
	free(direct->filter);
	free(direct->lock);
	strings_free(&direct->environment);
	free((char *)direct->directory);
	free(direct->pwd_given);
	free(direct->pwd_same);
	free(direct->pwd_home);
	fd_close(&direct->proc);
}

/* The end of the child must be seen; the command gets back what the caller had. */
static bool child_notice(void)
{
	struct sigaction old, usual = { .sa_handler = SIG_DFL };
	sigaction(SIGCHLD, &usual, &old);
	return old.sa_handler == SIG_IGN;
}

static int run(struct direct *direct, int *ret_code, struct err *e)
{
	const struct bwrap_request *request = direct->request;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_set(e, errno, "prctl(PR_SET_NO_NEW_PRIVS) failed");
	if (filters_read(direct, e) < 0)
		return -1;
	direct->proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (direct->proc < 0)
		return err_set(e, errno, "Can't open /proc");
	environment_make(direct);
	direct->lock = memory_alloc(request->locks.count + 1, sizeof *direct->lock);
	if (namespaces_join(request, e) < 0)
		return -1;
	if (request->die_with_parent && prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return err_set(e, errno, "prctl");
	return clone_run(direct, ret_code, e);
}

int direct_run(const struct bwrap_request *request, bool harden, int *ret_code, struct err *e)
{
	unsigned long flags = plan_flags(&request->plan);
	struct direct direct = {
		.request = request,
		.harden = harden,
		.flags = flags & ~(request->pidns >= 0 ? CLONE_NEWPID : 0ul),
		.new_pid = flags & CLONE_NEWPID,
		.uid = getuid(),
		.gid = getgid(),
		.child_ignored = child_notice(),
		.proc = -1,
		.report = -1,
		.go = -1,
	};
	int result = run(&direct, ret_code, e);
	direct_free(&direct);
	return result;
}
