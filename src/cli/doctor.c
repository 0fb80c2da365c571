/* SPDX-License-Identifier: MIT */
#include "cli/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/memory.h"
#include "base/path.h"

enum { ANSWER_MILLISECONDS = 3000 };

/* --- programs -------------------------------------------------------------------------------- */

/* PATH may lead into the project, where a sandbox has written. */
static bool is_of_project(const char *file, const char *project)
{
	const char *home = getenv("HOME");
	if (!project || (home && path_is_within(home, project)))
		return false; /* no sandbox is made of the home and what is above it */
	AUTO_FREE char *real = realpath(file, NULL);
	return path_is_within(file, project) || !real || path_is_within(real, project);
}

static char *program_find(const char *name, const char *project)
{
	const char *path = getenv("PATH");
	for (const char *p = path ? path : "/usr/local/bin:/usr/bin:/bin"; *p;) {
		int length = (int)strcspn(p, ":");
		AUTO_FREE char *file = memory_format("%.*s/%s", length, p, name);
		if (*p == '/' && access(file, X_OK) == 0 && !is_of_project(file, project))
			return take_pointer(file);
		p += length + (p[length] == ':');
	}
	return NULL;
}

__attribute__((noreturn)) static void program_run(const char *file, int output)
{
	static char option[] = "--version", locale[] = "LC_ALL=C";
	char *const arguments[] = { (char *)file, option, NULL };
	const char *path = getenv("PATH"), *home = getenv("HOME");
	char *const variables[] = { locale, memory_format("PATH=%s", path ? path : ""),
		memory_format("HOME=%s", home ? home : "/"), NULL };
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (chdir("/") == 0 && dup2(null, 0) == 0 && dup2(output, 1) == 1 && dup2(null, 2) == 2)
		execve(file, arguments, variables);
	_exit(EXIT_NOT_FOUND);
}

/* Read until a line is whole, the end, or the deadline. The length, or -1. */
static ssize_t line_read(int fd, char *line, size_t size)
{
	uint64_t deadline = clock_milliseconds() + ANSWER_MILLISECONDS;
	size_t used = 0;
	while (used + 1 < size && !memchr(line, '\n', used)) {
		uint64_t now = clock_milliseconds();
		struct pollfd wanted = { .fd = fd, .events = POLLIN };
		int ready = now < deadline ? poll(&wanted, 1, (int)(deadline - now)) : 0;
		if (ready < 0 && errno == EINTR)
			continue;
		if (ready <= 0)
			return -1;
		ssize_t got = read(fd, line + used, size - 1 - used);
		if (got <= 0)
			break;
		used += (size_t)got;
	}
	line[used] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return (ssize_t)used;
}

static int program_ask(const char *file, struct text *ret_line, struct err *e)
{
	int ends[2];
	char line[200] = "";
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_set(e, errno, "cannot make a pipe");
	AUTO_CLOSE int ours = ends[0];
	AUTO_CLOSE int theirs = ends[1];
	pid_t child = fork();
	if (child < 0)
		return err_set(e, errno, "cannot start %s", file);
	if (child == 0)
		program_run(file, theirs);
	fd_close(&theirs);
	ssize_t length = line_read(ours, line, sizeof line);
	kill(child, SIGKILL);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	if (length < 0)
		return err_set(e, 0, "%s --version does not end", file);
	if (length == 0)
		return err_set(e, 0, "%s --version says nothing: it does not run here", file);
	text_add(ret_line, line);
	return 0;
}

int program_version(
	const struct place *place, const char *name, struct text *ret_line, struct err *e)
{
	AUTO_FREE char *file = program_find(name, place->project);
	if (file)
		return program_ask(file, ret_line, e);
	err_set(e, 0, "there is no %s on PATH", name);
	return err_hint(e, "apt-get install %s, or the package of your system", name);
}

/* --- others ---------------------------------------------------------------------------------- */

/* The first words of nix's protocol, 64 bits each, little-endian. */
static const uint64_t nix_hello = 0x6e697863, nix_answer = 0x6478696f;

int nix_daemon_answers(struct err *e)
{
	static const struct sockaddr_un address = { .sun_family = AF_UNIX,
		.sun_path = "/nix/var/nix/daemon-socket/socket" };
	const struct timeval wait = { .tv_sec = ANSWER_MILLISECONDS / 1000 };
	uint64_t answer = 0;
	AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait) < 0 ||
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait) < 0 ||
		connect(fd, (const struct sockaddr *)&address, sizeof address) < 0)
		return err_set(e, errno, "cannot connect to the nix daemon");
	if (send(fd, &nix_hello, sizeof nix_hello, MSG_NOSIGNAL) < 0 ||
		recv(fd, &answer, sizeof answer, MSG_WAITALL) < 0)
		return err_set(e, errno, "the nix daemon does not answer");
	if (answer != nix_answer)
		return err_set(e, 0, "the nix daemon does not answer as one");
	return 0;
}

int kvm_answers(struct err *e)
{
	AUTO_CLOSE int fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, errno, "cannot open /dev/kvm");
	if (ioctl(fd, KVM_GET_API_VERSION, 0) != KVM_API_VERSION)
		return err_set(e, 0, "/dev/kvm speaks another version of its interface");
	return 0;
}

bool stdout_is_coloured(void)
{
	const char *terminal = getenv("TERM"), *no_colour = getenv("NO_COLOR");
	return isatty(STDOUT_FILENO) && terminal && strcmp(terminal, "dumb") != 0 &&
	       (!no_colour || !*no_colour);
}

/* How much of a line to show before it is broken at a space. */
static size_t line_cut(const char *line, size_t length)
{
	enum { COLUMNS = 90 };
	if (length <= COLUMNS)
		return length;
	size_t cut = COLUMNS;
	while (cut > 0 && line[cut] != ' ')
		cut--;
	return cut ? cut : length;
}

void doctor_add_lines(struct text *out, const char *lines)
{
	while (*lines) {
		size_t length = line_cut(lines, strcspn(lines, "\n"));
		AUTO_FREE char *line = memory_format("%.*s", (int)length, lines);
		text_add(out, "         ");
		text_add_visible(out, line);
		text_add(out, "\n");
		lines += length + (lines[length] != '\0');
	}
}
