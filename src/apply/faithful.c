/* SPDX-License-Identifier: MIT */
/*
 * Theory. A tmpfs, the base, is mounted over the old root; its directory `newroot` is mounted over
 * itself and becomes the root in the end. What the box should not see by name (files that hold data,
 * the upper directories of overlays) lives beside it. This process keeps the old root as its root
 * until the pivot, so sources are found by their paths and targets only below `root`.
 */
#include "apply/faithful.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apply/faithful_places.h"
#include "apply/faithful_special.h"
#include "base/fd.h"
#include "base/memory.h"
#include "kernel/mount.h"

static const uint64_t plain = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;

static int attach_failed(const char *source, const char *target, struct err *e)
{
	return err_set(e, errno,
		"Can't bind mount /oldroot%s%s on /newroot/%s: Unable to mount source on destination",
		*source == '/' ? "" : "/", source, place_inside(target));
}

/* Restrict a detached tree and put it at the target of `op`. */
static int attach(
	struct faithful *f, int *tree, const struct op *op, uint64_t attributes, struct err *e)
{
	const char *source = op->source ? op->source : "";
	struct stat info;
	if (mount_restrict(*tree, attributes) < 0 || fstat(*tree, &info) < 0)
		return attach_failed(source, op->target, e);
	AUTO_CLOSE int place =
		S_ISDIR(info.st_mode) ? place_directory(f, op, 0755, e) : place_file(f, op, e);
	if (place < 0)
		return -1;
	if (mount_attach(*tree, place) < 0)
		return attach_failed(source, op->target, e);
	place_covered(f, tree, op->target);
	return 0;
}

static uint64_t bind_attributes(unsigned flags)
{
	return MOUNT_ATTR_NOSUID | (flags & BIND_DEVICES ? 0u : (unsigned)MOUNT_ATTR_NODEV) |
	       (flags & BIND_READ_ONLY ? (unsigned)MOUNT_ATTR_RDONLY : 0u);
}

static int source_missing(const struct op *op, const char *source, struct err *e)
{
	if (errno == ENOENT && (op->flags & BIND_TRY))
		return 0;
	return err_set(e, errno, "Can't find source path %s", source);
}

/* The old root itself was cloned before the base was mounted over it. */
static int source_clone(struct faithful *f, const struct op *op, const char *path)
{
	int *whole = &f->whole[op - f->plan->op];
	return *whole >= 0 ? take_fd(whole) : mount_clone(AT_FDCWD, path);
}

static int apply_bind(struct faithful *f, const struct op *op, struct err *e)
{
	AUTO_CLOSE int tree = source_clone(f, op, op->source);
	if (tree < 0)
		return source_missing(op, op->source, e);
	return attach(f, &tree, op, bind_attributes(op->flags), e);
}

/* A descriptor from before this mount namespace cannot be cloned: its path is, and compared. */
static int apply_bind_fd(struct faithful *f, const struct op *op, struct err *e)
{
	char path[4096];
	struct stat before, now;
	ssize_t length = readlink(op->source, path, sizeof path - 1);
	if (length < 0 || fstat(op->fd, &before) < 0)
		return source_missing(op, op->source, e);
	path[length] = '\0';
	AUTO_CLOSE int tree = source_clone(f, op, path);
	if (tree < 0)
		return source_missing(op, path, e);
	if (fstat(tree, &now) < 0 || before.st_dev != now.st_dev || before.st_ino != now.st_ino)
		return err_set(e, 0, "Race condition binding dirfd");
	close(op->fd);
	return attach(f, &tree, op, bind_attributes(op->flags), e);
}

static int apply_tmpfs(struct faithful *f, const struct op *op, struct err *e)
{
	char mode[16], size[24];
	snprintf(mode, sizeof mode, "%#o", op->perms);
	snprintf(size, sizeof size, "%ju", (uintmax_t)op->size);
	const struct mount_option option[] = { { "source", "tmpfs" }, { "mode", mode },
		{ op->size ? "size" : NULL, size }, { NULL, NULL } };
	AUTO_CLOSE int place = place_directory(f, op, 0755, e);
	if (place < 0)
		return -1;
	AUTO_CLOSE int mount = mount_new("tmpfs", option, plain);
	if (mount < 0 || mount_attach(mount, place) < 0)
		return err_set(
			e, errno, "Can't mount tmpfs on /newroot/%s", place_inside(op->target));
	place_covered(f, &mount, op->target);
	return 0;
}

static int apply_mqueue(struct faithful *f, const struct op *op, struct err *e)
{
	AUTO_CLOSE int place = place_directory(f, op, 0755, e);
	if (place < 0)
		return -1;
	static const struct mount_option option[] = { { "source", "mqueue" }, { NULL, NULL } };
	AUTO_CLOSE int mount = mount_new("mqueue", option, 0);
	if (mount < 0 || mount_attach(mount, place) < 0)
		return err_set(
			e, errno, "Can't mount mqueue on /newroot/%s", place_inside(op->target));
	return 0;
}

static int apply_dir(struct faithful *f, const struct op *op, struct err *e)
{
	AUTO_CLOSE int place = place_directory(f, op, op->perms, e);
	return place < 0 ? -1 : 0;
}

static int data_copy(int from, int to)
{
	char buffer[16384];
	for (;;) {
		ssize_t got = read(from, buffer, sizeof buffer);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return (int)got;
		if (fd_write_all(to, buffer, (size_t)got) < 0)
			return -1;
	}
}

static int apply_copy(struct faithful *f, const struct op *op, struct err *e)
{
	AUTO_CLOSE int file = place_written(f, op, e);
	if (file < 0)
		return -1;
	if (data_copy(op->fd, file) < 0)
		return err_set(e, errno, "Can't write data to file %s", op->target);
	close(op->fd);
	return 0;
}

static int apply_data(struct faithful *f, const struct op *op, struct err *e)
{
	char name[32];
	snprintf(name, sizeof name, "bindfile%06u", f->made++);
	AUTO_CLOSE int file =
		openat(f->base, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, op->perms);
	if (file < 0)
		return err_set(e, errno, "Can't create tmpfile for %s", op->target);
	if (data_copy(op->fd, file) < 0)
		return err_set(e, errno, "Can't write data to file %s", op->target);
	close(op->fd);
	AUTO_CLOSE int tree = mount_clone(f->base, name);
	int result = tree < 0 ? err_set(e, errno, "Can't create tmpfile for %s", op->target)
			      : attach(f, &tree, op, bind_attributes(op->flags), e);
	unlinkat(f->base, name, 0);
	return result;
}

static int link_exists(int parent, const char *name, const struct op *op, struct err *e)
{
	char text[4096];
	ssize_t length = readlinkat(parent, name, text, sizeof text - 1);
	if (length < 0 && errno == EINVAL)
		return err_set(e, 0,
			"Can't make symlink at %s: destination exists and is not a symlink",
			op->target);
	if (length < 0)
		return err_set(e, errno,
			"Can't make symlink at %s: destination exists, and cannot read symlink target",
			op->target);
	text[length] = '\0';
	if (strcmp(text, op->value) == 0)
		return 0;
	return err_set(
		e, 0, "Can't make symlink at %s: existing destination is %s", op->target, text);
}

static int apply_symlink(struct faithful *f, const struct op *op, struct err *e)
{
	char name[NAME_MAX + 1];
	AUTO_CLOSE int parent = place_parent(f, op, name, e);
	if (parent < 0)
		return -1;
	if (symlinkat(op->value, parent, name) == 0)
		return 0;
	if (errno == EEXIST)
		return link_exists(parent, name, op, e);
	return err_set(e, errno, "Can't make symlink at %s", op->target);
}

static int apply_chmod(struct faithful *f, const struct op *op, struct err *e)
{
	char path[32];
	AUTO_CLOSE int place = place_find(f, op->target, O_PATH);
	snprintf(path, sizeof path, "/proc/self/fd/%d", place);
	if (place < 0 || chmod(path, op->perms) < 0)
		return err_set(e, errno, "Can't chmod %#o %s", op->perms, op->target);
	return 0;
}

static int apply_remount_ro(struct faithful *f, const struct op *op, struct err *e)
{
	const char *inside = place_inside(op->target);
	AUTO_CLOSE int place = place_find(f, op->target, O_PATH);
	if (place < 0)
		return err_set(e, errno,
			"Can't remount readonly on /newroot/%s: realpath(destination)", inside);
	if (mount_restrict_one(place, "", plain | MOUNT_ATTR_RDONLY) == 0)
		return 0;
	if (errno == EINVAL) /* it is not where a mount begins */
		return err_set(e, 0,
			"Can't remount readonly on /newroot/%s: Unable to find \"/newroot/%s\" in "
			"mount table",
			inside, inside);
	return err_set(e, errno,
		"Can't remount readonly on /newroot/%s: Unable to remount destination \"/newroot/%s\" "
		"with correct flags",
		inside, inside);
}

static int apply_mount(struct faithful *f, const struct op *op, struct err *e)
{
	switch (op->kind) {
	case OP_BIND:
		return apply_bind(f, op, e);
	case OP_BIND_FD:
		return apply_bind_fd(f, op, e);
	case OP_TMPFS:
		return apply_tmpfs(f, op, e);
	case OP_OVERLAY:
	case OP_TMP_OVERLAY:
		return faithful_overlay(f, op, e);
	case OP_PROC:
		return faithful_proc(f, op, e);
	case OP_DEV:
		return faithful_dev(f, op, e);
	case OP_DIR:
		return apply_dir(f, op, e);
	case OP_SYMLINK:
		return apply_symlink(f, op, e);
	case OP_REMOUNT_RO:
		return apply_remount_ro(f, op, e);
	case OP_COPY_FD:
		return apply_copy(f, op, e);
	case OP_BIND_DATA:
		return apply_data(f, op, e);
	case OP_MQUEUE:
		return apply_mqueue(f, op, e);
	case OP_CHMOD:
		return apply_chmod(f, op, e);
	case OP_FILE:
	case OP_MASK:
		return err_set(e, 0, "bubblewrap has no '%s'", op_info[op->kind].name);
	case OP_NAMESPACE:
	case OP_IDENTITY:
	case OP_HOSTNAME:
	case OP_ENV_CLEAR:
	case OP_ENV_KEEP:
	case OP_ENV_UNSET:
	case OP_ENV_SET:
	case OP_CWD:
	case OP_LIMIT:
	case OP_NO_USER_NAMESPACES:
	case OP_CAPABILITIES:
	case OP_NO_NEW_PRIVILEGES:
	case OP_LANDLOCK:
	case OP_SECCOMP:
	case OP_SECCOMP_FD:
	case OP_COUNT:
		return 0; /* other phases */
	}
	return 0;
}

static int source_check(struct faithful *f, const struct op *op, const char *path, struct err *e)
{
	struct stat info;
	if (!path)
		return 0;
	if (stat(path, &info) < 0)
		return source_missing(op, path, e);
	int *whole = &f->whole[op - f->plan->op];
	if (info.st_ino != f->old_root.st_ino || info.st_dev != f->old_root.st_dev)
		return 0;
	if (path != op->source || *whole >= 0)
		return 0;
	*whole = mount_clone(AT_FDCWD, path);
	return *whole < 0 ? source_missing(op, path, e) : 0;
}

/* Bubblewrap looks for all sources before it makes anything: the first that is missing is what the
 * user hears of, and nothing has been made on the host. Each is opened later, once. */
static int sources_check(struct faithful *f, struct err *e)
{
	const struct plan *plan = f->plan;
	if (stat("/", &f->old_root) < 0)
		return err_set(e, errno, "can't open /");
	for (size_t i = 0; i < plan->count; i++) {
		const struct op *op = &plan->op[i];
		if (op_info[op->kind].phase != PHASE_MOUNTS)
			continue;
		if (source_check(f, op, op->source, e) < 0 ||
			source_check(f, op, op->upper, e) < 0 ||
			source_check(f, op, op->work, e) < 0)
			return -1;
		for (size_t j = 0; op->layers && op->layers[j]; j++)
			if (source_check(f, op, op->layers[j], e) < 0)
				return -1;
	}
	return 0;
}

static int base_make(struct faithful *f, struct err *e)
{
	AUTO_CLOSE int old_root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	static const struct mount_option option[] = { { "source", "tmpfs" }, { NULL, NULL } };
	f->base = mount_new("tmpfs", option, plain);
	if (f->base < 0 || old_root < 0 || mount_attach(f->base, old_root) < 0)
		return err_set(e, errno, "Failed to mount tmpfs");
	if (mkdirat(f->base, "newroot", 0755) < 0)
		return err_set(e, errno, "Creating newroot failed");
	AUTO_CLOSE int place = openat(f->base, "newroot", O_PATH | O_CLOEXEC);
	f->root = mount_clone(f->base, "newroot");
	if (place < 0 || f->root < 0 || mount_attach(f->root, place) < 0)
		return err_set(e, errno, "setting up newroot bind");
	return 0;
}

/* With the pivot the old root comes to lie upon the new one, and upon that the base, if it is still
 * there; only the uppermost is detached at once. So the base is moved into the old root before, where
 * it goes with it: to detach is what costs most. */
static int root_enter(const struct faithful *f)
{
	AUTO_CLOSE int aside = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	bool moved = aside >= 0 && mount_attach(f->base, aside) == 0;
	if (mount_pivot(f->root) < 0)
		return -1;
	return moved ? 0 : umount2(".", MNT_DETACH);
}

int faithful_mounts(const struct plan *plan, struct err *e)
{
	AUTO_FREE int *whole = memory_alloc(plan->count, sizeof *whole);
	struct faithful f = { .base = -1, .root = -1, .plan = plan, .whole = whole };
	mode_t user_umask = umask(0); /* permissions in the plan are exact */
	for (size_t i = 0; i < plan->count; i++)
		whole[i] = -1;
	if (mount_all_private() < 0)
		return err_set(e, errno, "Failed to make / slave");
	if (sources_check(&f, e) < 0)
		return -1;
	if (base_make(&f, e) < 0)
		return -1;
	for (size_t i = 0; i < plan->count; i++)
		if (apply_mount(&f, &plan->op[i], e) < 0)
			return -1;
	if (root_enter(&f) < 0)
		return err_set(e, errno, "pivot_root(/newroot)");
	close(f.root);
	close(f.base);
	umask(user_umask);
	return 0;
}
