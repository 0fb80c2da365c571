/* SPDX-License-Identifier: MIT */
#include "engines/direct_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apply/confine.h"
#include "apply/environment.h"
#include "apply/faithful.h"
#include "base/fd.h"
#include "engines/direct.h"
#include "kernel/capability.h"
#include "kernel/loopback.h"
#include "kernel/process.h"
#include "kernel/seccomp.h"
#include "kernel/userns.h"

enum { COMMAND_STACK = 256 * 1024, EXIT_BWRAP = 1 };

static struct confinement confinement; /* used by the vforked child */

static bool has(const struct plan *plan, enum op_kind kind)
{
	for (size_t i = 0; i < plan->count; i++)
		if (plan->op[i].kind == kind)
			return true;
	return false;
}

static noreturn void fail(const struct direct *direct, const struct err *e)
{
	struct direct_report report = { .code = EXIT_BWRAP, .err = *e };
	signal(SIGPIPE, SIG_IGN);
	(void)fd_write_all(direct->report, &report, sizeof report);
	_exit(EXIT_BWRAP);
}

/* --- the user namespace ----------------------------------------------------------------------- */

/* Bubblewrap sets up in one user namespace and runs the command in one below it when there is a
 * /dev, for whose devpts it once needed uid 0, and for --disable-userns. The second one takes from
 * the command all say over the mounts; where it has no capabilities, it has none anyway, and one
 * namespace does. */
static bool is_nested(const struct direct *direct)
{
	const struct bwrap_request *request = direct->request;
	if (!(direct->flags & CLONE_NEWUSER) || request->userns_block >= 0)
		return false;
	if (has(&request->plan, OP_NO_USER_NAMESPACES))
		return true;
	bool other = request->uid != 0 || request->gid != 0;
	return other && request->capabilities != 0 && has(&request->plan, OP_DEV);
}

static int userns_enter(const struct direct *direct, struct err *e)
{
	const struct bwrap_request *request = direct->request;
	if (!(direct->flags & CLONE_NEWUSER) || request->userns_block >= 0)
		return 0;
	bool as_root = is_nested(direct) && has(&request->plan, OP_DEV);
	uid_t uid = as_root ? 0 : request->uid;
	gid_t gid = as_root ? 0 : request->gid;
	if (userns_map_at(direct->proc, uid, direct->uid, gid, direct->gid) < 0)
		return err_set(e, errno, "setting up uid map");
	return 0;
}

static int userns_nest(const struct direct *direct, struct err *e)
{
	const struct bwrap_request *request = direct->request;
	bool disable = has(&request->plan, OP_NO_USER_NAMESPACES);
	if (!is_nested(direct))
		return 0;
	bool as_root = has(&request->plan, OP_DEV);
	if (disable && file_poke_at(direct->proc, "sys/user/max_user_namespaces", "1") < 0)
		return err_set(e, errno, "cannot open /proc/sys/user/max_user_namespaces");
	if (unshare(CLONE_NEWUSER) < 0)
		return err_set(e, errno, "unshare user ns");
	if (userns_map_at(direct->proc, request->uid, as_root ? 0 : request->uid, request->gid,
		    as_root ? 0 : request->gid) < 0)
		return err_set(e, errno, "setting up uid map");
	return 0;
}

static int userns_finish(const struct direct *direct, struct err *e)
{
	const struct bwrap_request *request = direct->request;
	if (request->userns2 >= 0 && setns(request->userns2, CLONE_NEWUSER) < 0)
		return err_set(e, errno, "Setting userns2 failed");
	if (userns_nest(direct, e) < 0)
		return -1;
	if (request->assert_userns_disabled && unshare(CLONE_NEWUSER) == 0)
		return err_set(
			e, 0, "creation of new user namespaces was not disabled as requested");
	return 0;
}

/* In a user namespace of others, somebody else of it may be asked for. By system call: the C library
 * would do it for every thread. */
static int identity_switch(const struct direct *direct, struct err *e)
{
	const struct bwrap_request *request = direct->request;
	if (request->userns < 0)
		return 0;
	if (request->uid != direct->uid && syscall(SYS_setuid, request->uid) < 0)
		return err_set(e, errno, "unable to switch to uid %u", request->uid);
	if (request->gid != direct->gid && syscall(SYS_setgid, request->gid) < 0)
		return err_set(e, errno, "unable to switch to gid %u", request->gid);
	return 0;
}

/* --- setting up ------------------------------------------------------------------------------- */

static int capabilities_set(const struct direct *direct, struct err *e)
{
	const struct bwrap_request *request = direct->request;
	bool user = (direct->flags & CLONE_NEWUSER) || request->userns >= 0;
	if (user && capability_bound(request->capabilities) < 0)
		return err_set(e, errno, "Dropping capability from bounds");
	if (direct->uid == 0 && !request->capabilities_given)
		return 0;
	if (capability_give(request->capabilities) < 0)
		return err_set(e, errno, "capset failed");
	return 0;
}

static int hostname_set(const struct plan *plan, struct err *e)
{
	for (size_t i = 0; i < plan->count; i++)
		if (plan->op[i].kind == OP_HOSTNAME &&
			sethostname(plan->op[i].value, strlen(plan->op[i].value)) < 0)
			return err_set(e, errno, "Can't set hostname to %s", plan->op[i].value);
	return 0;
}

/* Where the command starts, and PWD, which is the last variable. */
static int directory_enter(struct direct *direct, struct err *e)
{
	const struct plan *plan = &direct->request->plan;
	char **pwd = &direct->environment.item[direct->environment.count - 1];
	if (chdir("/") < 0)
		return err_set(e, errno, "chdir /");
	for (size_t i = 0; i < plan->count; i++) {
		if (plan->op[i].kind != OP_CWD)
			continue;
		if (chdir(plan->op[i].target) < 0)
			return err_set(e, errno, "Can't chdir to %s", plan->op[i].target);
		*pwd = direct->pwd_given;
		return 0;
	}
	if (direct->directory && chdir(direct->directory) == 0)
		*pwd = direct->pwd_same;
	else if (direct->home && chdir(direct->home) == 0)
		*pwd = direct->pwd_home;
	return 0;
}

static void go_await(const struct direct *direct)
{
	char byte;
	ssize_t got;
	if (direct->go < 0)
		return;
	do
		got = read(direct->go, &byte, 1);
	while (got < 0 && errno == EINTR);
	if (got != 1) /* the parent could not do its part, and says so */
		_exit(EXIT_BWRAP);
	close(direct->go);
}

static void block_await(int fd)
{
	char byte;
	while (fd >= 0 && read(fd, &byte, 1) < 0 && errno == EINTR)
		;
	if (fd >= 0)
		close(fd);
}

static int death_follow(const struct bwrap_request *request, struct err *e)
{
	if (request->die_with_parent && prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return err_set(e, errno, "prctl");
	return 0;
}

static int set_up(struct direct *direct, struct err *e)
{
	const struct bwrap_request *request = direct->request;
	if (request->info >= 0)
		close(request->info);
	if (request->status >= 0)
		close(request->status);
	go_await(direct);
	block_await(request->block);
	if (userns_enter(direct, e) < 0 || identity_switch(direct, e) < 0)
		return -1;
	if ((direct->flags & CLONE_NEWNET) && loopback_up() < 0)
		return err_set(e, errno, "loopback: Failed to bring up lo");
	if (direct->harden && confine_start(&request->plan, &confinement, e) < 0)
		return -1;
	if (hostname_set(&request->plan, e) < 0 || faithful_mounts(&request->plan, e) < 0 ||
		userns_finish(direct, e) < 0 || capabilities_set(direct, e) < 0 ||
		directory_enter(direct, e) < 0)
		return -1;
	if (request->new_session && setsid() < 0)
		return err_set(e, errno, "setsid");
	return death_follow(request, e); /* after all changes of identity, which undo it */
}

/* --- the command ------------------------------------------------------------------------------ */

static int filters_install(const struct direct *direct, struct err *e)
{
	for (size_t i = 0; i < direct->filter_count; i++) {
		const struct direct_filter *filter = &direct->filter[i];
		bool fits = filter->length <= UINT16_MAX;
		if (fits && seccomp_install(filter->code, (unsigned short)filter->length) == 0)
			continue;
		if (!fits || errno == EINVAL)
			return err_set(e, 0,
				"Unable to set up system call filtering as requested: "
				"prctl(PR_SET_SECCOMP) reported EINVAL. (Hint: this requires a kernel "
				"configured with CONFIG_SECCOMP and CONFIG_SECCOMP_FILTER.)");
		return err_set(e, errno, "prctl(PR_SET_SECCOMP)");
	}
	return 0;
}

/* Only returns when it failed. Allocates nothing: it may run in process 1's memory. */
static int command_execute(const struct direct *direct, struct err *e)
{
	static struct execution execution;
	const struct bwrap_request *request = direct->request;
	const struct plan *plan = &request->plan;
	char *const *environment = direct->environment.item;
	if (death_follow(request, e) < 0)
		return -1;
	if (request->sync >= 0)
		close(request->sync);
	if (direct->child_ignored)
		signal(SIGCHLD, SIG_IGN);
	if (direct->harden && confine_command(&confinement, e) < 0)
		return -1;
	if (filters_install(direct, e) < 0)
		return -1;
	process_execute(plan->argv0, plan->command, environment,
		environment_get(environment, "PATH"), &execution);
	return err_set(e, errno, "execvp %s", plan->command[0]);
}

/* --- process 1 -------------------------------------------------------------------------------- */

struct attempt {
	const struct direct *direct;
	struct err err;
};

static int command_main(void *data)
{
	struct attempt *attempt = data;
	command_execute(attempt->direct, &attempt->err);
	_exit(EXIT_BWRAP);
}

/* vfork, and not fork: page tables need not be copied for an exec. */
static pid_t command_start(const struct direct *direct, struct err *e)
{
	static struct attempt attempt;
	char *stack = mmap(NULL, COMMAND_STACK, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (stack == MAP_FAILED)
		return err_set(e, errno, "Can't fork for pid 1");
	attempt.direct = direct;
	pid_t pid = clone(
		command_main, stack + COMMAND_STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, &attempt);
	if (pid < 0)
		return err_set(e, errno, "Can't fork for pid 1");
	munmap(stack, COMMAND_STACK);
	if (attempt.err.text[0]) {
		*e = attempt.err;
		return -1;
	}
	return pid;
}

static int locks_take(struct direct *direct, struct err *e)
{
	const struct strings *locks = &direct->request->locks;
	for (size_t i = 0; i < locks->count; i++) {
		struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
		direct->lock[i] = open(locks->item[i], O_RDONLY | O_CLOEXEC | O_NOCTTY);
		if (direct->lock[i] < 0)
			return err_set(e, errno, "Unable to open lock file %s", locks->item[i]);
		if (fcntl(direct->lock[i], F_SETLK, &lock) < 0)
			return err_set(e, errno, "Unable to lock file %s", locks->item[i]);
	}
	return 0;
}

/* The lowest of `fd` and `*keep` that is not below `next`; -1 is above all. */
static void keep_lower(int fd, unsigned next, unsigned *keep)
{
	if ((unsigned)fd >= next && (unsigned)fd < *keep)
		*keep = (unsigned)fd;
}

/* Process 1 holds what it must and nothing else, so that pipes of the caller can end. */
static void descriptors_close(const struct direct *direct)
{
	for (unsigned next = 3;;) {
		unsigned keep = ~0u;
		keep_lower(direct->report, next, &keep);
		keep_lower(direct->request->sync, next, &keep);
		for (size_t i = 0; i < direct->request->locks.count; i++)
			keep_lower(direct->lock[i], next, &keep);
		if (keep > next)
			close_range(next, keep == ~0u ? keep : keep - 1, 0);
		if (keep == ~0u)
			return;
		next = keep + 1;
	}
}

static noreturn void reap(const struct direct *direct, pid_t command)
{
	int code = EXIT_BWRAP, status;
	for (;;) {
		pid_t pid = waitpid(-1, &status, 0);
		if (pid < 0 && errno == EINTR)
			continue;
		if (pid < 0)
			_exit(code);
		if (pid != command)
			continue;
		code = process_exit_code(status);
		(void)fd_write_all(direct->report, &code, sizeof code);
	}
}

static noreturn void process_1_run(struct direct *direct)
{
	struct err e = { 0 };
	pid_t command = locks_take(direct, &e) < 0 ? -1 : command_start(direct, &e);
	if (command < 0)
		fail(direct, &e);
	signal(SIGPIPE, SIG_IGN);
	/* As a process that is not the command it needs nothing of what the command may have. */
	capability_hold(0);
	descriptors_close(direct);
	if (death_follow(direct->request, &e) < 0 || filters_install(direct, &e) < 0)
		fail(direct, &e);
	reap(direct, command);
}

/* No clone makes a pid namespace below another one than the caller's own: this process, which is in
 * the given one, makes it for a child, and is that child's status from then on. */
static int pidns_descend(const struct direct *direct, struct err *e)
{
	int status;
	if (death_follow(direct->request, e) < 0)
		return -1;
	if (unshare(CLONE_NEWPID) < 0)
		return err_set(e, errno, "unshare pid ns");
	pid_t pid = fork();
	if (pid < 0)
		return err_set(e, errno, "Can't fork for --pidns");
	if (pid == 0)
		return 0;
	close_range(3, ~0u, 0);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	_exit(process_exit_code(status));
}

noreturn void direct_inside(struct direct *direct)
{
	struct err e = { 0 };
	const struct bwrap_request *request = direct->request;
	if (direct->new_pid && request->pidns >= 0 && pidns_descend(direct, &e) < 0)
		fail(direct, &e);
	if (set_up(direct, &e) < 0)
		fail(direct, &e);
	bool owner = direct->new_pid || request->locks.count || request->sync >= 0;
	if (owner && !request->as_pid_1)
		process_1_run(direct);
	command_execute(direct, &e);
	fail(direct, &e);
}
