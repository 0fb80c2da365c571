/* SPDX-License-Identifier: MIT */
#include "store/state_kept.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/memory.h"
#include "base/path.h"
#include "store/session_name.h"
#include "store/state.h"

int box_directory_open(const struct session *session, const struct state_entry *entry)
{
	const char *slash = strrchr(entry->below, '/');
	AUTO_FREE char *parent = memory_string(slash ? entry->below : ".");
	if (slash)
		parent[slash - entry->below] = '\0';
	const struct open_how how = {
		.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV,
	};
	return (int)syscall(SYS_openat2, session->home_fd, parent, &how, sizeof how);
}

/* Our names start with a session's id, so that they sort by time. */
static int select_kept(const struct dirent *entry)
{
	return strlen(entry->d_name) > SESSION_ID_LENGTH && entry->d_name[0] != '.';
}

/* Make room for one more: a box must not fill the disk by being rejected again and again. */
static void kept_limit(int directory)
{
	struct dirent **entries = NULL;
	int count = scandirat(directory, ".", &entries, select_kept, alphasort);
	for (int i = 0; i < count; i++) {
		if (i <= count - STATE_KEPT)
			unlinkat(directory, entries[i]->d_name, 0);
		free(entries[i]);
	}
	free(entries);
}

/* Open the directory `kind`; -1 with the error. */
static int kept_open(const struct session *session, const struct state_entry *entry,
	const char *kind, struct err *e)
{
	AUTO_CLOSE int directory = -1;
	if (mkdirat(session->state_fd, kind, 0700) == 0 || errno == EEXIST)
		directory = openat(
			session->state_fd, kind, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (directory < 0)
		return err_set(e, errno, "cannot keep the other version of %s", entry->shown);
	kept_limit(directory);
	return take_fd(&directory);
}

static char *kept_name(const struct session *session, const struct state_entry *entry)
{
	return memory_format("%s-%u-%.200s", session->id, entry->number, path_base(entry->shown));
}

/* The directory of the session is STATE/sessions/ID; the versions are kept in STATE/KIND. */
static char *kept_path(const struct session *session, const char *kind, const char *name)
{
	AUTO_FREE char *sessions = path_parent(session->directory);
	AUTO_FREE char *state = path_parent(sessions);
	return memory_format("%s/%s/%s", state, kind, name);
}

int kept_move(const struct session *session, const struct state_entry *entry, char **ret_path,
	struct err *e)
{
	AUTO_FREE char *name = kept_name(session, entry);
	AUTO_CLOSE int from = box_directory_open(session, entry);
	if (from < 0)
		return err_set(e, errno, "cannot find the box's version of %s", entry->shown);
	AUTO_CLOSE int directory = kept_open(session, entry, "rejected", e);
	if (directory < 0)
		return -1;
	if (renameat(from, path_base(entry->below), directory, name) < 0)
		return err_set(e, errno, "cannot keep the box's version of %s", entry->shown);
	if (fchmodat(directory, name, 0600, AT_SYMLINK_NOFOLLOW) < 0)
		errno = 0; /* the directory is closed to others anyway */
	*ret_path = kept_path(session, "rejected", name);
	return 0;
}

int kept_write(const struct session *session, const struct state_entry *entry, const char *data,
	size_t length, char **ret_path, struct err *e)
{
	AUTO_FREE char *name = kept_name(session, entry);
	AUTO_CLOSE int directory = kept_open(session, entry, "replaced", e);
	if (directory < 0)
		return -1;
	unlinkat(directory, name, 0);
	AUTO_CLOSE int fd =
		openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || fd_write_all(fd, data, length) < 0)
		return err_set(e, errno, "cannot keep the other version of %s", entry->shown);
	*ret_path = kept_path(session, "replaced", name);
	return 0;
}
