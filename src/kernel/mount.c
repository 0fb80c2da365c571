/* SPDX-License-Identifier: MIT */
#include "kernel/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"

int mount_clone(int directory, const char *path)
{
	/* Recursive always: over mounts that an outer namespace locked, a non-recursive clone is
	 * refused, since it could uncover what they hide. */
	return open_tree(directory, path,
		AT_EMPTY_PATH | AT_RECURSIVE | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
}

int mount_restrict(int tree, uint64_t attributes)
{
	struct mount_attr attr = { .attr_set = attributes, .propagation = MS_PRIVATE };
	return mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof attr);
}

int mount_restrict_one(int directory, const char *path, uint64_t attributes)
{
	struct mount_attr attr = { .attr_set = attributes };
	return mount_setattr(directory, path, AT_EMPTY_PATH, &attr, sizeof attr);
}

int mount_all_private(void)
{
	struct mount_attr attr = { .propagation = MS_PRIVATE };
	return mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, &attr, sizeof attr);
}

int mount_attach(int tree, int target)
{
	return move_mount(tree, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
}

int mount_new(const char *type, const struct mount_option *options, uint64_t attributes)
{
	AUTO_CLOSE int context = fsopen(type, FSOPEN_CLOEXEC);
	if (context < 0)
		return -1;
	for (; options && options->name; options++) {
		unsigned command = options->value ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG;
		if (fsconfig(context, command, options->name, options->value, 0) < 0)
			return -1;
	}
	if (fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -1;
	return fsmount(context, FSMOUNT_CLOEXEC, (unsigned)attributes);
}

int mount_pivot(int root)
{
	/* With "." for both, the old root ends up mounted over the new one and can be detached
	 * without a directory to put it in. */
	if (fchdir(root) < 0 || syscall(SYS_pivot_root, ".", ".") < 0)
		return -1;
	return umount2(".", MNT_DETACH);
}
