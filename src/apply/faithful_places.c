/* SPDX-License-Identifier: MIT */
#include "apply/faithful_places.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
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

/* The length of a path without its last component, and without slashes at either's end. */
static size_t parent_length(const char *path, size_t length)
{
	while (length > 1 && path[length - 1] == '/')
		length--;
	while (length > 1 && path[length - 1] != '/')
		length--;
	while (length > 1 && path[length - 1] == '/')
		length--;
	return length;
}

/* Open the first `length` bytes of `path` as a directory, made with its parents if missing. */
static int directory_open(
	const struct faithful *f, const char *path, size_t length, mode_t mode)
{
	char text[PATH_MAX];
	if (length >= sizeof text) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(text, path, length);
	text[length] = '\0';
	int fd = place_find(f, text, O_PATH | O_DIRECTORY);
	if (fd >= 0 || errno != ENOENT || length <= 1)
		return fd;
	AUTO_CLOSE int parent = directory_open(f, text, parent_length(text, length), mode);
	while (length > 1 && text[length - 1] == '/')
		text[--length] = '\0';
	const char *name = path_base(text);
	if (parent < 0 || (mkdirat(parent, name, mode) < 0 && errno != EEXIST))
		return -1;
	return openat(parent, name, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

static int parents_open(const struct faithful *f, const struct op *op, struct err *e)
{
	size_t length = parent_length(op->target, strlen(op->target));
	int fd = directory_open(f, op->target, length, parent_mode(op));
	if (fd < 0)
		return err_set(e, errno, "Can't mkdir parents for %s", op->target);
	return fd;
}

/* The last component without slashes behind it. */
static int last_copy(const char *path, char ret_name[NAME_MAX + 1])
{
	size_t end = strlen(path);
	while (end > 1 && path[end - 1] == '/')
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

int place_parent(const struct faithful *f, const struct op *op, const char **ret_name, struct err *e)
{
	*ret_name = path_base(op->target);
	return parents_open(f, op, e);
}

int place_directory(const struct faithful *f, const struct op *op, mode_t perms, struct err *e)
{
	char name[NAME_MAX + 1];
	int there = place_find(f, op->target, O_PATH | O_DIRECTORY);
	if (there >= 0)
		return there;
	if (errno != ENOENT)
		return err_set(e, errno, "Can't mkdir %s", op->target);
	AUTO_CLOSE int parent = parents_open(f, op, e);
	if (parent < 0)
		return -1;
	int fd = -1;
	if (last_copy(op->target, name) == 0 &&
		(mkdirat(parent, name, perms) == 0 || errno == EEXIST))
		fd = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
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
	if (errno != ENOENT)
		return err_set(e, errno, "Can't create file at %s", op->target);
	const char *name;
	AUTO_CLOSE int parent = place_parent(f, op, &name, e);
	if (parent < 0)
		return -1;
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
	if (errno != ENOENT)
		return err_set(e, errno, "Can't create file %s", op->target);
	const char *name;
	AUTO_CLOSE int parent = place_parent(f, op, &name, e);
	if (parent < 0)
		return -1;
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
