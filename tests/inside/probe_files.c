/* SPDX-License-Identifier: MIT */
/* Reaching files of the host: by names, links, handles. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "probe.h"

static void try_path(const char *way, const char *path)
{
	struct stat status;
	int fd = open(path, O_PATH | O_CLOEXEC);
	if (fd >= 0 || stat(path, &status) == 0 || access(path, F_OK) == 0)
		escaped("%s: %s", way, path);
	if (fd >= 0)
		close(fd);
}

static const char *wanted; /* absolute */

static void try_process(const char *directory, const char *name)
{
	static const char *const links[] = { "root", "cwd/../../../../../../../../.." };
	char path[PATH_MAX];
	if (!is_number(name) && strcmp(name, "self") != 0 && strcmp(name, "thread-self") != 0)
		return;
	for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
		snprintf(path, sizeof path, "%s/%s/%s%s", directory, name, links[i], wanted);
		try_path("by /proc", path);
	}
}

/* Upwards from `start`, as far as it goes. */
static void try_upwards(const char *start)
{
	int at = open(start, O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; at >= 0 && i < 64; i++) {
		if (faccessat(at, wanted + 1, F_OK, 0) == 0) {
			escaped("%d levels up from %s: %s", i, start, wanted);
			break;
		}
		int next = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		close(at);
		at = next;
	}
	if (at >= 0)
		close(at);
}

/* Call `visit` for the target of each mount. */
static void mounts_each(void (*visit)(const char *target))
{
	char line[8192], target[PATH_MAX];
	FILE *file = fopen("/proc/self/mountinfo", "re");
	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "%*s %*s %*s %*s %4095s", target) == 1)
			visit(target);
	if (file)
		fclose(file);
}

void verb_files(char **arguments)
{
	for (; *arguments; arguments++) {
		wanted = *arguments;
		try_path("by name", wanted);
		directory_each("/proc", try_process);
		mounts_each(try_upwards);
		try_upwards(".");
		try_upwards("/proc/self/cwd");
		try_upwards("/proc/self/fd/0");
		try_upwards("/dev/fd");
	}
}

/* ---- Handles ---- */

struct handle {
	struct file_handle head;
	unsigned char bytes[128];
};

static void try_handle(const char *what, int mount, struct handle *handle)
{
	int fd = open_by_handle_at(mount, &handle->head, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fd = open_by_handle_at(mount, &handle->head, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return;
	escaped("opened %s by its handle", what);
	close(fd);
}

static char *const *handles_given;

static void handle_parse(const char *text, struct handle *ret_handle)
{
	char *rest;
	*ret_handle = (struct handle){ .head.handle_type = (int)strtol(text, &rest, 10) };
	for (rest++; rest[0] && rest[1] && ret_handle->head.handle_bytes < 128; rest += 2) {
		unsigned byte;
		sscanf(rest, "%2x", &byte);
		ret_handle->bytes[ret_handle->head.handle_bytes++] = (unsigned char)byte;
	}
}

static void handles_below(const char *target)
{
	int mount = open(target, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct handle handle;
	if (mount < 0)
		return;
	for (char *const *text = handles_given; *text; text++) {
		handle_parse(*text, &handle);
		try_handle(*text, mount, &handle);
	}
	/* The root of most disk file systems: an inode number of 32 bits, a generation of 0. */
	for (unsigned inode = 2; inode < 300; inode += inode == 2 ? 126 : 128) {
		handle = (struct handle){ .head = { .handle_bytes = 8, .handle_type = 1 } };
		memcpy(handle.bytes, &inode, sizeof inode);
		try_handle("a root inode", mount, &handle);
	}
	close(mount);
}

/* Linux 6.14 gave handles to processes (pidfs), 6.18 to namespaces: numbers that can be guessed. */
static void handles_of_processes(void)
{
	enum { PIDFS_ROOT = -10002, TRIES = 20000 };
	struct handle own = { .head.handle_bytes = 128 };
	int mount, pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (pidfd < 0 || name_to_handle_at(pidfd, "", &own.head, &mount, AT_EMPTY_PATH) < 0)
		return;
	unsigned long long number;
	memcpy(&number, own.bytes, sizeof number);
	for (unsigned long long back = 1; back < TRIES && back < number; back++) {
		unsigned long long guess = number - back;
		memcpy(own.bytes, &guess, sizeof guess);
		int fd = open_by_handle_at(PIDFS_ROOT, &own.head, O_CLOEXEC);
		if (fd < 0)
			continue;
		char path[64], shown[32];
		snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
		snprintf(shown, sizeof shown, "NSpid:\t0");
		if (file_contains(path, "Pid:\t0") || file_contains(path, "Pid:\t-1"))
			escaped("a process of the host by handle %llu", guess);
		close(fd);
	}
}

void verb_handles(char **arguments)
{
	handles_given = arguments;
	mounts_each(handles_below);
	handles_below(".");
	handles_of_processes();
}

/* ---- Directories that move ---- */

void verb_moved(char **arguments)
{
	char path[PATH_MAX];
	if (chdir(arguments[0]) < 0) {
		escaped("cannot even begin: %s", strerror(errno));
		return;
	}
	int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	wait_for(arguments[1]);
	snprintf(path, sizeof path, "../%s", arguments[2]);
	try_path("above a directory that was moved away", path);
	if (faccessat(here, path, F_OK, 0) == 0)
		escaped("the same by a descriptor");
	snprintf(path, sizeof path, "/proc/self/cwd/../%s", arguments[2]);
	try_path("the same by /proc", path);
}

/* ---- Links ---- */

static void try_secret(const char *way, const char *path)
{
	if (file_contains(path, "the-secret-itself"))
		escaped("%s: %s", way, path);
}

static void plant(const char *target)
{
	unlink("planted");
	if (symlink(target, "planted") == 0)
		try_secret(target, "planted");
	unlink("planted");
}

void verb_links(char **arguments)
{
	static const char *const prefixes[] = { "", "/proc/self/root", "/proc/1/root",
		"../../../../../../../../../..", "/proc/self/cwd/../../../../../../../..",
		"/proc/1/cwd", "/dev/fd/../../..", "/proc/thread-self/root" };
	const char *secret = *arguments++;
	char path[PATH_MAX];
	for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
		snprintf(path, sizeof path, "%s%s", prefixes[i], secret);
		plant(path);
	}
	if (link(secret, "planted") == 0 ||
		linkat(AT_FDCWD, secret, AT_FDCWD, "planted", AT_SYMLINK_FOLLOW) == 0)
		escaped("a hard link to %s", secret);
	unlink("planted");
	for (; *arguments; arguments++) {
		try_secret("a link of the project", *arguments);
		snprintf(path, sizeof path, "%s/secret", *arguments);
		try_secret("through a link of the project", path);
	}
}

void verb_swap(char **arguments)
{
	time_t end = time(NULL) + atoi(arguments[2]);
	puts("ready");
	fflush(stdout);
	while (time(NULL) < end)
		for (int i = 0; i < 1000; i++)
			syscall(SYS_renameat2, AT_FDCWD, arguments[0], AT_FDCWD, arguments[1], 2);
}

/* ---- /etc ---- */

static char *const *etc_allowed;

static void etc_entry(const char *directory, const char *name)
{
	for (char *const *allowed = etc_allowed; *allowed; allowed++)
		if (strcmp(*allowed, name) == 0)
			return;
	escaped("%s/%s", directory, name);
}

void verb_etc(char **arguments)
{
	static const char *const never[] = { "shadow", "gshadow", "shadow-", "ssh", "machine-id",
		"sudoers", "ssl/private", "krb5.keytab", "cron.d", "systemd" };
	char path[64];
	etc_allowed = arguments;
	directory_each("/etc", etc_entry);
	for (size_t i = 0; i < sizeof never / sizeof never[0]; i++) {
		snprintf(path, sizeof path, "/etc/%s", never[i]);
		try_path("by name", path);
		snprintf(path, sizeof path, "/proc/1/root/etc/%s", never[i]);
		try_path("by pid 1", path);
	}
	try_path("another place of the same", "/var/lib/dbus/machine-id");
}
