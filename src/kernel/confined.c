/* SPDX-License-Identifier: MIT */
#include "kernel/confined.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "kernel/landlock.h"

#if defined(__SANITIZE_ADDRESS__)
#define ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ADDRESS_SANITIZER 1
#endif
#endif
#ifndef ADDRESS_SANITIZER
#define ADDRESS_SANITIZER 0
#endif

#if defined(__x86_64__)
#define NATIVE_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "name the audit architecture of this machine"
#endif

/* What starts every answer; the payload follows. */
struct answer_head {
	uint32_t magic;
	uint32_t failed; /* the payload is a struct err */
	uint64_t length;
};

enum { ANSWER_MAGIC = 0x68757463 };

/* ---- The child ---- */

/* The number, then nothing else looked at: ALLOW. */
#define PERMIT(number)                                                                             \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1),                                       \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* Arguments are compared on their low 32 bits, where all of these flags and numbers are. */
#define ARGUMENT(i) (offsetof(struct seccomp_data, args) + 8 * (i))
#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (offset))

/* mmap, mprotect and mremap never make memory executable; mmap never maps a file. */
#define PERMIT_UNLESS_EXECUTABLE(number)                                                           \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 4), LOAD(ARGUMENT(2)),                    \
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0),                             \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),                                      \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

static int filter_install(int pipe)
{
	const struct sock_filter filter[] = {
		LOAD(offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE_ARCHITECTURE, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		LOAD(offsetof(struct seccomp_data, nr)),
		PERMIT(SYS_exit_group),
		PERMIT(SYS_brk),
		PERMIT(SYS_munmap),
		PERMIT(SYS_mremap),
		PERMIT(SYS_madvise),
		PERMIT(SYS_getrandom),
		PERMIT(SYS_clock_gettime),
		PERMIT_UNLESS_EXECUTABLE(SYS_mmap),
		PERMIT_UNLESS_EXECUTABLE(SYS_mprotect),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		LOAD(ARGUMENT(0)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)pipe, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	const struct sock_fprog program = {
		.len = sizeof filter / sizeof *filter,
		.filter = (struct sock_filter *)filter,
	};
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

/* Every right that the running kernel knows is handled and none is given. */
static int landlock_close(void)
{
	int abi = landlock_abi();
	AUTO_CLOSE int ruleset = -1;
	if (abi < 1)
		return 0;
	if (landlock_create(landlock_fs_rights(abi), landlock_net_rights(abi), landlock_scopes(abi),
		    &ruleset, NULL) < 0)
		return -1;
	return landlock_restrict(ruleset, 0, NULL);
}

static int limit_set(int resource, rlim_t most)
{
	const struct rlimit limit = { most, most };
	return setrlimit((__rlimit_resource_t)resource, &limit);
}

static int limits_set(void)
{
	/* The address sanitizer maps terabytes of shadow. */
	if (!ADDRESS_SANITIZER && limit_set(RLIMIT_AS, (rlim_t)512 << 20) < 0)
		return -1;
	return limit_set(RLIMIT_CPU, CONFINED_SECONDS) < 0 || limit_set(RLIMIT_FSIZE, 0) < 0 ||
			       limit_set(RLIMIT_CORE, 0) < 0 || limit_set(RLIMIT_NOFILE, 0) < 0
		       ? -1
		       : 0;
}

/* Close all but `pipe`. It is below RLIMIT_NOFILE's new value of 0, which only stops new ones. */
static int descriptors_close(int pipe)
{
	if (pipe > 0 && syscall(SYS_close_range, 0, pipe - 1, 0) < 0)
		return -1;
	return (int)syscall(SYS_close_range, pipe + 1, ~0u, 0);
}

static int child_confine(int pipe, pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		return -1;
	if (descriptors_close(pipe) < 0 || prctl(PR_SET_DUMPABLE, 0) < 0 ||
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	/* Landlock wants a descriptor of its own, so the limits come after it. */
	if (landlock_close() < 0 || limits_set() < 0)
		return -1;
	return filter_install(pipe);
}

static void answer_send(int pipe, bool failed, const void *payload, size_t length)
{
	const struct answer_head head = { ANSWER_MAGIC, failed, length };
	if (fd_write_all(pipe, &head, sizeof head) == 0)
		fd_write_all(pipe, payload, length);
}

__attribute__((noreturn)) static void child_run(
	int pipe, pid_t parent, confined_work *work, const void *input)
{
	if (child_confine(pipe, parent) < 0)
		_exit(EXIT_HUTCH);
	struct err e = { 0 };
	struct text answer = { 0 };
	bool failed = work(input, &answer, &e) < 0;
	if (failed)
		answer_send(pipe, true, &e, sizeof e);
	else
		answer_send(pipe, false, answer.data, answer.length);
	_exit(0);
}

/* ---- The parent ---- */

/* Wait for bytes until `deadline`; 0 when there is something to read, else -1 with errno. */
static int pipe_wait(int pipe, uint64_t deadline)
{
	for (;;) {
		uint64_t now = clock_milliseconds();
		struct pollfd wanted = { .fd = pipe, .events = POLLIN };
		int ready = now < deadline ? poll(&wanted, 1, (int)(deadline - now)) : 0;
		if (ready > 0)
			return 0;
		if (ready == 0)
			errno = ETIMEDOUT;
		if (ready == 0 || errno != EINTR)
			return -1;
	}
}

/* Read until the child closes its end; -1 with errno (EFBIG past `limit`). */
static int pipe_read(int pipe, size_t limit, struct text *bytes)
{
	uint64_t deadline = clock_milliseconds() + CONFINED_SECONDS * 1000;
	char chunk[16384];
	for (;;) {
		if (pipe_wait(pipe, deadline) < 0)
			return -1;
		ssize_t got = read(pipe, chunk, sizeof chunk);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return (int)got;
		if (bytes->length + (size_t)got > limit) {
			errno = EFBIG;
			return -1;
		}
		text_add_bytes(bytes, chunk, (size_t)got);
	}
}

/* At the end of the pipe the child is gone: its filter has no close. Only a late one is killed;
 * where SIGCHLD is ignored the number of a gone one may already be somebody else's. */
static void child_end(pid_t child, bool late)
{
	if (late)
		kill(child, SIGKILL);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}

/* The child filled this in; it may have been taken over, so the strings are ended here. */
static int error_receive(const void *payload, struct err *e)
{
	struct err sent;
	memcpy(&sent, payload, sizeof sent);
	sent.text[sizeof sent.text - 1] = '\0';
	sent.hint[sizeof sent.hint - 1] = '\0';
	sent.exit_code = EXIT_HUTCH;
	if (e)
		*e = sent;
	return -1;
}

static int answer_open(
	const struct text *bytes, const char *what, struct text *ret_answer, struct err *e)
{
	struct answer_head head = { 0 };
	if (bytes->length >= sizeof head)
		memcpy(&head, bytes->data, sizeof head);
	if (head.magic != ANSWER_MAGIC || head.length != bytes->length - sizeof head)
		return err_set(e, 0, "%s: the confined helper ended without an answer", what);
	const char *payload = bytes->data + sizeof head;
	if (head.failed && head.length == sizeof(struct err))
		return error_receive(payload, e);
	if (head.failed)
		return err_set(e, 0, "%s: the confined helper gave a bad answer", what);
	text_add_bytes(ret_answer, payload, head.length);
	return 0;
}

int confined_call(confined_work *work, const void *input, size_t limit, const char *what,
	struct text *ret_answer, struct err *e)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_set(e, errno, "%s: cannot make a pipe", what);
	AUTO_CLOSE int answer_end = ends[0];
	AUTO_CLOSE int child_end_of_pipe = ends[1];
	pid_t parent = getpid();
	pid_t child = fork();
	if (child < 0)
		return err_set(e, errno, "%s: cannot start a confined helper", what);
	if (child == 0)
		child_run(child_end_of_pipe, parent, work, input);
	fd_close(&child_end_of_pipe);
	AUTO_TEXT bytes = { 0 };
	size_t most = limit + sizeof(struct answer_head) + sizeof(struct err);
	int result = pipe_read(answer_end, most, &bytes);
	int number = errno;
	child_end(child, result < 0);
	if (result < 0)
		return err_set(e, number, "%s: no answer from the confined helper", what);
	return answer_open(&bytes, what, ret_answer, e);
}
