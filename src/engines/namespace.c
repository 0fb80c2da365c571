/* SPDX-License-Identifier: MIT */
/*
 * The namespace engine: one clone into every namespace of the plan. The child becomes the sandbox's
 * init: it carries out the plan, phase by phase, in its own process, and then runs the command.
 * Nothing is executed in between, so a start costs system calls and no program loads.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "apply/confine.h"
#include "apply/environment.h"
#include "apply/mounts.h"
#include "base/fd.h"
#include "engines/engine.h"
#include "engines/init.h"
#include "kernel/loopback.h"
#include "kernel/title.h"
#include "kernel/userns.h"
#include "protocol/message.h"

static const struct namespace_kind {
	const char *name;
	unsigned long flag;
} namespaces[] = {
	{ "user", CLONE_NEWUSER },
	{ "mount", CLONE_NEWNS },
	{ "pid", CLONE_NEWPID },
	{ "ipc", CLONE_NEWIPC },
	{ "uts", CLONE_NEWUTS },
	{ "cgroup", CLONE_NEWCGROUP },
	{ "net", CLONE_NEWNET },
};

static int namespace_flag(const struct op *op, unsigned long *flags, struct err *e)
{
	for (size_t i = 0; i < sizeof namespaces / sizeof namespaces[0]; i++)
		if (strcmp(namespaces[i].name, op->name) == 0) {
			*flags |= namespaces[i].flag;
			return 0;
		}
	return err_set(e, 0, "%s: there is no namespace '%s'", op->because, op->name);
}

static int plan_flags(const struct plan *plan, unsigned long *ret_flags, struct err *e)
{
	*ret_flags = 0;
	for (size_t i = 0; i < plan->count; i++)
		if (plan->op[i].kind == OP_NAMESPACE &&
			namespace_flag(&plan->op[i], ret_flags, e) < 0)
			return -1;
	const unsigned long needed = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID;
	if ((*ret_flags & needed) != needed)
		return err_set(e, 0, "the namespace engine needs user, mount and pid namespaces");
	return 0;
}

/* The lowest of `fd` and `*keep` that is not below `next`; -1 is above all. */
static void keep_lower(int fd, unsigned next, unsigned *keep)
{
	if ((unsigned)fd >= next && (unsigned)fd < *keep)
		*keep = (unsigned)fd;
}

/* Close everything but 0, 1, 2, the channel, what the supervisor wants kept and the descriptors that
 * the plan mounts from: what the caller's shell left open is not the sandbox's. */
static void descriptors_close(const struct plan *plan, int channel, int kept)
{
	for (unsigned next = 3;;) {
		unsigned keep = ~0u;
		keep_lower(channel, next, &keep);
		keep_lower(kept, next, &keep);
		for (size_t i = 0; i < plan->count; i++)
			keep_lower(plan->op[i].fd, next, &keep);
		if (keep > next)
			close_range(next, keep == ~0u ? keep : keep - 1, 0);
		if (keep == ~0u)
			return;
		next = keep + 1;
	}
}

static int identity_apply(const struct plan *plan, uid_t outer_uid, gid_t outer_gid, struct err *e)
{
	uid_t uid = outer_uid;
	gid_t gid = outer_gid;
	for (size_t i = 0; i < plan->count; i++)
		if (plan->op[i].kind == OP_IDENTITY) {
			uid = plan->op[i].uid;
			gid = plan->op[i].gid;
		}
	if (userns_map(uid, outer_uid, gid, outer_gid) == 0)
		return 0;
	err_set(e, errno, "cannot map uid %u in the new user namespace", uid);
	if (outer_uid == 0)
		return err_hint(e, "root needs CAP_SETFCAP to map uid 0: give the container that "
				   "capability, or run hutch as another user");
	return err_hint(e, "hutch doctor tells what forbids it");
}

static int hostname_apply(const struct plan *plan, struct err *e)
{
	for (size_t i = 0; i < plan->count; i++) {
		const struct op *op = &plan->op[i];
		if (op->kind == OP_HOSTNAME && sethostname(op->value, strlen(op->value)) < 0)
			return err_set(e, errno, "%s: cannot set the host name '%s'", op->because,
				op->value);
	}
	return 0;
}

static int plan_apply(const struct plan *plan, unsigned long flags, uid_t uid, gid_t gid,
	struct confinement *ret_confinement, struct err *e)
{
	if (identity_apply(plan, uid, gid, e) < 0 || confine_namespaces(plan, uid == 0, e) < 0)
		return -1;
	if ((flags & CLONE_NEWNET) && loopback_up() < 0)
		return err_set(e, errno, "cannot bring up the sandbox's loopback device");
	if (hostname_apply(plan, e) < 0 || confine_start(plan, ret_confinement, e) < 0 ||
		apply_mounts(plan, &ret_confinement->ruleset, e) < 0)
		return -1;
	return confine_init(ret_confinement, e);
}

static noreturn void child_run(const struct plan *plan, const struct start *start,
	unsigned long flags, uid_t uid, gid_t gid, int channel, char *const *environment)
{
	struct err e = { 0 };
	title_set("hutch-init");
	descriptors_close(plan, channel, start->keep);
	struct confinement confinement;
	if (plan_apply(plan, flags, uid, gid, &confinement, &e) < 0) {
		message_send_error(channel, &e);
		_exit(EXIT_HUTCH);
	}
	struct init init = {
		.channel = channel,
		.start = start,
		.command = plan->command,
		.argv0 = plan->argv0,
		.environment = environment,
		.directory = apply_directory(plan),
		.confine = confine_command,
		.confine_data = &confinement,
	};
	init_run(&init);
}

static int clone_failed(struct err *e)
{
	int number = errno;
	err_set(e, number, "cannot make the sandbox's namespaces");
	if (number == EPERM && prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == SECCOMP_MODE_FILTER)
		return err_hint(e,
			"this is inside a sandbox or container that forbids nesting (hutch "
			"--nesting allows it); hutch doctor says more");
	if (number == EPERM || number == EACCES)
		return err_hint(e,
			"this system restricts user namespaces; hutch doctor says how to "
			"allow them for hutch alone");
	if (number == ENOSPC || number == EUSERS)
		return err_hint(e,
			"a limit in /proc/sys/user is reached, or this is inside a sandbox "
			"that forbids nesting (hutch --nesting allows it)");
	return -1;
}

/* From a directory of the host every other can be reached, whatever is mounted. */
static int stdio_check(const struct plan *plan, struct err *e)
{
	struct stat info;
	for (int fd = 0; fd < 3 && !plan->faithful; fd++) {
		if (fstat(fd, &info) < 0 || !S_ISDIR(info.st_mode))
			continue;
		err_set(e, 0,
			"descriptor %d is a directory of the host, which would lead out of the "
			"sandbox",
			fd);
		return err_hint(
			e, "redirect it from or to a file, or mount the directory with --bind");
	}
	return 0;
}

static int namespace_start(
	const struct plan *plan, const struct start *start, struct box *ret_box, struct err *e)
{
	unsigned long flags;
	if (plan_flags(plan, &flags, e) < 0 || stdio_check(plan, e) < 0)
		return -1;
	/* Everything that allocates is done before the clone. */
	AUTO_STRINGS environment = { 0 };
	apply_environment(plan, environ, &environment);
	uid_t uid = geteuid();
	gid_t gid = getegid();

	int pair[2];
	if (message_pair(pair, e) < 0)
		return -1;
	AUTO_CLOSE int ours = pair[0];
	AUTO_CLOSE int theirs = pair[1];

	int pidfd = -1;
	pid_t pid = (pid_t)syscall(SYS_clone, flags | CLONE_PIDFD | SIGCHLD, NULL, &pidfd, NULL, 0);
	if (pid < 0)
		return clone_failed(e);
	if (pid == 0)
		child_run(plan, start, flags, uid, gid, theirs, environment.item);
	*ret_box = (struct box){ .pid = pid, .pidfd = pidfd, .channel = take_fd(&ours) };
	return 0;
}

const struct engine engine_namespace = { .name = "namespace", .start = namespace_start };
