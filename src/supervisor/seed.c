/* SPDX-License-Identifier: MIT */
#include "supervisor/seed.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/memory.h"
#include "kernel/lookup.h"

static const char marker[] = ".hutch-seeded";

/* The directory that `path` is in, made below `directory` without following a link: what is seeded
 * may have been in a sandbox's hands before. */
static int parent_open(int directory, const char *path)
{
	AUTO_CLOSE int at = dup(directory);
	const char *slash;
	while (at >= 0 && (slash = strchr(path, '/'))) {
		AUTO_FREE char *name = memory_slice(path, (size_t)(slash - path));
		if (mkdirat(at, name, 0700) < 0 && errno != EEXIST)
			return -1;
		int next = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		close(at);
		at = next;
		path = slash + 1;
	}
	return take_fd(&at);
}

static int file_write(int directory, const struct seed *seed)
{
	AUTO_CLOSE int parent = parent_open(directory, seed->path);
	if (parent < 0)
		return -1;
	const char *slash = strrchr(seed->path, '/');
	AUTO_CLOSE int fd = openat(parent, slash ? slash + 1 : seed->path,
		O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return errno == EEXIST ? 0 : -1; /* the user's own stays */
	return fd_write_all(fd, seed->content, seed->length);
}

static int seed_write(const char *path, const struct seed *seed, struct err *e)
{
	AUTO_CLOSE int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory < 0)
		return err_set(e, errno, "cannot open %s", path);
	if (faccessat(directory, marker, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	for (; seed->path; seed++)
		if (file_write(directory, seed) < 0)
			return err_set(e, errno, "cannot write %s/%s", path, seed->path);
	AUTO_CLOSE int done =
		openat(directory, marker, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (done < 0)
		return err_set(e, errno, "cannot write %s/%s", path, marker);
	return 0;
}

int seed_file(
	const char *directory, const char *below, const char *data, size_t length, struct err *e)
{
	const struct seed seed = { .path = below, .content = data, .length = length };
	AUTO_CLOSE int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || file_write(fd, &seed) < 0)
		return err_set(e, errno, "cannot write %s/%s", directory, below);
	return 0;
}

int seed_home(const char *directory, struct err *e)
{
	return seed_write(directory, seed_home_files, e);
}

int seed_flake(const char *directory, struct err *e)
{
	return seed_write(directory, seed_flake_files, e);
}
