/* SPDX-License-Identifier: MIT */
/* What a confined child cannot do: each work function tries one thing and answers what came of it.
 */
#include "kernel/confined.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/unit/test.h"

#ifdef __has_feature
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

static int report(struct text *answer, bool refused)
{
	text_add(answer, refused ? "refused" : "done");
	return 0;
}

static int echo(const void *input, struct text *answer, struct err *e)
{
	(void)e;
	text_add(answer, input);
	return 0;
}

static int say_nothing(const void *input, struct text *answer, struct err *e)
{
	(void)input, (void)answer, (void)e;
	return 0;
}

static int fail(const void *input, struct text *answer, struct err *e)
{
	(void)answer;
	err_set(e, 0, "no %s", (const char *)input);
	return err_hint(e, "a hint");
}

static int open_file(const void *input, struct text *answer, struct err *e)
{
	(void)e;
	return report(answer, open(input, O_RDONLY) < 0);
}

static int open_socket(const void *input, struct text *answer, struct err *e)
{
	(void)input, (void)e;
	return report(answer, socket(AF_UNIX, SOCK_STREAM, 0) < 0);
}

static int start_process(const void *input, struct text *answer, struct err *e)
{
	(void)input, (void)e;
	return report(answer, syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) < 0);
}

static int signal_parent(const void *input, struct text *answer, struct err *e)
{
	(void)e;
	return report(answer, syscall(SYS_kill, *(const pid_t *)input, 0) < 0);
}

static int write_elsewhere(const void *input, struct text *answer, struct err *e)
{
	(void)input, (void)e;
	return report(answer, write(STDERR_FILENO, "x", 1) < 0 && write(STDOUT_FILENO, "x", 1) < 0);
}

static int make_code(const void *input, struct text *answer, struct err *e)
{
	(void)input, (void)e;
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool refused =
		page != MAP_FAILED && mprotect(page, 4096, PROT_READ | PROT_EXEC) < 0 &&
		mmap(NULL, 4096, PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED;
	return report(answer, refused);
}

static int take_memory(const void *input, struct text *answer, struct err *e)
{
	(void)input, (void)e;
	return report(answer, mmap(NULL, (size_t)1 << 30, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
}

static int crash(const void *input, struct text *answer, struct err *e)
{
	(void)input, (void)answer, (void)e;
	_exit(3);
}

static int talk(const void *input, struct text *answer, struct err *e)
{
	(void)input, (void)e;
	for (int i = 0; i < 10000; i++)
		text_add(answer, "0123456789");
	return 0;
}

static int never_end(const void *input, struct text *answer, struct err *e)
{
	(void)input, (void)answer, (void)e;
	for (volatile bool ended = false; !ended;)
		;
	return 0;
}

static void answers(confined_work *work, const void *input, const char *want, const char *name)
{
	struct err e = { 0 };
	AUTO_TEXT answer = { 0 };
	if (confined_call(work, input, 4096, "test", &answer, &e) < 0)
		printf("# %s\n", e.text);
	check_string(answer.data ? answer.data : "", want, name);
}

static void fails(confined_work *work, const void *input, const char *want, const char *name)
{
	struct err e = { 0 };
	AUTO_TEXT answer = { 0 };
	check(confined_call(work, input, 4096, "test", &answer, &e) < 0 && strstr(e.text, want) &&
			answer.length == 0,
		name);
}

int main(void)
{
	pid_t self = getpid();
	setvbuf(stdout, NULL, _IOLBF, 0);
	answers(echo, "hello", "hello", "an answer comes back");
	answers(say_nothing, NULL, "", "an empty answer comes back");
	fails(fail, "luck", "no luck", "an error comes back");
	answers(open_file, "/etc/passwd", "refused", "no file");
	answers(open_socket, NULL, "refused", "no socket");
	answers(start_process, NULL, "refused", "no process");
	answers(signal_parent, &self, "refused", "no signal");
	answers(write_elsewhere, NULL, "refused", "no other descriptor");
	answers(make_code, NULL, "refused", "no new code");
#ifndef __SANITIZE_ADDRESS__
	answers(take_memory, NULL, "refused", "no gibibyte of memory");
#else
	(void)take_memory; /* the sanitizer itself needs more */
#endif
	fails(crash, NULL, "ended without an answer", "a child that ends");
	fails(talk, NULL, "too large", "an answer past its limit");
	fails(never_end, NULL, "", "a child that never ends");
	signal(SIGCHLD, SIG_IGN);
	answers(echo, "again", "again", "where SIGCHLD is ignored");
	return test_done();
}
