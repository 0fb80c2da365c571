/* SPDX-License-Identifier: MIT */
/* What the kernel and the host show: /proc, devices, descriptors, terminals, variables. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "probe.h"

/* ---- /proc and /sys ---- */

static void settings_try(const char *parent, const char *name)
{
	char path[PATH_MAX];
	struct stat status;
	snprintf(path, sizeof path, "%s/%s", parent, name);
	if (lstat(path, &status) < 0)
		return;
	if (S_ISDIR(status.st_mode)) {
		if (!is_number(name) || strcmp(parent, "/proc") != 0)
			directory_each(path, settings_try);
		return;
	}
	/* Whoever may, waits there for the machine to be busy; it changes nothing. */
	if (!S_ISREG(status.st_mode) || strcmp(parent, "/proc/pressure") == 0)
		return;
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0) {
		escaped("opened %s to write", path);
		close(fd);
	}
}

static void masked_entry(const char *parent, const char *name)
{
	escaped("%s/%s is there", parent, name);
}

static void masked_try(const char *name)
{
	char path[64], byte;
	snprintf(path, sizeof path, "/proc/%s", name);
	directory_each(path, masked_entry);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0 && read(fd, &byte, 1) > 0)
		escaped("%s has content", path);
	if (fd >= 0)
		close(fd);
	if (access(path, W_OK) == 0)
		escaped("%s can be written", path);
}

void verb_proc(char **arguments)
{
	static const char *const masked[] = { "sysrq-trigger", "kcore", "keys", "timer_list",
		"acpi", "scsi", "irq", "bus" };
	struct stat status;
	(void)arguments;
	for (size_t i = 0; i < sizeof masked / sizeof masked[0]; i++)
		masked_try(masked[i]);
	directory_each("/proc", settings_try); /* /proc/self is a link, processes are passed over */
	if (stat("/sys/kernel", &status) == 0 || stat("/sys/class", &status) == 0)
		escaped("/sys is there");
}

/* With nesting: what a sandbox inside the sandbox may do to the host's settings. */
void verb_nested(char **arguments)
{
	(void)arguments;
	char before[128] = "";
	int reader = open("/proc/sys/kernel/core_pattern", O_RDONLY | O_CLOEXEC);
	ssize_t length = read(reader, before, sizeof before);
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID) < 0)
		return;
	if (fork() == 0) {
		mount("proc", "/proc", "proc", 0, NULL);
		int writer = open("/proc/sys/kernel/core_pattern", O_WRONLY | O_CLOEXEC);
		bool wrote = writer >= 0 && length > 0 && write(writer, before, (size_t)length) > 0;
		mount(NULL, "/usr", NULL, MS_REMOUNT | MS_BIND, NULL);
		bool opened = open("/usr/hutch-probe", O_CREAT | O_WRONLY | O_CLOEXEC, 0600) >= 0;
		bool uncovered = umount2("/proc/sys", MNT_DETACH) == 0 ||
				 umount2("/run/hutch/nesting", MNT_DETACH) == 0 ||
				 mount("/run", "/tmp", NULL, MS_BIND, NULL) == 0;
		_exit(wrote | opened << 1 | uncovered << 2);
	}
	int status = 0;
	wait(&status);
	if (WEXITSTATUS(status) & 1)
		escaped("wrote the host's core_pattern");
	if (WEXITSTATUS(status) & 2)
		escaped("wrote to /usr");
	if (WEXITSTATUS(status) & 4)
		escaped("took a cover off");
}

/* ---- Devices ---- */

static void device_try(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return;
	escaped("opened %s", path);
	close(fd);
}

static void device_entry(const char *parent, const char *name)
{
	static const char *const known[] = { "null", "zero", "full", "random", "urandom", "tty",
		"pts", "shm", "fd", "stdin", "stdout", "stderr", "ptmx", "console" };
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (strcmp(known[i], name) == 0)
			return;
	escaped("%s/%s is there", parent, name);
}

void verb_devices(char **arguments)
{
	static const struct {
		mode_t type;
		unsigned major, minor;
	} nodes[] = { { S_IFCHR, 1, 1 }, { S_IFCHR, 1, 3 }, { S_IFBLK, 8, 0 }, { S_IFBLK, 254, 0 },
		{ S_IFCHR, 5, 1 }, { S_IFCHR, 4, 0 }, { S_IFCHR, 10, 200 }, { S_IFCHR, 10, 229 } };
	static const char *const places[] = { "/tmp", "/dev/shm", ".", "/dev" };
	char path[64];
	directory_each("/dev", device_entry);
	for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++)
		for (size_t k = 0; k < sizeof places / sizeof places[0]; k++) {
			snprintf(path, sizeof path, "%s/made-node", places[k]);
			if (mknod(path, nodes[i].type | 0666,
				    makedev(nodes[i].major, nodes[i].minor)) == 0)
				device_try(path);
			unlink(path);
		}
	for (; *arguments; arguments++)
		device_try(*arguments);
}

/* ---- Mounts of the host that come later ---- */

void verb_appear(char **arguments)
{
	struct stat status;
	wait_for(arguments[1]);
	if (stat(arguments[0], &status) == 0)
		escaped("%s appeared", arguments[0]);
}

/* ---- Descriptors ---- */

static void descriptor_entry(const char *directory, const char *name)
{
	char path[PATH_MAX], text[PATH_MAX];
	snprintf(path, sizeof path, "%s/%s", directory, name);
	ssize_t length = readlink(path, text, sizeof text - 1);
	text[length > 0 ? length : 0] = '\0';
	if (atoi(name) > 2 && strstr(text, "/fd") == NULL) /* the one that reads this directory */
		escaped("%s is %s", name, text);
}

void verb_descriptors(char **arguments)
{
	(void)arguments;
	directory_each("/proc/self/fd", descriptor_entry);
	for (int fd = 3; fd < 4096; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			escaped("%d is open", fd);
	if (faccessat(0, "..", F_OK, 0) == 0)
		escaped("0 is a directory");
}

void verb_reopen(char **arguments)
{
	static const char *const paths[] = { "/proc/self/fd/0", "/dev/stdin", "/dev/fd/0",
		"/proc/thread-self/fd/0" };
	(void)arguments;
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		int fd = open(paths[i], O_RDWR | O_CLOEXEC);
		if (fd < 0)
			fd = open(paths[i], O_WRONLY | O_APPEND | O_CLOEXEC);
		if (fd < 0)
			continue;
		escaped("opened %s to write", paths[i]);
		close(fd);
	}
	if (truncate("/proc/self/fd/0", 4096) == 0)
		escaped("truncated it");
}

/* ---- Terminals ---- */

static void inject(int fd, const char *what)
{
	static const char text[] = "echo injected\n";
	char paste[2] = { 3 }, shift[1] = { 2 };
	struct termios settings;
	for (const char *c = text; *c; c++)
		ioctl(fd, TIOCSTI, c);
	ioctl(fd, TIOCLINUX, paste);
	ioctl(fd, TIOCLINUX, shift);
	ioctl(fd, TIOCCONS, 0);
	if (tcgetattr(fd, &settings) == 0) {
		settings.c_lflag &= ~(tcflag_t)ECHO;
		tcsetattr(fd, TCSANOW, &settings);
	}
	struct winsize size = { 7, 7, 0, 0 };
	ioctl(fd, TIOCSWINSZ, &size);
	(void)what;
}

static unsigned long long terminal_device, terminal_inode;

static void terminal_try(int fd, const char *path)
{
	struct stat status;
	if (fd < 0 || fstat(fd, &status) < 0)
		return;
	if (status.st_dev == terminal_device && status.st_ino == terminal_inode)
		escaped("%s is the host's terminal", path);
	if (isatty(fd))
		inject(fd, path);
}

static void terminal_entry(const char *directory, const char *name)
{
	char path[PATH_MAX];
	snprintf(path, sizeof path, "%s/%s", directory, name);
	if (strcmp(name, "ptmx") == 0)
		return;
	int fd = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	terminal_try(fd, path);
	if (fd >= 0)
		close(fd);
}

void verb_terminal(char **arguments)
{
	static const char *const names[] = { "tty", "console", "stdin", "stdout", "stderr",
		"fd/0" };
	char path[64];
	signal(SIGTTOU, SIG_IGN);
	terminal_device = strtoull(arguments[0], NULL, 10);
	terminal_inode = strtoull(arguments[1], NULL, 10);
	for (int fd = 0; fd < 3; fd++) {
		snprintf(path, sizeof path, "descriptor %d", fd);
		terminal_try(fd, path);
	}
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		terminal_entry("/dev", names[i]);
	directory_each("/dev/pts", terminal_entry);
	if (arguments[2]) /* a terminal is wanted, and of its own */
		for (int fd = 0; fd < 3; fd++)
			if (!isatty(fd) || !ttyname(fd) ||
				strncmp(ttyname(fd), "/dev/pts/", 9) != 0)
				escaped("descriptor %d is no terminal of this sandbox", fd);
}

void verb_print(char **arguments)
{
	static char data[65536];
	int fd = open(arguments[0], O_RDONLY | O_CLOEXEC);
	ssize_t length = read(fd, data, sizeof data);
	if (length > 0 && write(1, data, (size_t)length) != length)
		escaped("cannot even begin");
	close(fd);
}

/* ---- Variables ---- */

void verb_environment(char **arguments)
{
	for (; *arguments; arguments++) {
		if (getenv(*arguments))
			escaped("%s=%s", *arguments, getenv(*arguments));
		if (file_contains("/proc/self/environ", *arguments))
			escaped("%s is in /proc/self/environ", *arguments);
		if (file_contains("/proc/1/environ", *arguments))
			escaped("%s is in /proc/1/environ", *arguments);
	}
}

/* ---- Having been there ---- */

void verb_ready(char **arguments)
{
	int fd = open(arguments[0], O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	close(fd);
	wait_for(arguments[1]);
}

void verb_reached(char **arguments)
{
	escaped("was started");
	verb_ready((char *[]){ arguments[0], (char *)"/", NULL });
}
