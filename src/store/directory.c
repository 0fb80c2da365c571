/* SPDX-License-Identifier: MIT */
#include "store/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/memory.h"
#include "base/path.h"
#include "kernel/account.h"

static const char remedy[] = "set HUTCH_STATE_DIR to a place that can be written";

int state_directory_path(char **ret_path, struct err *e)
{
	const char *own = getenv("HUTCH_STATE_DIR");
	if (own && *own) {
		if (*own != '/') {
			err_set(e, 0, "HUTCH_STATE_DIR is '%s', which is no absolute path", own);
			return err_hint(e, "%s", remedy);
		}
		*ret_path = path_absolute("/", own);
		return 0;
	}
	/* A relative path there is to be taken as not set. */
	const char *base = getenv("XDG_STATE_HOME"), *below = "hutch";
	struct account account;
	if (!base || *base != '/') {
		base = getenv("HOME");
		below = ".local/state/hutch";
	}
	if (!base || !*base)
		base = account_by_uid(geteuid(), &account) ? account.entry.pw_dir : NULL;
	if (!base || *base != '/') {
		err_set(e, 0, "there is no home directory to keep hutch's state in (HOME is %s)",
			base ? "no absolute path" : "not set");
		return err_hint(e, "%s", remedy);
	}
	AUTO_FREE char *joined = path_join(base, below);
	*ret_path = path_absolute("/", joined);
	return 0;
}

/* Make `path` and what is missing above it. */
static int directory_make(const char *path)
{
	if (mkdir(path, 0700) == 0 || errno == EEXIST)
		return 0;
	if (errno != ENOENT || strcmp(path, "/") == 0)
		return -1;
	AUTO_FREE char *parent = path_parent(path);
	if (directory_make(parent) < 0)
		return -1;
	return mkdir(path, 0700) < 0 && errno != EEXIST ? -1 : 0;
}

static int directory_check(int fd, const char *path, struct err *e)
{
	struct stat status;
	if (fstat(fd, &status) < 0)
		return err_set(e, errno, "cannot look at %s", path);
	if (status.st_uid != geteuid()) {
		err_set(e, 0, "the state directory %s belongs to another user (uid %u)", path,
			status.st_uid);
		return err_hint(e, "set HUTCH_STATE_DIR to a directory of your own");
	}
	if (status.st_mode & 022) {
		err_set(e, 0, "the state directory %s can be written by other users", path);
		return err_hint(e, "chmod 700 it, or set HUTCH_STATE_DIR to one of your own");
	}
	return 0;
}

int state_directory_open(bool make, int *ret_fd, char **ret_path, struct err *e)
{
	AUTO_FREE char *path = NULL;
	if (state_directory_path(&path, e) < 0 || !path)
		return -1;
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT && make && directory_make(path) == 0)
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && (make || errno != ENOENT)) {
		err_set(e, errno, "cannot %s the state directory %s", make ? "make" : "open", path);
		return err_hint(e, "%s", remedy);
	}
	if (fd >= 0 && directory_check(fd, path, e) < 0)
		return -1;
	*ret_fd = take_fd(&fd);
	if (ret_path)
		*ret_path = take_pointer(path);
	return 0;
}
