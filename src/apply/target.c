/* SPDX-License-Identifier: MIT */
#include "apply/target.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "kernel/lookup.h"

/* The id of the mount that `fd` is in; 0, which none has, when it is not told. */
static uint64_t mount_id(int fd)
{
	struct statx info;
	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &info) < 0 || !(info.stx_mask & STATX_MNT_ID))
		return 0;
	return info.stx_mnt_id;
}

void tree_own(struct tree *tree, int fd)
{
	uint64_t id = mount_id(fd);
	if (id && tree->own_count < sizeof tree->own / sizeof tree->own[0])
		tree->own[tree->own_count++] = id;
}

static bool tree_may_make(const struct tree *tree, int directory)
{
	if (tree->make_anywhere)
		return true;
	uint64_t id = mount_id(directory);
	for (size_t i = 0; i < tree->own_count; i++)
		if (tree->own[i] == id)
			return true;
	return false;
}

/* The parent of `path` as text; -1 when the path is too long to be one. */
static int parent_text(const char *path, char ret_parent[PATH_MAX], struct err *e)
{
	size_t length = (size_t)(strrchr(path, '/') - path);
	if (length >= PATH_MAX)
		return err_set(e, ENAMETOOLONG, "cannot make %.200s...", path);
	memcpy(ret_parent, path, length);
	ret_parent[length] = '\0';
	if (length == 0)
		strcpy(ret_parent, "/");
	return 0;
}

static int directory_open(struct tree *tree, const char *path, struct err *e);

int tree_parent(struct tree *tree, const char *path, const char **ret_name, struct err *e)
{
	char parent_path[PATH_MAX];
	if (parent_text(path, parent_path, e) < 0)
		return -1;
	AUTO_CLOSE int parent = directory_open(tree, parent_path, e);
	if (parent < 0)
		return -1;
	if (!tree_may_make(tree, parent)) {
		err_set(e, 0, "%s does not exist inside, and making it would leave a file in the "
			"host's %s", path, parent_path);
		return err_hint(e, "create it yourself, or choose another place");
	}
	*ret_name = path_base(path);
	return take_fd(&parent);
}

static int directory_make(struct tree *tree, const char *path, mode_t perms, struct err *e)
{
	const char *name;
	AUTO_CLOSE int parent = tree_parent(tree, path, &name, e);
	if (parent < 0)
		return -1;
	if (mkdirat(parent, name, perms) < 0 && errno != EEXIST)
		return err_set(e, errno, "cannot make the directory %s", path);
	int fd = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, errno, "cannot make the directory %s", path);
	return fd;
}

static int directory_open(struct tree *tree, const char *path, struct err *e)
{
	int fd = lookup_in_root(tree->root, path, O_PATH | O_DIRECTORY);
	if (fd >= 0)
		return fd;
	if (errno != ENOENT || strcmp(path, "/") == 0)
		return err_set(e, errno, "cannot use %s inside the sandbox", path);
	return directory_make(tree, path, 0755, e);
}

int tree_directory(struct tree *tree, const char *path, mode_t perms, struct err *e)
{
	AUTO_CLOSE int there = lookup_in_root(tree->root, path, O_PATH | O_DIRECTORY);
	if (there >= 0)
		return 0;
	/* The umask was cleared, so that mkdir's permissions are exact. */
	AUTO_CLOSE int made = directory_make(tree, path, perms, e);
	return made < 0 ? -1 : 0;
}

static int file_make(struct tree *tree, const char *path, struct err *e)
{
	const char *name;
	AUTO_CLOSE int parent = tree_parent(tree, path, &name, e);
	if (parent < 0)
		return -1;
	if (mknodat(parent, name, S_IFREG | 0444, 0) < 0 && errno != EEXIST)
		return err_set(e, errno, "cannot make the mountpoint %s", path);
	int fd = openat(parent, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, errno, "cannot make the mountpoint %s", path);
	return fd;
}

int tree_target(struct tree *tree, const char *path, bool directory, struct err *e)
{
	int fd = lookup_in_root(tree->root, path, O_PATH | (directory ? O_DIRECTORY : 0));
	if (fd < 0 && errno == ENOENT)
		return directory ? directory_make(tree, path, 0755, e) : file_make(tree, path, e);
	if (fd < 0)
		return err_set(e, errno, "cannot mount over %s", path);
	struct stat info;
	if (!directory && fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
		close(fd);
		return err_set(e, EISDIR, "cannot mount a file over %s", path);
	}
	return fd;
}
