/* SPDX-License-Identifier: MIT */
#include "store/state_host.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/memory.h"
#include "base/path.h"
#include "store/session.h"
#include "store/state.h"

/* A place for a file: a directory and a name in it. */
struct place {
	int directory;
	const char *name;
};

void host_version_free(struct host_version *version)
{
	free(version->data);
	*version = (struct host_version){ 0 };
}

/* No component may be a link: it was none when the file was added. */
static int host_directory_open(const char *target)
{
	AUTO_FREE char *parent = path_parent(target);
	const struct open_how how = {
		.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	return (int)syscall(SYS_openat2, AT_FDCWD, parent, &how, sizeof how);
}

int host_read(const char *target, struct host_version *ret_version, struct err *e)
{
	AUTO_CLOSE int directory = host_directory_open(target);
	if (directory < 0)
		return errno == ENOENT ? 0 : err_set(e, errno, "cannot open where %s is", target);
	AUTO_CLOSE int fd = openat(directory, path_base(target),
		O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : err_set(e, errno, "cannot open %s", target);
	struct host_version version = { 0 };
	if (fstat(fd, &version.status) < 0 || !S_ISREG(version.status.st_mode))
		return err_set(e, 0, "%s is not a regular file any more", target);
	if (fd_read_all(fd, STATE_LIMIT, &version.data, &version.length, e) < 0)
		return err_prefix(e, "%s", target);
	*ret_version = version;
	return 0;
}

static int file_write(const struct place *place, const char *data, size_t length, mode_t mode,
	const struct stat *owner)
{
	unlinkat(place->directory, place->name, 0); /* of a merge that was cut short */
	AUTO_CLOSE int fd = openat(place->directory, place->name,
		O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	struct stat made;
	if (fd < 0 || fd_write_all(fd, data, length) < 0 || fstat(fd, &made) < 0)
		return -1;
	if (owner && (made.st_uid != owner->st_uid || made.st_gid != owner->st_gid))
		if (fchown(fd, owner->st_uid, owner->st_gid) < 0 && made.st_uid != owner->st_uid)
			return -1;
	return fchmod(fd, mode) < 0 ? -1 : fsync(fd);
}

/* A rename changes ctime, so that cannot be compared. */
static bool is_expected(const struct place *place, const struct stat *expected)
{
	struct stat now;
	return fstatat(place->directory, place->name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
	       now.st_dev == expected->st_dev && now.st_ino == expected->st_ino &&
	       now.st_size == expected->st_size && now.st_mtim.tv_sec == expected->st_mtim.tv_sec &&
	       now.st_mtim.tv_nsec == expected->st_mtim.tv_nsec;
}

/* The two change places in one step; then it is seen whether what came out is what was read. If not
 * it goes back: somebody was faster by that much, and their version must not get lost. */
static int exchange(const struct place *new, const struct place *old, const struct stat *expected)
{
	if (!is_expected(old, expected))
		return 1;
	if (renameat2(new->directory, new->name, old->directory, old->name, RENAME_EXCHANGE) < 0) {
		if (errno == ENOENT)
			return 1;
		if (errno != EINVAL && errno != ENOSYS)
			return -1;
		/* A file system without it. */
		return renameat(new->directory, new->name, old->directory, old->name);
	}
	if (is_expected(new, expected))
		return 0;
	renameat2(new->directory, new->name, old->directory, old->name, RENAME_EXCHANGE);
	return 1;
}

static int appear(const struct place *new, const struct place *old)
{
	if (renameat2(new->directory, new->name, old->directory, old->name, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return errno == EEXIST ? 1 : -1;
	if (linkat(new->directory, new->name, old->directory, old->name, 0) < 0)
		return errno == EEXIST ? 1 : -1;
	return 0;
}

static int replace_through(const struct place *new, const struct place *old, const char *data,
	size_t length, mode_t mode, const struct host_version *expected)
{
	const struct stat *owner = expected->data ? &expected->status : NULL;
	int result = file_write(new, data, length, mode, owner);
	if (result == 0)
		result = owner ? exchange(new, old, owner) : appear(new, old);
	int kept = errno;
	unlinkat(new->directory, new->name, 0);
	errno = kept;
	return result;
}

int host_put(const struct session *session, const char *target, const char *data, size_t length,
	mode_t mode, const struct host_version *expected, struct err *e)
{
	AUTO_CLOSE int directory = host_directory_open(target);
	if (directory < 0)
		return err_set(e, errno, "cannot open where %s is", target);
	AUTO_FREE char *beside = memory_format(".hutch-%s", session->id);
	const struct place old = { directory, path_base(target) };
	const struct place new = { session->directory_fd, "new" };
	const struct place near = { directory, beside };
	if (expected->data)
		mode = expected->status.st_mode & 07777;
	unlinkat(directory, beside, 0);
	int result = replace_through(&new, &old, data, length, mode, expected);
	if (result < 0 && errno == EXDEV)
		result = replace_through(&near, &old, data, length, mode, expected);
	if (result < 0)
		return err_set(e, errno, "cannot write %s", target);
	if (result == 0)
		fsync(directory); /* the rename itself; the content is safe already */
	return result;
}
