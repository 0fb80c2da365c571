/* SPDX-License-Identifier: MIT */
#include "apply/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "kernel/landlock.h"
#include "plan/describe.h"

/* What opening a file for reading asks for, or asks about: see the header. */
static const uint64_t read_rights =
	LANDLOCK_FS_EXECUTE | LANDLOCK_FS_READ_FILE | LANDLOCK_FS_READ_DIR;
static const uint64_t one_way_rights = LANDLOCK_FS_READ_FILE | LANDLOCK_FS_TRUNCATE;
static const uint64_t device_makers = LANDLOCK_FS_MAKE_CHAR | LANDLOCK_FS_MAKE_BLOCK;

static const struct op *find(const struct plan *plan)
{
	for (size_t i = plan->count; i-- > 0;)
		if (plan->op[i].kind == OP_LANDLOCK)
			return &plan->op[i];
	return NULL;
}

/* What opening the descriptor again may do; 0 when it is not a file that has a name, or a terminal,
 * in whose place comes the sandbox's own. */
static uint64_t rights_given(int fd)
{
	struct stat info;
	if (fstat(fd, &info) < 0 || S_ISSOCK(info.st_mode) || S_ISDIR(info.st_mode) ||
		(S_ISCHR(info.st_mode) && isatty(fd)))
		return 0;
	switch (fcntl(fd, F_GETFL) & O_ACCMODE) {
	case O_RDONLY:
		return LANDLOCK_FS_READ_FILE;
	case O_WRONLY:
		return LANDLOCK_FS_WRITE_FILE | LANDLOCK_FS_TRUNCATE;
	default:
		return LANDLOCK_FS_READ_FILE | LANDLOCK_FS_WRITE_FILE | LANDLOCK_FS_TRUNCATE;
	}
}

/* Is some data of the host given for reading or for writing only? */
static bool given_one_way(void)
{
	struct stat info;
	for (int fd = 0; fd < 3; fd++)
		if (fstat(fd, &info) == 0 && (S_ISREG(info.st_mode) || S_ISBLK(info.st_mode)) &&
			(fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDWR)
			return true;
	return false;
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
		files = landlock_fs_rights(abi) & ~(read_rights | LANDLOCK_FS_TRUNCATE);
	if (files && given_one_way())
		files |= landlock_fs_rights(abi) & one_way_rights;
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
		return LANDLOCK_FS_WRITE_FILE | LANDLOCK_FS_TRUNCATE;
	case RULESET_DEVICES:
		return LANDLOCK_FS_WRITE_FILE | LANDLOCK_FS_TRUNCATE | LANDLOCK_FS_IOCTL_DEV;
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
	rights &= ruleset->files;
	return rights ? landlock_allow_path(ruleset->fd, fd, rights, e) : 0;
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

/* Where reading is handled, what is below the root may be read. */
static int allow_reading(const struct ruleset *ruleset, struct err *e)
{
	if (!(ruleset->files & read_rights))
		return 0;
	AUTO_CLOSE int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return err_set(e, errno, "cannot open the sandbox's root");
	return allow(ruleset, root, read_rights, e);
}

int ruleset_finish(const struct ruleset *ruleset, struct err *e)
{
	if (allow_reading(ruleset, e) < 0)
		return -1;
	for (int fd = 0; fd < 3 && ruleset->files; fd++) {
		struct err why = { 0 };
		uint64_t rights = rights_given(fd);
		if (!rights || allow(ruleset, fd, rights, &why) == 0)
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
