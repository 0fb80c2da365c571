/* SPDX-License-Identifier: MIT */
/*
 * Theory of operation. A directory that is not empty is never descended into from where it lies:
 * its own subdirectories are renamed up to the top of the tree, under numbers, and it can be
 * removed at once. So every directory is emptied at depth one, however deep it was; the queue of
 * those to come is two counters, since their names are numbers; and nobody who renames directories
 * while we work can lead us anywhere, because every step is one name below a descriptor that we
 * hold.
 */
#include "kernel/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452 /* Linux 6.6, the same number everywhere */
#endif

enum {
	ROUNDS = 100, /* of reading one directory again because it was not empty after all */
	BUFFER_SIZE = 16384,
};

struct removal {
	int top;
	const char *name; /* of the top, for the sentence */
	unsigned long
		first; /* the queue: numbers of the directories moved up and not yet removed */
	unsigned long next;
	unsigned long leftovers;
	int why; /* errno of the first leftover */
	char leftover[NAME_MAX + 1];
};

static void leave(struct removal *removal, const char *name, int why)
{
	if (removal->leftovers++)
		return;
	removal->why = why;
	snprintf(removal->leftover, sizeof removal->leftover, "%s", name);
}

/* Open up a directory that cannot be read, without following a link that took its place. Kernels
 * before 6.6 can do that only through /proc. */
static int directory_permit(int parent, const char *name)
{
	if (syscall(SYS_fchmodat2, parent, name, 0700, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	if (errno != ENOSYS && errno != EPERM)
		return -1;
	AUTO_CLOSE int fd = openat(parent, name, O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	char path[32];
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	return chmod(path, 0700);
}

static int directory_open_once(int parent, const char *name, uint64_t resolve)
{
	const struct open_how how = {
		.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK,
		.resolve = resolve,
	};
	return (int)syscall(SYS_openat2, parent, name, &how, sizeof how);
}

/* Open a directory so that its entries can be listed and removed. */
static int directory_open(int parent, const char *name, uint64_t resolve)
{
	AUTO_CLOSE int fd = directory_open_once(parent, name, resolve);
	if (fd < 0 && errno == EACCES && directory_permit(parent, name) == 0)
		fd = directory_open_once(parent, name, resolve);
	if (fd < 0)
		return -1;
	struct stat status;
	if (fstat(fd, &status) == 0 && (status.st_mode & 0700) != 0700)
		fchmod(fd, 0700);
	return take_fd(&fd);
}

/* Move a directory up to the top, under the next number. */
static int move_up(struct removal *removal, int parent, const char *name)
{
	bool permitted = false;
	for (;;) {
		char number[32];
		snprintf(number, sizeof number, ".removed-%lu", removal->next++);
		if (renameat2(parent, name, removal->top, number, RENAME_NOREPLACE) == 0)
			return 0;
		if (errno == EACCES && !permitted && directory_permit(parent, name) == 0)
			permitted = true; /* moving it changes its "..": that takes a right on it */
		else if (errno != EEXIST)
			return -1;
	}
}

/* Remove one entry of `directory` that needs no descending. 0: gone. 1: a directory that is not
 * empty. -1: cannot be removed. */
static int remove_entry(int directory, const char *name, unsigned char type)
{
	/* The type is a hint: it may have changed since it was read. */
	int flags = type == DT_DIR ? AT_REMOVEDIR : 0;
	for (int tries = 0; tries < 4; tries++) {
		if (unlinkat(directory, name, flags) == 0 || errno == ENOENT)
			return 0;
		if (errno == ENOTEMPTY || errno == EEXIST)
			return 1;
		if (flags == 0 && errno == EISDIR)
			flags = AT_REMOVEDIR;
		else if (flags && errno == ENOTDIR)
			flags = 0;
		else
			return -1;
	}
	return -1;
}

typedef void visitor(struct removal *removal, int directory, const char *name, unsigned char type);

/* Call `visit` for every entry. What cannot be listed shows itself as not empty. */
static void directory_each(struct removal *removal, int directory, visitor *visit)
{
	char buffer[BUFFER_SIZE] __attribute__((aligned(8)));
	ssize_t got;
	if (lseek(directory, 0, SEEK_SET) < 0)
		return;
	while ((got = getdents64(directory, buffer, sizeof buffer)) > 0)
		for (ssize_t at = 0; at < got;) {
			const struct dirent64 *entry = (const void *)(buffer + at);
			at += entry->d_reclen;
			if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
				continue;
			visit(removal, directory, entry->d_name, entry->d_type);
		}
}

static void visit_child(
	struct removal *removal, int directory, const char *name, unsigned char type)
{
	int result = remove_entry(directory, name, type);
	if (result > 0)
		result = move_up(removal, directory, name);
	if (result < 0 && errno != ENOENT)
		leave(removal, name, errno);
}

/* Remove a directory that lies directly in the top. What is none (any more) is left to the next
 * look at the top. */
static void remove_directory(struct removal *removal, const char *name)
{
	const uint64_t resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV;
	AUTO_CLOSE int directory = directory_open(removal->top, name, resolve);
	if (directory < 0) {
		if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP)
			leave(removal, name, errno);
		return;
	}
	unsigned long leftovers = removal->leftovers;
	for (int round = 0; round < ROUNDS && removal->leftovers == leftovers; round++) {
		directory_each(removal, directory, visit_child);
		int result = remove_entry(removal->top, name, DT_DIR);
		if (result == 0)
			return;
		if (result < 0)
			break;
	}
	if (removal->leftovers == leftovers)
		leave(removal, name, errno);
}

static void visit_top(struct removal *removal, int directory, const char *name, unsigned char type)
{
	int result = remove_entry(directory, name, type);
	if (result < 0)
		leave(removal, name, errno);
	else if (result > 0)
		remove_directory(removal, name);
	while (removal->first < removal->next) {
		char number[32];
		snprintf(number, sizeof number, ".removed-%lu", removal->first++);
		remove_directory(removal, number);
	}
}

static int removal_fail(const struct removal *removal, struct err *e)
{
	if (removal->why == EBUSY || removal->why == EXDEV)
		return err_set(e, removal->why, "cannot remove %s: %s in it is a mount point",
			removal->name, removal->leftover);
	err_set(e, removal->why, "cannot remove %s in %s", removal->leftover, removal->name);
	if (removal->leftovers > 1)
		err_prefix(e, "%lu leftovers", removal->leftovers);
	if (removal->why == ENOTEMPTY)
		return err_hint(e, "a process still writes there; end it and run `hutch gc`");
	if (removal->why == EPERM)
		return err_hint(e, "is it immutable (lsattr) or another user's?");
	return -1;
}

int tree_remove_at(int parent, const char *name, struct err *e)
{
	struct removal removal = { .top = -1, .name = name };
	int result = remove_entry(parent, name, DT_DIR);
	if (result == 0)
		return 0;
	if (result < 0)
		return err_set(e, errno, "cannot remove %s", name);
	AUTO_CLOSE int top = removal.top =
		directory_open(parent, name, 0); /* EBUSY above, were it a mount */
	if (top < 0 && errno == ENOENT)
		return 0; /* somebody else removes it, too */
	if (top < 0)
		return err_set(e, errno, "cannot open %s to remove it", name);
	for (int round = 0; round < ROUNDS && !removal.leftovers; round++) {
		directory_each(&removal, top, visit_top);
		if (unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
			return 0;
		if (errno != ENOTEMPTY && errno != EEXIST)
			leave(&removal, name, errno);
	}
	if (!removal.leftovers)
		leave(&removal, name, ENOTEMPTY);
	return removal_fail(&removal, e);
}
