/* SPDX-License-Identifier: MIT */
#include "apply/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apply/special.h"
#include "apply/target.h"
#include "base/fd.h"
#include "kernel/lookup.h"
#include "kernel/mount.h"

/* Attach `mount` at `target`. A mount at "/" becomes the root that later targets are found in. */
static int attach(struct tree *tree, int *mount, const struct op *op, struct err *e)
{
	const char *target = op->target;
	struct stat info;
	if (fstat(*mount, &info) < 0)
		return err_set(e, errno, "cannot look at what to mount at %s", target);
	bool is_root = strcmp(target, "/") == 0;
	AUTO_CLOSE int place = is_root ? -1 : tree_target(tree, target, S_ISDIR(info.st_mode), e);
	if (place < 0 && !is_root)
		return -1;
	if (mount_attach(*mount, is_root ? tree->root : place) < 0)
		return err_set(e, errno, "cannot mount over %s", target);
	tree_mounted(tree, target);
	if (ruleset_allow_op(tree->ruleset, *mount, op, e) < 0)
		return -1;
	if (is_root)
		tree->root =
			take_fd(mount); /* what it was stays open: it is the base, or is covered */
	return 0;
}

/* The rest of a bind once its tree is cloned. */
static int bind_tree(struct tree *tree, int *clone, const struct op *op, struct err *e)
{
	uint64_t attributes = MOUNT_ATTR_NOSUID;
	if (!(op->flags & BIND_DEVICES))
		attributes |= MOUNT_ATTR_NODEV;
	if (op->flags & BIND_READ_ONLY)
		attributes |= MOUNT_ATTR_RDONLY;
	if (mount_restrict(*clone, attributes) < 0)
		return err_set(e, errno, "cannot restrict the mount of %s", op->source);
	if (op->flags & BIND_SCRATCH && tree_own(tree, *clone, true, e) < 0)
		return -1;
	return attach(tree, clone, op, e);
}

static bool is_whole(const struct op *op)
{
	return op->kind == OP_BIND && op->source[strspn(op->source, "/")] == '\0';
}

/* A clone of "/" has everything that is mounted on it: it is made before the new root is. */
static int whole_clone(const struct plan *plan, struct tree *tree, struct err *e)
{
	for (size_t i = 0; i < plan->count; i++) {
		if (!is_whole(&plan->op[i]))
			continue;
		if (tree->whole_count == sizeof tree->whole / sizeof tree->whole[0])
			return err_set(e, 0, "%s: / is bound more than %zu times",
				plan->op[i].because, tree->whole_count);
		int clone = mount_clone(AT_FDCWD, "/");
		if (clone < 0)
			return err_set(e, errno, "%s: cannot open /", plan->op[i].because);
		tree->whole[tree->whole_count++] = clone;
	}
	return 0;
}

static int apply_bind(struct tree *tree, const struct op *op, struct err *e)
{
	AUTO_CLOSE int clone = is_whole(op) ? take_fd(&tree->whole[tree->whole_used++])
					    : mount_clone(AT_FDCWD, op->source);
	if (clone < 0 && errno == ENOENT && (op->flags & BIND_TRY))
		return 0;
	if (clone < 0)
		return err_set(e, errno, "cannot open %s", op->source);
	return bind_tree(tree, &clone, op, e);
}

/* A descriptor from before this mount namespace cannot be cloned: open its path again here, and see
 * that it still is the same file. */
static int apply_bind_fd(struct tree *tree, const struct op *op, struct err *e)
{
	struct stat before, now;
	AUTO_CLOSE int clone = mount_clone(AT_FDCWD, op->source);
	if (clone < 0)
		return err_set(e, errno, "cannot open %s", op->source);
	if (fstat(op->fd, &before) < 0 || fstat(clone, &now) < 0)
		return err_set(e, errno, "cannot look at %s", op->source);
	if (before.st_dev != now.st_dev || before.st_ino != now.st_ino)
		return err_set(
			e, 0, "%s was replaced while the sandbox was being made", op->source);
	return bind_tree(tree, &clone, op, e);
}

int apply_tmpfs_new(uint64_t size, uint64_t inodes, mode_t perms, uint64_t attributes)
{
	char size_text[24], inodes_text[24], mode_text[16];
	snprintf(size_text, sizeof size_text, "%" PRIu64, size);
	snprintf(inodes_text, sizeof inodes_text, "%" PRIu64, inodes);
	snprintf(mode_text, sizeof mode_text, "%o", perms);
	struct mount_option option[4] = { { "mode", mode_text } };
	size_t count = 1;
	if (size)
		option[count++] = (struct mount_option){ "size", size_text };
	if (inodes)
		option[count++] = (struct mount_option){ "nr_inodes", inodes_text };
	return mount_new("tmpfs", option, attributes);
}

static int apply_tmpfs(struct tree *tree, const struct op *op, struct err *e)
{
	AUTO_CLOSE int mount = apply_tmpfs_new(
		op->size, op->inodes, op->perms, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	if (mount < 0)
		return err_set(e, errno, "cannot make a tmpfs for %s", op->target);
	if (tree_own(tree, mount, false, e) < 0)
		return -1;
	return attach(tree, &mount, op, e);
}

/* A colon separates layers, so one in a name is escaped. */
static int layers_text(const struct op *op, char *ret_text, size_t size, struct err *e)
{
	size_t used = 0, count = 0;
	while (op->layers[count])
		count++;
	for (size_t i = count; i-- > 0;) { /* the kernel wants the uppermost first */
		for (const char *p = op->layers[i]; *p; p++) {
			if (used + 4 > size)
				return err_set(
					e, ENAMETOOLONG, "too many layers for %s", op->target);
			if (*p == ':' || *p == '\\')
				ret_text[used++] = '\\';
			ret_text[used++] = *p;
		}
		ret_text[used++] = i ? ':' : '\0';
	}
	return 0;
}

static int apply_overlay(struct tree *tree, const struct op *op, struct err *e)
{
	char lower[4096]; /* the kernel's limit for one mount option */
	if (layers_text(op, lower, sizeof lower, e) < 0)
		return -1;
	struct mount_option option[] = { { "lowerdir", lower }, { "userxattr", NULL },
		{ op->upper ? "upperdir" : NULL, op->upper }, { "workdir", op->work },
		{ NULL, NULL } };
	AUTO_CLOSE int mount = mount_new("overlay", option, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	if (mount < 0) {
		err_set(e, errno, "cannot make an overlay for %s", op->target);
		return err_hint(e, "hutch doctor tells whether this kernel has overlayfs for "
				   "unprivileged users");
	}
	return attach(tree, &mount, op, e);
}

static int apply_file(struct tree *tree, const struct op *op, struct err *e)
{
	const char *name;
	int parent = tree_parent(tree, op->target, &name, e);
	if (parent < 0)
		return -1;
	AUTO_CLOSE int fd = openat(
		parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, op->perms);
	if (fd < 0 || fd_write_all(fd, op->value, strlen(op->value)) < 0)
		return err_set(e, errno, "cannot write %s", op->target);
	return 0;
}

static int apply_symlink(struct tree *tree, const struct op *op, struct err *e)
{
	const char *name;
	int parent = tree_parent(tree, op->target, &name, e);
	if (parent < 0)
		return -1;
	strings_add(&tree->links, op->target);
	if (symlinkat(op->value, parent, name) == 0)
		return 0;
	/* A home that is kept has the link of an earlier run. */
	int number = errno;
	struct stat info;
	if (number == EEXIST && fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
		S_ISLNK(info.st_mode) && unlinkat(parent, name, 0) == 0 &&
		symlinkat(op->value, parent, name) == 0)
		return 0;
	err_set(e, number, "cannot make the link %s", op->target);
	return number == EEXIST ? err_hint(e, "remove what is there from the kept home") : -1;
}

static int apply_mask(struct tree *tree, const struct op *op, struct err *e)
{
	AUTO_CLOSE int place = lookup_in_root(tree->root, op->target, O_PATH);
	if (place < 0 && errno == ENOENT)
		return 0; /* nothing there to hide */
	if (place < 0 || mask_attach(tree, place) < 0)
		return err_set(e, errno, "cannot mask %s", op->target);
	return 0;
}

static int apply_remount_ro(struct tree *tree, const struct op *op, struct err *e)
{
	AUTO_CLOSE int place = lookup_in_root(tree->root, op->target, O_PATH);
	/* What masks were made of goes while its names can still be removed. */
	if (place < 0 || mask_finish(tree) < 0 ||
		mount_restrict_one(place, "", MOUNT_ATTR_RDONLY) < 0)
		return err_set(e, errno, "cannot make %s read-only", op->target);
	return 0;
}

static int apply_mount(struct tree *tree, const struct op *op, struct err *e)
{
	switch (op->kind) {
	case OP_BIND:
		return apply_bind(tree, op, e);
	case OP_BIND_FD:
		return apply_bind_fd(tree, op, e);
	case OP_TMPFS:
		return apply_tmpfs(tree, op, e);
	case OP_OVERLAY:
		return apply_overlay(tree, op, e);
	case OP_PROC:
		return apply_proc(tree, op, e);
	case OP_DEV:
		return apply_dev(tree, op, e);
	case OP_DIR:
		return tree_directory(tree, op->target, op->perms, e);
	case OP_FILE:
		return apply_file(tree, op, e);
	case OP_SYMLINK:
		return apply_symlink(tree, op, e);
	case OP_MASK:
		return apply_mask(tree, op, e);
	case OP_REMOUNT_RO:
		return apply_remount_ro(tree, op, e);
	case OP_TMP_OVERLAY:
	case OP_COPY_FD:
	case OP_BIND_DATA:
	case OP_MQUEUE:
	case OP_CHMOD:
		return err_set(e, 0, "only a bubblewrap command line can ask for '%s'",
			op_info[op->kind].name);
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

/* The root's own tmpfs. It only ever holds directories, links and small files; a plan that begins
 * with a tmpfs at "/" says how much, else these limits hold. */
static int root_make(const struct plan *plan, struct tree *tree, size_t *ret_first, struct err *e)
{
	struct op root = { .size = 16u << 20, .inodes = 1u << 16, .perms = 0755 };
	*ret_first = 0;
	while (*ret_first < plan->count && op_info[plan->op[*ret_first].kind].phase < PHASE_MOUNTS)
		++*ret_first;
	if (*ret_first < plan->count && plan->op[*ret_first].kind == OP_TMPFS &&
		strcmp(plan->op[*ret_first].target, "/") == 0)
		root = plan->op[(*ret_first)++];
	AUTO_CLOSE int mount = apply_tmpfs_new(
		root.size, root.inodes, root.perms, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	AUTO_CLOSE int old_root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (mount < 0 || old_root < 0 || mount_attach(mount, old_root) < 0)
		return err_set(e, errno, "cannot make the sandbox's root");
	if (tree_own(tree, mount, false, e) < 0)
		return -1;
	tree->root = tree->base = take_fd(&mount);
	return 0;
}

int apply_mounts(const struct plan *plan, const struct ruleset *ruleset, struct err *e)
{
	struct tree tree = {
		.root = -1, .parent = -1, .ruleset = ruleset, .make_anywhere = plan->faithful
	};
	size_t first;
	mode_t user_umask = umask(0); /* permissions in the plan are exact */
	if (mount_all_private() < 0)
		return err_set(e, errno, "cannot make the mounts private");
	if (whole_clone(plan, &tree, e) < 0 || root_make(plan, &tree, &first, e) < 0)
		return -1;
	for (size_t i = first; i < plan->count; i++)
		if (apply_mount(&tree, &plan->op[i], e) < 0)
			return err_prefix(e, "%s", plan->op[i].because);
	if (mask_finish(&tree) < 0)
		return err_set(e, errno, "cannot remove what masks were made of");
	if (mount_pivot(tree.root) < 0)
		return err_set(e, errno, "cannot enter the sandbox's root");
	close(tree.root);
	strings_free(&tree.links);
	umask(user_umask);
	return 0;
}
