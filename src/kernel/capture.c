/* SPDX-License-Identifier: MIT */
#include "kernel/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdnoreturn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "kernel/process.h"

static noreturn void program_run(
	const char *file, char *const *arguments, char *const *variables, int output)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null >= 0 && dup2(null, 0) == 0 && dup2(output, 1) == 1 && dup2(null, 2) == 2)
		execve(file, arguments, variables);
	_exit(EXIT_NOT_FOUND);
}

/* 0 at the end of the output, or -1 with a sentence. */
static int output_read(int fd, uint64_t deadline, size_t limit, struct text *output, struct err *e)
{
	char piece[4096];
	for (;;) {
		uint64_t now = clock_milliseconds();
		struct pollfd wanted = { .fd = fd, .events = POLLIN };
		int ready = now < deadline ? poll(&wanted, 1, (int)(deadline - now)) : 0;
		if (ready < 0 && errno == EINTR)
			continue;
		if (ready <= 0)
			return err_set(e, ETIMEDOUT, "no answer");
		ssize_t got = read(fd, piece, sizeof piece);
		if (got < 0)
			return err_set(e, errno, "cannot read the answer");
		if (got == 0)
			return 0;
		text_add_bytes(output, piece, (size_t)got);
		if (output->length > limit)
			return err_set(e, EFBIG, "the answer is too long");
	}
}

int capture_run(const char *file, char *const *arguments, char *const *variables,
	uint64_t milliseconds, size_t limit, struct text *ret_output, int *ret_code, struct err *e)
{
	int pair[2], status;
	if (pipe2(pair, O_CLOEXEC) < 0)
		return err_set(e, errno, "cannot make a pipe");
	AUTO_CLOSE int ours = pair[0];
	AUTO_CLOSE int theirs = pair[1];
	pid_t pid = fork();
	if (pid < 0)
		return err_set(e, errno, "cannot start %s", file);
	if (pid == 0)
		program_run(file, arguments, variables, theirs);
	fd_close(&theirs);
	int result = output_read(ours, clock_milliseconds() + milliseconds, limit, ret_output, e);
	if (result < 0) {
		kill(pid, SIGKILL);
		err_prefix(e, "%s", file);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return err_set(e, errno, "cannot wait for %s", file);
	*ret_code = process_exit_code(status);
	return result;
}
