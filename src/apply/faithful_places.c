/* SPDX-License-Identifier: MIT */
#include "apply/faithful_places.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "kernel/lookup.h"

int place_find(const struct faithful *f, const char *path, int flags)
{
	return lookup_in_root(f->root, path, flags);
}

/* Parents are not more open than what is made in them: an operation that gives no permissions at all
 * counts as one that gives group and others none. */
static mode_t parent_mode(const struct op *op)
{
	mode_t mode = 0755;
	if (!(op->perms & 0070))
		mode &= ~(mode_t)0070;
	if (!(op->perms & 0007))
		mode &= ~(mode_t)0007;
	return mode;
}

const char *place_inside(const char *target)
{
	return target + strspn(target, "/");
}

/* The length of a path without its last component, and without slashes at either's end. */
static size_t parent_length(const char *path, size_t length)
{
	while (length > 0 && path[length - 1] == '/')
		length--;
	while (length > 0 && path[length - 1] != '/')
		length--;
	while (length > 0 && path[length - 1] == '/')
		length--;
	return length;
}

/* The last component without slashes behind it. */
static int last_copy(const char *path, char ret_name[NAME_MAX + 1])
{
	size_t end = strlen(path);
	while (end > 0 && path[end - 1] == '/')
		end--;
	size_t start = end;
	while (start > 0 && path[start - 1] != '/')
		start--;
	if (end - start > NAME_MAX) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(ret_name, path + start, end - start);
	ret_name[end - start] = '\0';
	return 0;
}

/* Open the first `length` bytes of `path` as a directory, made with its parents if missing. */
static int directory_open(const struct faithful *f, const char *path, size_t length, mode_t mode)
{
	char text[PATH_MAX];
	if (length >= sizeof text) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(text, path, length);
	text[length] = '\0';
	int fd = place_find(f, length ? text : "/", O_PATH | O_DIRECTORY);
	if (fd >= 0 || errno != ENOENT || length == 0)
		return fd;
	AUTO_CLOSE int parent = directory_open(f, text, parent_length(text, length), mode);
	char name[NAME_MAX + 1];
	if (parent < 0 || last_copy(text, name) < 0 ||
		(mkdirat(parent, name, mode) < 0 && errno != EEXIST))
		return -1;
	/* From the root, not from the parent: the name may be "..". */
	return place_find(f, text, O_PATH | O_DIRECTORY);
}

static int parents_open(const struct faithful *f, const struct op *op, struct err *e)
{
	size_t length = parent_length(op->target, strlen(op->target));
	int fd = directory_open(f, op->target, length, parent_mode(op));
	if (fd < 0)
		return err_set(e, errno, "Can't mkdir parents for %s", op->target);
	return fd;
}

int place_parent(
	const struct faithful *f, const struct op *op, char ret_name[NAME_MAX + 1], struct err *e)
{
	if (last_copy(op->target, ret_name) < 0)
		return err_set(e, errno, "Can't mkdir parents for %s", op->target);
	return parents_open(f, op, e);
}

int place_directory(const struct faithful *f, const struct op *op, mode_t perms, struct err *e)
{
	int there = place_find(f, op->target, O_PATH | O_DIRECTORY);
	if (there >= 0)
		return there;
	int number = errno;
	char name[NAME_MAX + 1];
	AUTO_CLOSE int parent = place_parent(f, op, name, e);
	if (parent < 0)
		return -1;
	if (number != ENOENT)
		return err_set(e, number, "Can't mkdir %s", op->target);
	int fd = -1;
	if (mkdirat(parent, name, perms) == 0 || errno == EEXIST)
		fd = place_find(f, op->target, O_PATH | O_DIRECTORY);
	return fd < 0 ? err_set(e, errno, "Can't mkdir %s", op->target) : fd;
}

int place_file(const struct faithful *f, const struct op *op, struct err *e)
{
	struct stat info;
	AUTO_CLOSE int there = place_find(f, op->target, O_PATH);
	if (there >= 0 && fstat(there, &info) == 0 && S_ISDIR(info.st_mode))
		return err_set(e, EISDIR, "Can't create file at %s", op->target);
	if (there >= 0)
		return take_fd(&there);
	int number = errno;
	char name[NAME_MAX + 1];
	AUTO_CLOSE int parent = place_parent(f, op, name, e);
	if (parent < 0)
		return -1;
	if (number != ENOENT)
		return err_set(e, number, "Can't create file at %s", op->target);
	int fd = -1;
	if (mknodat(parent, name, S_IFREG | 0444, 0) == 0 || errno == EEXIST)
		fd = openat(parent, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? err_set(e, errno, "Can't create file at %s", op->target) : fd;
}

int place_written(const struct faithful *f, const struct op *op, struct err *e)
{
	int fd = place_find(f, op->target, O_WRONLY | O_TRUNC | O_NOCTTY);
	if (fd >= 0)
		return fd;
	int number = errno;
	char name[NAME_MAX + 1];
	AUTO_CLOSE int parent = place_parent(f, op, name, e);
	if (parent < 0)
		return -1;
	if (number != ENOENT)
		return err_set(e, number, "Can't create file %s", op->target);
	fd = openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, op->perms);
	return fd < 0 ? err_set(e, errno, "Can't create file %s", op->target) : fd;
}

void place_covered(struct faithful *f, int *mount, const char *target)
{
	if (target[strspn(target, "/")] != '\0')
		return;
	close(f->root);
	f->root = take_fd(mount);
}
