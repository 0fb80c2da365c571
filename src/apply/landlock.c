/* SPDX-License-Identifier: MIT */
#include "apply/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/landlock.h"
#include "plan/describe.h"

/* What opening a file for reading asks for, truncation included: see the header. */
static const uint64_t not_handled = LANDLOCK_FS_EXECUTE | LANDLOCK_FS_READ_FILE |
				    LANDLOCK_FS_READ_DIR | LANDLOCK_FS_TRUNCATE;
static const uint64_t device_makers = LANDLOCK_FS_MAKE_CHAR | LANDLOCK_FS_MAKE_BLOCK;

static const struct op *find(const struct plan *plan)
{
	for (size_t i = plan->count; i-- > 0;)
		if (plan->op[i].kind == OP_LANDLOCK)
			return &plan->op[i];
	return NULL;
}

int ruleset_make(const struct plan *plan, struct ruleset *ret_ruleset, struct err *e)
{
	const struct op *op = find(plan);
	*ret_ruleset = (struct ruleset){ .fd = -1 };
	if (!op)
		return 0;
	int abi = landlock_abi();
	if (abi < 0)
		return err_set(e, errno, "%s: cannot ask the kernel for Landlock", op->because);
	uint64_t files = 0;
	if ((op->flags & LANDLOCK_FILES) && abi >= 2)
		files = landlock_fs_rights(abi) & ~not_handled;
	uint64_t scopes = op->flags & LANDLOCK_SCOPES ? landlock_scopes(abi) : 0;
	if (!files && !scopes)
		return 0;
	if (landlock_create(files, 0, scopes, &ret_ruleset->fd, e) < 0)
		return err_prefix(e, "%s", op->because);
	ret_ruleset->files = files;
	return 0;
}

static uint64_t rights_of(enum ruleset_use use)
{
	switch (use) {
	case RULESET_WRITE:
		return ~(device_makers | LANDLOCK_FS_IOCTL_DEV);
	case RULESET_FILES:
		return LANDLOCK_FS_WRITE_FILE;
	case RULESET_DEVICES:
		return LANDLOCK_FS_WRITE_FILE | LANDLOCK_FS_IOCTL_DEV;
	}
	return 0;
}

static int allow(const struct ruleset *ruleset, int fd, uint64_t rights, struct err *e)
{
	struct stat info;
	if (fstat(fd, &info) < 0)
		return err_set(e, errno, "cannot look at what Landlock should allow");
	if (!S_ISDIR(info.st_mode))
		rights &= LANDLOCK_FS_OF_FILE;
	return landlock_allow_path(ruleset->fd, fd, rights & ruleset->files, e);
}

int ruleset_allow(const struct ruleset *ruleset, int mount, enum ruleset_use use, struct err *e)
{
	return ruleset->files ? allow(ruleset, mount, rights_of(use), e) : 0;
}

int ruleset_allow_op(const struct ruleset *ruleset, int mount, const struct op *op, struct err *e)
{
	if (op_is_writable(op) && ruleset_allow(ruleset, mount, RULESET_WRITE, e) < 0)
		return -1;
	/* Whether a mount is read-only does not matter to the devices in it. */
	return op->flags & BIND_DEVICES ? ruleset_allow(ruleset, mount, RULESET_DEVICES, e) : 0;
}

/* A terminal is replaced by the sandbox's own, and a socket cannot be opened by name. */
static bool can_be_written_again(int fd)
{
	struct stat info;
	if (fstat(fd, &info) < 0 || S_ISSOCK(info.st_mode) || S_ISDIR(info.st_mode) ||
		(S_ISCHR(info.st_mode) && isatty(fd)))
		return false;
	int flags = fcntl(fd, F_GETFL);
	return flags >= 0 && !(flags & O_PATH) && (flags & O_ACCMODE) != O_RDONLY;
}

int ruleset_allow_stdio(const struct ruleset *ruleset, struct err *e)
{
	for (int fd = 0; fd < 3 && ruleset->files; fd++) {
		struct err why = { 0 };
		if (!can_be_written_again(fd) || allow(ruleset, fd, LANDLOCK_FS_WRITE_FILE, &why) == 0)
			continue;
		/* A pipe without a name is not in any file system, and Landlock lets it pass. */
		if (why.number == EBADFD)
			continue;
		return err_set(e, why.number, "cannot let descriptor %d be opened again", fd);
	}
	return 0;
}

int ruleset_enter(const struct ruleset *ruleset, struct err *e)
{
	return ruleset->fd >= 0 ? landlock_restrict(ruleset->fd, 0, e) : 0;
}
