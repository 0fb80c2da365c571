/* SPDX-License-Identifier: MIT */
#include "apply/target.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/memory.h"
#include "base/path.h"
#include "kernel/lookup.h"

/* The id of the mount that `fd` is in; 0, which none has, when it is not told. */
static uint64_t mount_id(int fd)
{
	struct statx info;
	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &info) < 0 ||
		!(info.stx_mask & STATX_MNT_ID))
		return 0;
	return info.stx_mnt_id;
}

int tree_own(struct tree *tree, int fd, bool scratch, struct err *e)
{
	if (tree->make_anywhere)
		return 0;
	uint64_t id = mount_id(fd);
	if (!id)
		return err_set(e, errno, "cannot identify a mount of the sandbox");
	if (tree->own_count == sizeof tree->own / sizeof tree->own[0])
		return err_set(
			e, 0, "more than %zu file systems of the sandbox's own", tree->own_count);
	tree->own[tree->own_count++] = id;
	if (scratch)
		tree->scratch = id;
	return 0;
}

/* May a link in `directory` say where something is mounted? Those of the plan's own making may, and those of
 * what nobody inside can write; not what a sandbox has left in a home that is kept, in the project or
 * in an agent's state, or it would have the next one's mounts cover whatever it likes. */
static bool may_lead(const struct tree *tree, int directory)
{
	struct statvfs info;
	uint64_t id = mount_id(directory);
	for (size_t i = 0; id && i < tree->own_count; i++)
		if (tree->own[i] == id)
			return id != tree->scratch;
	return fstatvfs(directory, &info) == 0 && (info.f_flag & ST_RDONLY);
}

/* The first link on the way of `path` is followed in the text: the new path, owned by the caller; NULL with
 * errno, ELOOP where the link may not lead. */
static char *link_follow(const struct tree *tree, const char *path)
{
	char text[PATH_MAX];
	size_t length = 0;
	while (path[length]) {
		length += 1 + strcspn(path + length + 1, "/");
		AUTO_FREE char *name = memory_slice(path, length);
		AUTO_FREE char *parent = path_parent(name);
		AUTO_CLOSE int directory =
			lookup_plain_in_root(tree->root, parent, O_PATH | O_DIRECTORY);
		ssize_t got = directory < 0 ? -1
					    : readlinkat(directory, path_base(name), text,
						      sizeof text - 1);
		if (got < 0 && errno == EINVAL)
			continue;
		if (got < 0)
			return NULL;
		text[got] = '\0';
		errno = ELOOP;
		AUTO_FREE char *joined = memory_format("%s%s", text, path + length);
		bool leads = strings_has(&tree->links, name) || may_lead(tree, directory);
		return leads ? path_absolute(parent, joined) : NULL;
	}
	return NULL;
}

/* Open what is at `path` in the new root. */
static int place_lookup(const struct tree *tree, const char *path, int flags)
{
	enum { LINKS_MOST = 40 };
	if (tree->make_anywhere)
		return lookup_in_root(tree->root, path, flags);
	AUTO_FREE char *at = memory_string(path);
	for (int links = 0;; links++) {
		int fd = lookup_plain_in_root(tree->root, at, flags);
		if (fd >= 0 || errno != ELOOP || links == LINKS_MOST)
			return fd;
		char *next = link_follow(tree, at);
		if (!next)
			return -1;
		free(at);
		at = next;
	}
}

/* What ELOOP means here, in words. */
static int link_refused(struct err *e, const char *path)
{
	err_set(e, 0, "%s goes through a link in a place that a sandbox can write in", path);
	return err_hint(
		e, "remove the link, which may have been put there to cover something else");
}

/* May `path`, which is missing, be made in `directory`? 0, or -1 with a sentence. */
static int make_allowed(const struct tree *tree, int directory, const char *path, struct err *e)
{
	if (tree->make_anywhere)
		return 0;
	uint64_t id = mount_id(directory);
	if (!id)
		return err_set(e, errno, "cannot tell which mount %s would be made in", path);
	for (size_t i = 0; i < tree->own_count; i++)
		if (tree->own[i] == id)
			return 0;
	err_set(e, 0, "%s does not exist inside, and making it would leave a file on the host",
		path);
	return err_hint(e, "create it yourself, or choose another place");
}

static int directory_make(
	struct tree *tree, int parent, const char *path, mode_t perms, struct err *e)
{
	const char *name = path_base(path);
	if (make_allowed(tree, parent, path, e) < 0)
		return -1;
	if (mkdirat(parent, name, perms) < 0 && errno != EEXIST)
		return err_set(e, errno, "cannot make the directory %s", path);
	int fd = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, errno, "cannot make the directory %s", path);
	return fd;
}

/* Open the deepest directory of `path` that is there; `*ret_length` is how much of the path that
 * is: the whole, or up to a slash. */
static int deepest_open(struct tree *tree, const char *path, size_t *ret_length, struct err *e)
{
	char text[PATH_MAX];
	size_t length = strlen(path);
	if (length >= sizeof text)
		return err_set(e, ENAMETOOLONG, "cannot make %.200s...", path);
	memcpy(text, path, length + 1);
	int fd;
	while ((fd = place_lookup(tree, text, O_PATH | O_DIRECTORY)) < 0 && errno == ENOENT &&
		length > 1) {
		while (text[--length] != '/')
			;
		text[length ? length : 1] = '\0';
	}
	if (fd < 0 && errno == ELOOP)
		return link_refused(e, path);
	if (fd < 0)
		return err_set(e, errno, "cannot use %s inside the sandbox", text);
	*ret_length = length;
	return fd;
}

/* Open the directory `path`, made with its parents where it is missing. */
static int directory_open(struct tree *tree, const char *path, struct err *e)
{
	char text[PATH_MAX];
	size_t length = 0, whole = strlen(path);
	AUTO_CLOSE int fd = deepest_open(tree, path, &length, e);
	while (fd >= 0 && length < whole) {
		length += 1 + strcspn(path + length + 1, "/");
		memcpy(text, path, length);
		text[length] = '\0';
		int child = directory_make(tree, fd, text, 0755, e);
		fd_close(&fd);
		fd = child;
	}
	return take_fd(&fd);
}

static void parent_forget(struct tree *tree)
{
	fd_close(&tree->parent);
	free(tree->parent_path);
	tree->parent_path = NULL;
}

/* Is `path` in the directory that is remembered? */
static bool parent_is_known(const struct tree *tree, const char *path)
{
	size_t length = (size_t)(strrchr(path, '/') - path);
	const char *known = tree->parent_path;
	return known && (length ? strlen(known) == length && memcmp(known, path, length) == 0
				: strcmp(known, "/") == 0);
}

/* A mount at a child leaves the directory what it was; any other may be over it, by a link too. */
void tree_mounted(struct tree *tree, const char *path)
{
	if (strcmp(path, "/") == 0 || !parent_is_known(tree, path))
		parent_forget(tree);
}

int tree_parent(struct tree *tree, const char *path, const char **ret_name, struct err *e)
{
	*ret_name = path_base(path);
	if (parent_is_known(tree, path))
		return tree->parent;
	parent_forget(tree);
	AUTO_FREE char *parent_path = path_parent(path);
	AUTO_CLOSE int parent = directory_open(tree, parent_path, e);
	if (parent < 0 || make_allowed(tree, parent, path, e) < 0)
		return -1;
	tree->parent_path = take_pointer(parent_path);
	return tree->parent = take_fd(&parent);
}

int tree_directory(struct tree *tree, const char *path, mode_t perms, struct err *e)
{
	AUTO_CLOSE int there = place_lookup(tree, path, O_PATH | O_DIRECTORY);
	if (there >= 0)
		return 0;
	/* The umask was cleared, so that mkdir's permissions are exact. */
	const char *name;
	int parent = tree_parent(tree, path, &name, e);
	AUTO_CLOSE int made = parent < 0 ? -1 : directory_make(tree, parent, path, perms, e);
	return made < 0 ? -1 : 0;
}

static int file_make(struct tree *tree, const char *path, struct err *e)
{
	const char *name;
	int parent = tree_parent(tree, path, &name, e);
	if (parent < 0)
		return -1;
	if (mknodat(parent, name, S_IFREG | 0444, 0) < 0 && errno != EEXIST)
		return err_set(e, errno, "cannot make the mountpoint %s", path);
	AUTO_CLOSE int fd = openat(parent, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat info;
	if (fd < 0 || fstat(fd, &info) < 0)
		return err_set(e, errno, "cannot make the mountpoint %s", path);
	if (!S_ISREG(info.st_mode)) /* a link that leads nowhere */
		return err_set(
			e, 0, "cannot make the mountpoint %s: there is something else", path);
	return take_fd(&fd);
}

/* In a directory that is known: make it and see whether it was there, which it mostly was not. The
 * descriptor; -1 when it has to be looked up after all. */
static int target_make(struct tree *tree, const char *path, bool directory)
{
	const char *name = path_base(path);
	if (!parent_is_known(tree, path))
		return -1;
	int made = directory ? mkdirat(tree->parent, name, 0755)
			     : mknodat(tree->parent, name, S_IFREG | 0444, 0);
	return made < 0 ? -1 : openat(tree->parent, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
}

int tree_target(struct tree *tree, const char *path, bool directory, struct err *e)
{
	int fd = target_make(tree, path, directory);
	if (fd >= 0)
		return fd;
	fd = place_lookup(tree, path, O_PATH | (directory ? O_DIRECTORY : 0));
	if (fd < 0 && errno == ENOENT && directory) {
		const char *name;
		int parent = tree_parent(tree, path, &name, e);
		return parent < 0 ? -1 : directory_make(tree, parent, path, 0755, e);
	}
	if (fd < 0 && errno == ENOENT)
		return file_make(tree, path, e);
	if (fd < 0 && errno == ELOOP)
		return link_refused(e, path);
	if (fd < 0)
		return err_set(e, errno, "cannot mount over %s", path);
	/* It may be a link that leads above the directory that is remembered. */
	parent_forget(tree);
	struct stat info;
	if (!directory && fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
		close(fd);
		return err_set(e, EISDIR, "cannot mount a file over %s", path);
	}
	return fd;
}
