/* SPDX-License-Identifier: MIT */
#include "engines/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "engines/probe_reason.h"
#include "kernel/cgroup.h"
#include "kernel/landlock.h"
#include "kernel/mount.h"
#include "kernel/tree.h"
#include "kernel/userns.h"
#include "protocol/message.h"

enum { PROBE_MILLISECONDS = 3000 };

/* --- a child that tries ---------------------------------------------------------------------- */

static void child_try(int pipe, int (*act)(const void *data, struct err *e), const void *data)
{
	struct err e = { 0 };
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	int result = act(data, &e);
	/* Fewer bytes than PIPE_BUF: whole or not at all. */
	if (result < 0)
		fd_write_all(pipe, &e, sizeof e);
	_exit(result < 0);
}

/* Wait for a child that holds the other end of `pipe`, at most until `deadline`. */
static int child_wait(int pipe, pid_t child, struct err *e)
{
	struct pollfd wanted = { .fd = pipe, .events = POLLIN };
	struct err sent = { 0 };
	int status, ready;
	do
		ready = poll(&wanted, 1, PROBE_MILLISECONDS);
	while (ready < 0 && errno == EINTR);
	ssize_t got = ready > 0 ? read(pipe, &sent, sizeof sent) : -1;
	if (ready <= 0)
		kill(child, SIGKILL);
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return err_set(e, errno, "the process that tried it is lost");
	if (ready <= 0)
		return err_set(e, 0, "no answer within %d seconds", PROBE_MILLISECONDS / 1000);
	if (got == sizeof sent && e)
		*e = sent;
	if (got == sizeof sent)
		return -1;
	if (WIFSIGNALED(status))
		return err_set(e, 0, "the process that tried it was killed by signal %d",
			WTERMSIG(status));
	return WEXITSTATUS(status) == 0 ? 0 : err_set(e, 0, "the process that tried it failed");
}

int probe_child(int (*act)(const void *data, struct err *e), const void *data, struct err *e)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_set(e, errno, "cannot make a pipe");
	AUTO_CLOSE int ours = ends[0];
	AUTO_CLOSE int theirs = ends[1];
	pid_t child = fork();
	if (child < 0)
		return err_set(e, errno, "cannot start a process");
	if (child == 0)
		child_try(theirs, act, data);
	fd_close(&theirs);
	return child_wait(ours, child, e);
}

/* --- namespaces ------------------------------------------------------------------------------ */

/* A user namespace of its own and whatever else `flags` say, for the calling process. */
static int enter_as(uid_t inside, int flags, struct err *e)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	if (unshare(CLONE_NEWUSER | flags) < 0) {
		err_set(e, errno, "cannot make a user namespace");
		return reason_user_namespace(e);
	}
	if (userns_map(inside, uid, inside == uid ? gid : inside, gid) < 0) {
		err_set(e, errno, "cannot map uid %u in a user namespace", inside);
		return reason_map(uid, e);
	}
	return 0;
}

static int enter(int flags, struct err *e)
{
	/* Root as another user, so that only probe_root_map is about what that needs. */
	return enter_as(geteuid() ? geteuid() : 1000, flags, e);
}

static int try_user_namespace(const void *data, struct err *e)
{
	(void)data;
	if (enter(CLONE_NEWNS, e) < 0)
		return -1;
	if (mount_all_private() < 0) {
		err_set(e, errno, "a user namespace can be made, but nothing be mounted in it");
		return reason_user_namespace(e);
	}
	return 0;
}

static int try_map(const void *data, struct err *e)
{
	return enter_as(*(const uid_t *)data, CLONE_NEWNS, e);
}

static int try_mounts(const void *data, struct err *e)
{
	static const struct mount_option mode[] = { { "mode", "755" }, { NULL, NULL } };
	(void)data;
	if (enter(CLONE_NEWNS, e) < 0)
		return -1;
	if (mount_all_private() < 0)
		return err_set(e, errno, "mount_setattr(2)");
	AUTO_CLOSE int made = mount_new("tmpfs", mode, MOUNT_ATTR_NOSUID);
	if (made < 0)
		return err_set(e, errno, "fsopen(2) and fsmount(2)");
	AUTO_CLOSE int copy = mount_clone(AT_FDCWD, "/");
	if (copy < 0)
		return err_set(e, errno, "open_tree(2)");
	AUTO_CLOSE int place = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (mount_restrict(copy, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID) < 0)
		return err_set(e, errno, "mount_setattr(2) on a copy");
	if (mount_attach(made, place) < 0)
		return err_set(e, errno, "move_mount(2)");
	return 0;
}

static void first_child(int pipe, int (*act)(struct err *e))
{
	struct err e = { 0 };
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	int result = act(&e);
	if (result < 0)
		fd_write_all(pipe, &e, sizeof e);
	_exit(result < 0);
}

/* The process that unshares stays outside; its first child is the namespace's pid 1. */
static int in_new_process(int (*act)(struct err *e), struct err *e)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_set(e, errno, "cannot make a pipe");
	AUTO_CLOSE int ours = ends[0];
	AUTO_CLOSE int theirs = ends[1];
	pid_t child = fork();
	if (child < 0) {
		err_set(e, errno, "cannot start a process in a process namespace");
		return reason_user_namespace(e);
	}
	if (child == 0)
		first_child(theirs, act);
	fd_close(&theirs);
	return child_wait(ours, child, e);
}

static int is_first(struct err *e)
{
	return getpid() == 1 ? 0 : err_set(e, 0, "the process namespace has no pid 1");
}

static int proc_new(struct err *e)
{
	AUTO_CLOSE int proc = mount_new("proc", NULL, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
	if (proc >= 0)
		return 0;
	err_set(e, errno, "cannot mount a fresh /proc");
	return reason_proc(e);
}

static int try_process_namespace(const void *data, struct err *e)
{
	(void)data;
	return enter(CLONE_NEWPID, e) < 0 ? -1 : in_new_process(is_first, e);
}

static int try_fresh_proc(const void *data, struct err *e)
{
	(void)data;
	return enter(CLONE_NEWPID | CLONE_NEWNS, e) < 0 ? -1 : in_new_process(proc_new, e);
}

int probe_user_namespace(struct err *e)
{
	return probe_child(try_user_namespace, NULL, e);
}

int probe_root_map(struct err *e)
{
	return probe_child(try_map, &(const uid_t){ 0 }, e);
}

int probe_user_map(struct err *e)
{
	return probe_child(try_map, &(const uid_t){ 1000 }, e);
}

int probe_mounts(struct err *e)
{
	return probe_child(try_mounts, NULL, e);
}

int probe_process_namespace(struct err *e)
{
	return probe_child(try_process_namespace, NULL, e);
}

int probe_fresh_proc(struct err *e)
{
	return probe_child(try_fresh_proc, NULL, e);
}

/* --- overlay --------------------------------------------------------------------------------- */

struct overlay_place {
	char lower[256];
	char upper[256];
	char work[256];
};

static int overlay_mount(const struct overlay_place *place, struct err *e)
{
	const struct mount_option options[] = { { "lowerdir", place->lower },
		{ "upperdir", place->upper }, { "workdir", place->work }, { "userxattr", NULL },
		{ NULL, NULL } };
	int overlay = mount_new("overlay", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	if (overlay < 0)
		err_set(e, errno, "cannot mount an overlay in a user namespace");
	return overlay;
}

/* Replace a directory of the lower layer: the new one must hide what was in the old. */
static int try_overlay(const void *data, struct err *e)
{
	const struct overlay_place *place = data;
	if (enter(CLONE_NEWNS, e) < 0)
		return -1;
	AUTO_CLOSE int overlay = overlay_mount(place, e);
	if (overlay < 0)
		return -1;
	if (unlinkat(overlay, "d/f", 0) < 0 || unlinkat(overlay, "d", AT_REMOVEDIR) < 0 ||
		mkdirat(overlay, "d", 0755) < 0)
		return err_set(e, errno, "an overlay on this file system cannot delete");
	if (faccessat(overlay, "d/f", F_OK, 0) == 0)
		return err_set(
			e, 0, "an overlay on this file system does not keep what was deleted");
	return 0;
}

static int overlay_fill(int base)
{
	if (mkdirat(base, "lower", 0755) < 0 || mkdirat(base, "upper", 0755) < 0 ||
		mkdirat(base, "work", 0755) < 0 || mkdirat(base, "lower/d", 0755) < 0)
		return -1;
	AUTO_CLOSE int file =
		openat(base, "lower/d/f", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	return file < 0 ? -1 : 0;
}

int probe_overlay(const char *directory, struct err *e)
{
	struct overlay_place place;
	char name[] = "overlay-probe";
	int result = -1;
	AUTO_CLOSE int parent = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (parent < 0 || mkdirat(parent, name, 0700) < 0)
		return err_set(e, errno, "cannot make a directory in %s", directory);
	AUTO_CLOSE int base = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	snprintf(place.lower, sizeof place.lower, "%s/%s/lower", directory, name);
	snprintf(place.upper, sizeof place.upper, "%s/%s/upper", directory, name);
	snprintf(place.work, sizeof place.work, "%s/%s/work", directory, name);
	if (base < 0 || overlay_fill(base) < 0)
		err_set(e, errno, "cannot write in %s", directory);
	else
		result = probe_child(try_overlay, &place, e);
	tree_remove_at(parent, name, NULL);
	return result;
}

/* --- Landlock, seccomp ----------------------------------------------------------------------- */

static int abstract_address(struct sockaddr_un *ret_address, socklen_t *ret_length)
{
	*ret_address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	int length = snprintf(ret_address->sun_path + 1, sizeof ret_address->sun_path - 1,
		"hutch-probe-%d-%llu", getpid(), (unsigned long long)clock_milliseconds());
	*ret_length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
	return length;
}

struct abstract {
	struct sockaddr_un address;
	socklen_t length;
};

static int try_abstract_scope(const void *data, struct err *e)
{
	const struct abstract *abstract = data;
	AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || landlock_scope() < 0)
		return err_set(e, errno, "Landlock refuses its scopes");
	if (connect(fd, (const struct sockaddr *)&abstract->address, abstract->length) == 0)
		return err_set(e, 0, "Landlock here (ABI %d) does not fence abstract sockets",
			landlock_abi());
	return errno == EPERM ? 0 : err_set(e, errno, "cannot connect to an abstract socket");
}

int probe_abstract_scope(struct err *e)
{
	struct abstract abstract;
	AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	abstract_address(&abstract.address, &abstract.length);
	if (fd < 0 || bind(fd, (struct sockaddr *)&abstract.address, abstract.length) < 0 ||
		listen(fd, 1) < 0)
		return err_set(e, errno, "cannot make an abstract socket");
	return probe_child(try_abstract_scope, &abstract, e);
}

static int try_landlock(const void *data, struct err *e)
{
	AUTO_CLOSE int ruleset = -1;
	(void)data;
	if (landlock_abi() < 1)
		return err_set(e, errno, "this kernel has no Landlock, or it is not switched on");
	if (landlock_create(landlock_fs_rights(landlock_abi()), 0, 0, &ruleset, e) < 0)
		return -1;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || landlock_restrict(ruleset, 0, e) < 0)
		return err_set(e, errno, "Landlock refuses a ruleset");
	AUTO_CLOSE int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? 0 : err_set(e, 0, "Landlock does not enforce its rules");
}

int probe_landlock(struct err *e)
{
	return probe_child(try_landlock, NULL, e);
}

static int try_seccomp(const void *data, struct err *e)
{
	struct sock_filter filter[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	struct sock_fprog program = { .len = 1, .filter = filter };
	(void)data;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_set(e, errno, "cannot set no_new_privs");
	long listener = syscall(
		SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
	return listener >= 0 ? 0 : err_set(e, errno, "cannot install a seccomp filter");
}

int probe_seccomp(struct err *e)
{
	return probe_child(try_seccomp, NULL, e);
}

/* --- limits ---------------------------------------------------------------------------------- */

static void wait_for_kill(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

/* How many of `most` children can be started; none of them is left. */
static int children_possible(int most)
{
	pid_t child[8];
	int count = 0;
	while (count < most && (child[count] = fork()) >= 0) {
		if (child[count] == 0)
			wait_for_kill();
		count++;
	}
	for (int i = 0; i < count; i++) {
		kill(child[i], SIGKILL);
		waitpid(child[i], NULL, 0);
	}
	return count;
}

/* Two may exist: this process and one more. */
static int try_task_limit(const void *data, struct err *e)
{
	const struct rlimit two = { 2, 2 };
	(void)data;
	if (enter(0, e) < 0)
		return -1;
	if (setrlimit(RLIMIT_NPROC, &two) < 0)
		return err_set(e, errno, "cannot set RLIMIT_NPROC");
	int possible = children_possible(3);
	if (possible == 1)
		return 0;
	return err_set(e, 0,
		possible ? "the kernel does not count the tasks of this user"
			 : "the kernel counts the user's tasks outside too");
}

int probe_task_limit(struct err *e)
{
	return probe_child(try_task_limit, NULL, e);
}

int probe_cgroup(bool memory, int *ret_version, struct err *e)
{
	struct cgroup group;
	if (cgroup_make(memory ? CGROUP_MEMORY : CGROUP_PIDS, &group, e) < 0)
		return -1;
	int result = cgroup_limit(&group, memory ? UINT64_C(1) << 30 : 1000, e);
	*ret_version = group.version;
	cgroup_close(&group);
	return result;
}

/* --- a whole plan ---------------------------------------------------------------------------- */

/* Handle one message; true when the box has said its last word. */
static bool box_listen(const struct box *box, int *ret_code, int *ret_result, struct err *e)
{
	struct message message;
	int got = message_receive(box->channel, FROM_INIT, &message);
	*ret_result = -1;
	if (got <= 0) {
		err_set(e, got < 0 ? errno : 0, "the sandbox ended without a word");
		return true;
	}
	fd_close(&message.fd);
	if (message.kind == MESSAGE_READY && message_send(box->channel, MESSAGE_GO, 0, -1) == 0)
		return false;
	if (message.kind == MESSAGE_ERROR && e)
		*e = message.err;
	if (message.kind == MESSAGE_EXITED) {
		*ret_code = message.number;
		*ret_result = 0;
	} else if (message.kind != MESSAGE_ERROR) {
		err_set(e, 0, "the sandbox did not start its command");
	}
	return true;
}

int probe_plan(const struct engine *engine, const struct plan *plan, uint64_t most, int *ret_code,
	struct err *e)
{
	struct start start = { .timeout_ms = most, .keep = -1 };
	uint64_t deadline = clock_milliseconds() + most;
	struct box box;
	int result = -1;
	sigprocmask(SIG_BLOCK, NULL, &start.blocked);
	if (engine->start(plan, &start, &box, e) < 0)
		return -1;
	for (;;) {
		struct pollfd wanted = { .fd = box.channel, .events = POLLIN };
		uint64_t now = clock_milliseconds();
		int ready = now < deadline ? poll(&wanted, 1, (int)(deadline - now)) : 0;
		if (ready < 0 && errno == EINTR)
			continue;
		if (ready <= 0) {
			err_set(e, 0, "the sandbox was not done after %u ms", (unsigned)most);
			break;
		}
		if (box_listen(&box, ret_code, &result, e))
			break;
	}
	fd_close(&box.channel);
	kill(box.pid, SIGKILL); /* ours and not waited for: the number is its own */
	fd_close(&box.pidfd);
	while (waitpid(box.pid, NULL, 0) < 0 && errno == EINTR)
		;
	return result;
}
