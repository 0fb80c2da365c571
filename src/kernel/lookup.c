/* SPDX-License-Identifier: MIT */
#include "kernel/lookup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"

enum { LINKS_MOST = 40 }; /* as many as the kernel follows */

static int open_how(int directory, const char *path, int flags, unsigned resolve)
{
	struct open_how how = { .flags = (unsigned)(flags | O_CLOEXEC), .resolve = resolve };
	int fd, tries = 0;
	/* EAGAIN: a rename elsewhere made the kernel unsure that the lookup stayed inside. */
	do
		fd = (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
	while (fd < 0 && errno == EAGAIN && ++tries < 64);
	return fd;
}

int lookup_in_root(int root, const char *path, int flags)
{
	return open_how(root, path, flags, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
}

int lookup_plain_in_root(int root, const char *path, int flags)
{
	return open_how(
		root, path, flags, RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
}

int lookup_plain(const char *path, int flags)
{
	return open_how(AT_FDCWD, path, flags, RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
}

int lookup_beneath(int directory, const char *path, int flags)
{
	return open_how(directory, path, flags,
		RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
}

struct walk {
	lookup_follows *follows;
	const void *data;
	int at; /* the directory that is reached */
	unsigned links;
	char rest[PATH_MAX]; /* what of the path is still to go */
};

/* `link` lies at walk->at: what is to go begins with its text. */
static int walk_link(struct walk *walk, int link)
{
	char text[PATH_MAX];
	ssize_t length = readlinkat(link, "", text, sizeof text - 1);
	size_t rest = strlen(walk->rest);
	if (length < 0)
		return -1;
	if (!walk->follows(walk->at, walk->data) || ++walk->links > LINKS_MOST) {
		errno = ELOOP;
		return -1;
	}
	if ((size_t)length + 1 + rest >= sizeof walk->rest) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memmove(walk->rest + length + 1, walk->rest, rest + 1);
	memcpy(walk->rest, text, (size_t)length);
	walk->rest[length] = '/';
	if (text[0] != '/')
		return 0;
	fd_close(&walk->at);
	walk->at = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return walk->at < 0 ? -1 : 0;
}

/* Cut the next component off; false at the end. */
static bool walk_next(struct walk *walk, char ret_name[NAME_MAX + 2])
{
	const char *name = walk->rest + strspn(walk->rest, "/");
	size_t length = strcspn(name, "/");
	size_t kept = length <= NAME_MAX ? length : NAME_MAX + 1; /* too long for the kernel, too */
	memcpy(ret_name, name, kept);
	ret_name[kept] = '\0';
	memmove(walk->rest, name + length, strlen(name + length) + 1);
	return length > 0;
}

/* Walk to the end. What is there; -1 with errno. walk->at is where it lies, or itself. */
static int walk_end(struct walk *walk)
{
	char name[NAME_MAX + 2];
	struct stat info;
	while (walk_next(walk, name)) {
		AUTO_CLOSE int found = openat(walk->at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (found < 0 || fstat(found, &info) < 0)
			return -1;
		if (S_ISLNK(info.st_mode)) {
			if (walk_link(walk, found) < 0)
				return -1;
		} else if (S_ISDIR(info.st_mode)) {
			fd_close(&walk->at);
			walk->at = take_fd(&found);
		} else if (walk->rest[strspn(walk->rest, "/")]) {
			errno = ENOTDIR;
			return -1;
		} else {
			return take_fd(&found);
		}
	}
	return fcntl(walk->at, F_DUPFD_CLOEXEC, 0);
}

int lookup_through(const char *path, lookup_follows *follows, const void *data, int *ret_directory)
{
	struct walk walk = { .follows = follows, .data = data };
	if (strlen(path) >= sizeof walk.rest) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(walk.rest, path);
	walk.at = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = walk.at < 0 ? -1 : walk_end(&walk);
	if (fd >= 0 && ret_directory)
		*ret_directory = take_fd(&walk.at);
	fd_close(&walk.at);
	return fd;
}

bool lookup_is_of_others(int directory)
{
	struct stat info;
	return fstat(directory, &info) == 0 && info.st_uid != geteuid() &&
	       faccessat(directory, ".", W_OK, AT_EACCESS) < 0;
}

int lookup_path(int fd, char *ret_path, size_t size)
{
	char link[32];
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t length = readlink(link, ret_path, size - 1);
	ret_path[length < 0 ? 0 : length] = '\0';
	return (int)length;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

int lookup_is_below(int directory, int above)
{
	struct stat wanted, here, before;
	AUTO_CLOSE int at = fcntl(directory, F_DUPFD_CLOEXEC, 0);
	if (fstat(above, &wanted) < 0 || at < 0 || fstat(at, &here) < 0)
		return -1;
	do {
		if (is_same(&here, &wanted))
			return 1;
		int up = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		fd_close(&at);
		at = up;
		before = here;
		if (at < 0 || fstat(at, &here) < 0)
			return -1;
	} while (!is_same(&here, &before));
	return 0;
}
