/* SPDX-License-Identifier: MIT */
#include "apply/special.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "kernel/lookup.h"
#include "kernel/mount.h"

static const char *const mask_names[] = { ".mask", ".mask.d" };

/* The empty file (or directory) that masks are clones of, made in the base the first time. */
static int mask_source(struct tree *tree, bool directory)
{
	const char *name = mask_names[directory];
	if (tree->masks[directory])
		return 0;
	int made = directory ? mkdirat(tree->base, name, 0555)
			     : mknodat(tree->base, name, S_IFREG | 0444, 0);
	tree->masks[directory] = made == 0;
	return made;
}

/* No device is involved: writing to a read-only bind of /dev/null would succeed. */
int mask_attach(struct tree *tree, int place)
{
	uint64_t attributes =
		MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
	struct stat info;
	if (fstat(place, &info) < 0)
		return -1;
	bool directory = S_ISDIR(info.st_mode);
	if (mask_source(tree, directory) < 0)
		return -1;
	AUTO_CLOSE int clone = mount_clone(tree->base, mask_names[directory]);
	if (clone < 0 || mount_restrict(clone, attributes) < 0)
		return -1;
	return mount_attach(clone, place);
}

/* Only when all is attached: a tree whose root has no name any more cannot be attached. */
int mask_finish(struct tree *tree)
{
	for (int directory = 0; directory < 2; directory++) {
		int flags = directory ? AT_REMOVEDIR : 0;
		if (tree->masks[directory] &&
			unlinkat(tree->base, mask_names[directory], flags) < 0)
			return -1;
		tree->masks[directory] = false;
	}
	return 0;
}

/* What of /proc describes or drives the host rather than the sandbox's own processes. To the kernel
 * a real root inside is still root: these mounts are then the only fence. */
static const char *const proc_masked[] = { "sysrq-trigger", "kcore", "keys", "timer_list", "acpi",
	"scsi", "irq", "bus" };

static int proc_restrict(struct tree *tree, int proc)
{
	for (size_t i = 0; i < sizeof proc_masked / sizeof proc_masked[0]; i++) {
		AUTO_CLOSE int place =
			openat(proc, proc_masked[i], O_PATH | O_CLOEXEC | O_NOFOLLOW);
		if (place < 0 && errno == ENOENT)
			continue;
		if (place < 0 || mask_attach(tree, place) < 0)
			return -1;
	}
	AUTO_CLOSE int settings = openat(proc, "sys", O_PATH | O_CLOEXEC | O_NOFOLLOW);
	AUTO_CLOSE int clone = mount_clone(proc, "sys");
	if (settings < 0 || clone < 0 || mount_restrict(clone, MOUNT_ATTR_RDONLY) < 0)
		return -1;
	return mount_attach(clone, settings);
}

static const uint64_t proc_attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;

/* The kernel lets a nested user namespace mount proc only where it finds, anywhere in the mount
 * namespace, a proc without masks. So one is mounted where nothing can reach it: below a directory
 * that a read-only tmpfs then covers. */
static int proc_bury(struct tree *tree, const char *target, struct err *e)
{
	static const char grave[] = "/run/hutch/nesting", body[] = "/run/hutch/nesting/proc";
	AUTO_CLOSE int cover_place = tree_target(tree, grave, true, e);
	AUTO_CLOSE int place = cover_place < 0 ? -1 : tree_target(tree, body, true, e);
	if (place < 0)
		return -1;
	AUTO_CLOSE int proc = mount_new("proc", NULL, proc_attributes);
	AUTO_CLOSE int cover = apply_tmpfs_new(4096, 1, 0555,
		MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	if (proc < 0 || cover < 0 || mount_attach(proc, place) < 0 ||
		mount_attach(cover, cover_place) < 0)
		return err_set(e, errno, "cannot prepare %s for nested sandboxes", target);
	return 0;
}

static int proc_mount(const struct op *op, struct err *e)
{
	if (op->flags & PROC_HOST) {
		AUTO_CLOSE int clone = mount_clone(AT_FDCWD, "/proc");
		if (clone < 0 || mount_restrict(clone, proc_attributes) < 0)
			return err_set(e, errno, "cannot bind the outer /proc");
		return take_fd(&clone);
	}
	int fresh = mount_new("proc", NULL, proc_attributes);
	if (fresh < 0 && errno == EPERM) {
		err_set(e, EPERM, "cannot mount a fresh /proc (this is usual inside a container)");
		return err_hint(e, "use --proc host: weaker, the outer processes are then listed "
				   "inside; or start the container with its /proc unmasked");
	}
	if (fresh < 0)
		return err_set(e, errno, "cannot mount a fresh /proc");
	return fresh;
}

int apply_proc(struct tree *tree, const struct op *op, struct err *e)
{
	if ((op->flags & PROC_NESTING) && proc_bury(tree, op->target, e) < 0)
		return -1;
	AUTO_CLOSE int place = tree_target(tree, op->target, true, e);
	if (place < 0)
		return -1;
	AUTO_CLOSE int proc = proc_mount(op, e);
	if (proc < 0)
		return -1;
	if (mount_attach(proc, place) < 0)
		return err_set(e, errno, "cannot mount over %s", op->target);
	tree_mounted(tree, op->target);
	if (ruleset_allow(tree->ruleset, proc, RULESET_FILES, e) < 0)
		return -1;
	if (!tree->make_anywhere && proc_restrict(tree, proc) < 0)
		return err_set(e, errno, "cannot restrict %s", op->target);
	return 0;
}

static const char *const dev_nodes[] = { "null", "zero", "full", "random", "urandom", "tty" };

static const struct dev_link {
	const char *name;
	const char *text;
} dev_links[] = {
	{ "fd", "/proc/self/fd" }, { "stdin", "/proc/self/fd/0" }, { "stdout", "/proc/self/fd/1" },
	{ "stderr", "/proc/self/fd/2" }, { "ptmx", "pts/ptmx" },
	{ "console", "pts/0" }, /* the command's terminal is the first of its own devpts */
};

static int dev_node(int dev, const char *name)
{
	char source[32];
	snprintf(source, sizeof source, "/dev/%s", name);
	AUTO_CLOSE int clone = mount_clone(AT_FDCWD, source);
	if (clone < 0 && errno == ENOENT)
		return 0; /* a container without it: there is none inside, too */
	if (clone < 0 || mount_restrict(clone, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC) < 0)
		return -1;
	if (mknodat(dev, name, S_IFREG | 0444, 0) < 0)
		return -1;
	AUTO_CLOSE int place = openat(dev, name, O_PATH | O_CLOEXEC | O_NOFOLLOW);
	return place < 0 ? -1 : mount_attach(clone, place);
}

/* Make the directory `name` and attach `mount` to it. */
static int dev_subdirectory(int dev, const char *name, int mount)
{
	if (mount < 0 || mkdirat(dev, name, 0755) < 0)
		return -1;
	AUTO_CLOSE int place = openat(dev, name, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return place < 0 ? -1 : mount_attach(mount, place);
}

static int dev_fill(struct tree *tree, int dev, const struct op *op)
{
	for (size_t i = 0; i < sizeof dev_nodes / sizeof dev_nodes[0]; i++)
		if (dev_node(dev, dev_nodes[i]) < 0)
			return -1;
	for (size_t i = 0; i < sizeof dev_links / sizeof dev_links[0]; i++)
		if (symlinkat(dev_links[i].text, dev, dev_links[i].name) < 0)
			return -1;
	static const struct mount_option pts_options[] = { { "newinstance", NULL },
		{ "ptmxmode", "0666" }, { "mode", "620" }, { NULL, NULL } };
	AUTO_CLOSE int pts =
		mount_new("devpts", pts_options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
	if (dev_subdirectory(dev, "pts", pts) < 0)
		return -1;
	AUTO_CLOSE int shm =
		apply_tmpfs_new(op->size, 1u << 16, 01777, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	/* A project or a home may be there. */
	if (dev_subdirectory(dev, "shm", shm) < 0 || tree_own(tree, shm, false, NULL) < 0)
		return -1;
	return ruleset_allow(tree->ruleset, shm, RULESET_WRITE, NULL);
}

int apply_dev(struct tree *tree, const struct op *op, struct err *e)
{
	AUTO_CLOSE int place = tree_target(tree, op->target, true, e);
	if (place < 0)
		return -1;
	AUTO_CLOSE int dev =
		apply_tmpfs_new(64u << 10, 64, 0755, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
	if (dev < 0 || mount_attach(dev, place) < 0 || dev_fill(tree, dev, op) < 0)
		return err_set(e, errno, "cannot make the devices in %s", op->target);
	tree_mounted(tree, op->target);
	if (ruleset_allow(tree->ruleset, dev, RULESET_DEVICES, e) < 0)
		return -1;
	/* Read-only: the nodes are mounts of their own and stay usable. */
	if (!tree->make_anywhere && mount_restrict_one(dev, "", MOUNT_ATTR_RDONLY) < 0)
		return err_set(e, errno, "cannot make %s read-only", op->target);
	return 0;
}
