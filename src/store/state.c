/* SPDX-License-Identifier: MIT */
/* Before the run: from the host into the private home. */
#include "store/state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/memory.h"
#include "base/path.h"
#include "kernel/lookup.h"
#include "store/session.h"
#include "store/state_entry.h"
#include "store/state_host.h"

/* The real path of the directory that `path` is in, with the last component as it is. NULL with
 * errno when there is no such directory. Owned by the caller. */
static char *resolve_directory(const char *path)
{
	AUTO_FREE char *parent = path_parent(path);
	AUTO_FREE char *real = realpath(parent, NULL);
	return real ? path_join(real, path_base(path)) : NULL;
}

/* Further links count where no box can have put them: beside the first one and above, and where only
 * others may write. */
static bool follows_safe(int directory, const void *data)
{
	return lookup_is_below(*(const int *)data, directory) == 1 ||
	       lookup_is_of_others(directory);
}

/* The same for `path`, to which a link that lies in the directory `from` leads. */
static char *resolve_linked(const char *from, const char *path)
{
	char real[PATH_MAX];
	AUTO_FREE char *parent = path_parent(path);
	AUTO_CLOSE int beside = open(from, O_PATH | O_DIRECTORY | O_CLOEXEC);
	AUTO_CLOSE int directory =
		beside < 0 ? -1 : lookup_through(parent, follows_safe, &beside, NULL);
	if (directory < 0 || lookup_path(directory, real, sizeof real) < 0)
		return NULL;
	return path_join(real, path_base(path));
}

/* Where the link at `path`, whose directory is real, leads to; its last component not followed. */
static char *resolve_link(const char *path)
{
	char target[PATH_MAX];
	ssize_t length = readlink(path, target, sizeof target - 1);
	if (length < 0)
		return NULL;
	target[length] = '\0';
	AUTO_FREE char *parent = path_parent(path);
	AUTO_FREE char *joined = *target == '/' ? memory_string(target) : path_join(parent, target);
	while (strlen(joined) > 1 && joined[strlen(joined) - 1] == '/')
		joined[strlen(joined) - 1] = '\0';
	char *slash = strrchr(joined, '/');
	if (!slash || strcmp(slash, "/..") == 0 || strcmp(slash, "/.") == 0) {
		errno = EISDIR;
		return NULL;
	}
	return resolve_linked(parent, joined);
}

/* Make the directories above `path`, which is relative to `directory` or absolute. */
static int parents_make(int directory, const char *path)
{
	AUTO_FREE char *copy = memory_string(path);
	for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdirat(directory, copy, 0700) < 0 && errno != EEXIST)
			return -1;
		*slash = '/';
	}
	return 0;
}

/*
 * Where the user's file really is, seen once, here. People keep dotfiles as links into a
 * repository, so one link is followed. Not a second: the repository may have been a workspace, and
 * a link that a box put in place of the file, or of a directory that it is in, would have the next
 * box read, and this program write, whatever file the link names.
 */
static char *target_resolve(const char *host_path, bool make, struct err *e)
{
	AUTO_FREE char *target = resolve_directory(host_path);
	struct stat status;
	if (!target && errno == ENOENT && make && parents_make(AT_FDCWD, host_path) == 0)
		target = resolve_directory(host_path);
	if (!target && errno == ENOENT && !make)
		return memory_string(host_path);
	if (target && lstat(target, &status) == 0 && S_ISLNK(status.st_mode)) {
		char *next = resolve_link(target);
		free(target);
		target = next;
	}
	if (!target) {
		bool linked = errno == ELOOP;
		err_set(e, errno, "cannot find out where %s is", host_path);
		if (linked)
			err_hint(e, "it leads through a link that a box might have put in; link to "
				    "the file itself");
		return NULL;
	}
	if (lstat(target, &status) == 0 && S_ISLNK(status.st_mode)) {
		err_set(e, 0, "%s is a link to %s, which is a link again", host_path, target);
		err_hint(e, "make it a link to the file itself; a box that could write there "
			    "might have put the second link in");
		return NULL;
	}
	return take_pointer(target);
}

static int file_make(int directory, const char *path, const char *data, size_t length, mode_t mode)
{
	AUTO_CLOSE int fd =
		openat(directory, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
	if (fd < 0 && errno == ENOENT && parents_make(directory, path) == 0)
		fd = openat(directory, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
			mode);
	return fd < 0 ? -1 : fd_write_all(fd, data, length);
}

/* Make the host's file. Another run that does so at the same time may be the one; it is whole, too.
 */
static int target_make(
	const struct session *session, const char *target, const char *initial, struct err *e)
{
	const struct host_version none = { 0 };
	return host_put(session, target, initial, strlen(initial), 0600, &none, e) < 0 ? -1 : 0;
}

/* Open the host's file; `*ret_fd` is -1 where there is none. */
static int target_open(const char *host_path, const char *target, int *ret_fd, struct err *e)
{
	AUTO_CLOSE int fd = open(target, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat status;
	if (fd < 0 && errno == ENOENT) {
		*ret_fd = -1;
		return 0;
	}
	if (fd < 0 && errno != ENXIO) /* which is how a socket answers */
		return err_set(e, errno, "cannot open %s", host_path);
	if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode)) {
		err_set(e, 0, "%s is not a regular file", host_path);
		return err_hint(e, "an agent keeps its state there; move what is in the way");
	}
	*ret_fd = take_fd(&fd);
	return 0;
}

static int next_number(int directory_fd, unsigned *ret_number, struct err *e)
{
	AUTO_FREE char *data = NULL;
	AUTO_FREE struct state_entry *entries = NULL;
	size_t count = 0;
	if (state_entry_read(directory_fd, &data, &entries, &count, e) < 0)
		return -1;
	*ret_number = (unsigned)count;
	return 0;
}

/* The base first, then the copy, then the entry: wherever this is cut short, what the box might
 * change later is never without its base, and a copy that is not whole is not merged. */
static int entry_store(struct session *session, const struct state_entry *entry, const char *data,
	size_t length, struct err *e)
{
	char base[32];
	snprintf(base, sizeof base, "base.%u", entry->number);
	if (entry->has_base && file_make(session->directory_fd, base, data, length, 0600) < 0)
		return err_set(e, errno, "cannot keep a copy of %s in %s", entry->shown,
			session->directory);
	if (entry->has_base &&
		file_make(session->home_fd, entry->below, data, length, entry->mode | 0600) < 0)
		return err_set(e, errno, "cannot copy %s to %s", entry->shown, session->home);
	return state_entry_append(session->directory_fd, entry, e);
}

/* Read the host's file, made first where it is missing and `initial` is given. `ret_data` stays
 * NULL where there is none. */
static int target_read(const struct session *session, const struct state_entry *entry,
	const char *initial, struct stat *ret_status, char **ret_data, size_t *ret_length,
	struct err *e)
{
	AUTO_CLOSE int fd = -1;
	if (target_open(entry->shown, entry->target, &fd, e) < 0)
		return -1;
	if (fd < 0 && initial &&
		(target_make(session, entry->target, initial, e) < 0 ||
			target_open(entry->shown, entry->target, &fd, e) < 0))
		return -1;
	if (fd < 0)
		return 0;
	if (fstat(fd, ret_status) < 0)
		return err_set(e, errno, "cannot look at %s", entry->shown);
	if (fd_read_all(fd, STATE_LIMIT, ret_data, ret_length, e) < 0)
		return err_prefix(e, "%s", entry->shown);
	return 0;
}

static int entry_add(
	struct session *session, struct state_entry *entry, const char *initial, struct err *e)
{
	AUTO_FREE char *data = NULL;
	size_t length = 0;
	struct stat status = { .st_mode = 0600 };
	if (target_read(session, entry, initial, &status, &data, &length, e) < 0)
		return -1;
	entry->has_base = data != NULL;
	entry->mode = status.st_mode & 0777;
	if (next_number(session->directory_fd, &entry->number, e) < 0)
		return -1;
	return entry_store(session, entry, data, length, e);
}

int state_add(struct session *session, const char *host_path, const char *below_home,
	const char *initial, const char *merge, struct err *e)
{
	AUTO_FREE char *target = target_resolve(host_path, initial != NULL, e);
	struct state_entry entry = {
		.shown = host_path,
		.target = target,
		.below = below_home,
		.json = strcmp(merge, "json") == 0,
	};
	return target ? entry_add(session, &entry, initial, e) : -1;
}

int state_read(const struct session *session, const char *host_path, const char *initial,
	char **ret_data, size_t *ret_length, struct err *e)
{
	AUTO_FREE char *target = target_resolve(host_path, initial != NULL, e);
	struct state_entry entry = { .shown = host_path, .target = target };
	struct stat status;
	*ret_data = NULL;
	return target ? target_read(session, &entry, initial, &status, ret_data, ret_length, e)
		      : -1;
}
