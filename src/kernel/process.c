/* SPDX-License-Identifier: MIT */
#include "kernel/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int process_guard_stdio(void)
{
	for (int fd = 0; fd < 3; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		/* The lowest free number is `fd`. */
		if (open("/dev/null", (fd ? O_WRONLY : O_RDONLY) | O_CLOEXEC) < 0)
			return -1;
	}
	return 0;
}

static void limit_noticed(int signal)
{
	(void)signal;
}

void process_catch_limits(void)
{
	struct sigaction now;
	if (sigaction(SIGXFSZ, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
		sigaction(SIGXFSZ, &(struct sigaction){ .sa_handler = limit_noticed }, NULL);
}

int process_signal(int pidfd, int signal)
{
	return syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0) < 0 ? -1 : 0;
}

int process_wait(int pidfd, int *ret_signal)
{
	siginfo_t information = { 0 };
	int result;
	do
		result = waitid((idtype_t)P_PIDFD, (id_t)pidfd, &information, WEXITED);
	while (result < 0 && errno == EINTR);
	if (result < 0)
		return -1;
	bool exited = information.si_code == CLD_EXITED;
	if (ret_signal)
		*ret_signal = exited ? 0 : information.si_status;
	return exited ? information.si_status : 128 + information.si_status;
}

int process_exit_code(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* A copy of argv after `before` free places, mapped, so that a vforked child may make one. */
static char **words_copy(char *const *argv, size_t before)
{
	size_t count = 0;
	while (argv[count])
		count++;
	char **words = mmap(NULL, (before + count + 1) * sizeof *words, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (words == MAP_FAILED)
		return NULL;
	memcpy(words + before, argv, count * sizeof *words);
	return words;
}

/* A text file without #! is a shell script to every shell and to execvp. */
static int shell_execute(const char *path, char *const *argv, char *const *environment)
{
	char **words = words_copy(argv, 1);
	if (!words)
		return -1;
	words[0] = (char *)"sh";
	words[1] = (char *)path;
	execve("/bin/sh", words, environment);
	errno = ENOEXEC; /* of the file, which is what the user named */
	return -1;
}

static int path_execute(
	const char *path, char *const *argv, char *const *environment, struct execution *execution)
{
	execve(path, argv, environment);
	if (errno == ENOEXEC)
		shell_execute(path, argv, environment);
	int number = errno;
	if (faccessat(AT_FDCWD, path, F_OK, 0) == 0)
		strncpy(execution->path, path, sizeof execution->path - 1);
	errno = number;
	return -1;
}

/* Is the search to go on with the next directory? */
static bool is_elsewhere(int number)
{
	return number == ENOENT || number == ENOTDIR || number == EACCES || number == ESTALE ||
	       number == ENODEV || number == ETIMEDOUT;
}

/* DIRECTORY/file; an empty directory is the current one. */
static bool path_compose(char *ret_path, const char *directory, size_t length, const char *file)
{
	size_t name = strlen(file);
	if (length + name + 2 > PATH_MAX)
		return false;
	memcpy(ret_path, directory, length);
	if (length)
		ret_path[length++] = '/';
	memcpy(ret_path + length, file, name + 1);
	return true;
}

int process_execute(const char *argv0, char *const *argv, char *const *environment,
	const char *search, struct execution *ret_execution)
{
	const char *file = argv[0];
	memset(ret_execution->path, 0, sizeof ret_execution->path);
	if (argv0) {
		char **words = words_copy(argv, 0);
		if (!words)
			return -1;
		words[0] = (char *)argv0;
		argv = words;
	}
	if (!*file) {
		errno = ENOENT;
		return -1;
	}
	if (strchr(file, '/'))
		return path_execute(file, argv, environment, ret_execution);

	char path[PATH_MAX];
	int found = ENOENT;
	for (const char *next = search ? search : "/usr/local/bin:/usr/bin:/bin"; next;) {
		size_t length = strcspn(next, ":");
		if (path_compose(path, next, length, file)) {
			path_execute(path, argv, environment, ret_execution);
			if (!is_elsewhere(errno))
				return -1;
			if (errno == EACCES)
				found = EACCES;
		}
		next = next[length] ? next + length + 1 : NULL;
	}
	errno = found;
	return -1;
}
