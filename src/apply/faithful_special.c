/* SPDX-License-Identifier: MIT */
#include "apply/faithful_special.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "kernel/mount.h"

/* Put a detached tree at `name` of `directory`. */
static int attach_at(int directory, const char *name, int tree)
{
	AUTO_CLOSE int place = openat(directory, name, O_PATH | O_CLOEXEC | O_NOFOLLOW);
	return place < 0 ? -1 : mount_attach(tree, place);
}

/* --- proc ------------------------------------------------------------------------------------ */

static int proc_mount(const struct op *op)
{
	static const struct mount_option source[] = { { "source", "proc" }, { NULL, NULL } };
	if (!(op->flags & PROC_HOST))
		return mount_new(
			"proc", source, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	AUTO_CLOSE int tree = mount_clone(AT_FDCWD, "/proc");
	if (tree < 0 || mount_restrict(tree, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV) < 0)
		return -1;
	return take_fd(&tree);
}

/* What of it can be written to, which is so for root only, is made read-only. */
static int proc_cover(int proc, const char *name, const char *target, struct err *e)
{
	if (faccessat(proc, name, W_OK, 0) < 0) {
		if (errno == EACCES || errno == ENOENT || errno == EROFS)
			return 0;
		return err_set(e, errno, "Can't access /newroot/%s/%s", place_inside(target), name);
	}
	AUTO_CLOSE int tree = mount_clone(proc, name);
	if (tree < 0 ||
		mount_restrict(tree, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV) <
			0 ||
		attach_at(proc, name, tree) < 0)
		return err_set(e, errno, "Can't bind mount /newroot/%s/%s on /newroot/%s/%s",
			place_inside(target), name, place_inside(target), name);
	return 0;
}

int faithful_proc(struct faithful *f, const struct op *op, struct err *e)
{
	static const char *const covered[] = { "sys", "sysrq-trigger", "irq", "bus" };
	AUTO_CLOSE int place = place_directory(f, op, 0755, e);
	if (place < 0)
		return -1;
	AUTO_CLOSE int proc = proc_mount(op);
	if (proc < 0 || mount_attach(proc, place) < 0)
		return err_set(
			e, errno, "Can't mount proc on /newroot/%s", place_inside(op->target));
	for (size_t i = 0; i < sizeof covered / sizeof covered[0]; i++)
		if (proc_cover(proc, covered[i], op->target, e) < 0)
			return -1;
	place_covered(f, &proc, op->target);
	return 0;
}

/* --- dev ------------------------------------------------------------------------------------- */

static int dev_node(
	int dev, const char *source, const char *name, const char *target, struct err *e)
{
	if (mknodat(dev, name, S_IFREG | 0444, 0) < 0)
		return err_set(e, errno, "Can't create file %s/%s", target, name);
	AUTO_CLOSE int tree = mount_clone(AT_FDCWD, source);
	if (tree < 0 || mount_restrict(tree, MOUNT_ATTR_NOSUID) < 0 ||
		attach_at(dev, name, tree) < 0)
		return err_set(e, errno, "Can't bind mount /oldroot%s on /newroot/%s/%s", source,
			place_inside(target), name);
	return 0;
}

static const struct dev_link {
	const char *name;
	const char *text;
} dev_links[] = {
	{ "stdin", "/proc/self/fd/0" },
	{ "stdout", "/proc/self/fd/1" },
	{ "stderr", "/proc/self/fd/2" },
	{ "fd", "/proc/self/fd" },
	{ "core", "/proc/kcore" },
};

static int dev_links_make(int dev, const char *target, struct err *e)
{
	for (size_t i = 0; i < sizeof dev_links / sizeof dev_links[0]; i++)
		if (symlinkat(dev_links[i].text, dev, dev_links[i].name) < 0)
			return err_set(
				e, errno, "Can't create symlink %s/%s", target, dev_links[i].name);
	return 0;
}

static int dev_terminals(int dev, const char *target, struct err *e)
{
	static const struct mount_option options[] = { { "source", "devpts" },
		{ "newinstance", NULL }, { "ptmxmode", "0666" }, { "mode", "620" },
		{ NULL, NULL } };
	if (mkdirat(dev, "shm", 0755) < 0)
		return err_set(e, errno, "Can't create %s/shm", target);
	if (mkdirat(dev, "pts", 0755) < 0)
		return err_set(e, errno, "Can't create %s/devpts", target);
	AUTO_CLOSE int pts = mount_new("devpts", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
	if (pts < 0 || attach_at(dev, "pts", pts) < 0)
		return err_set(
			e, errno, "Can't mount devpts on /newroot/%s/pts", place_inside(target));
	if (symlinkat("pts/ptmx", dev, "ptmx") < 0)
		return err_set(e, errno, "Can't make symlink at %s/ptmx", target);
	return 0;
}

/* The terminal that the output goes to is there as the console. */
static int dev_console(int dev, const char *target, struct err *e)
{
	char path[256];
	if (!isatty(STDOUT_FILENO))
		return 0;
	ssize_t length = readlink("/proc/self/fd/1", path, sizeof path - 1);
	if (length <= 0 || path[0] != '/')
		return 0;
	path[length] = '\0';
	struct stat named, open;
	if (stat(path, &named) < 0 || fstat(STDOUT_FILENO, &open) < 0 ||
		named.st_rdev != open.st_rdev)
		return 0; /* of another devpts: it has no name here */
	return dev_node(dev, path, "console", target, e);
}

int faithful_dev(struct faithful *f, const struct op *op, struct err *e)
{
	static const char *const nodes[] = { "null", "zero", "full", "random", "urandom", "tty" };
	static const struct mount_option options[] = { { "source", "tmpfs" }, { "mode", "0755" },
		{ NULL, NULL } };
	AUTO_CLOSE int place = place_directory(f, op, 0755, e);
	if (place < 0)
		return -1;
	AUTO_CLOSE int dev = mount_new("tmpfs", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	if (dev < 0 || mount_attach(dev, place) < 0)
		return err_set(
			e, errno, "Can't mount tmpfs on /newroot/%s", place_inside(op->target));
	for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
		char source[32];
		snprintf(source, sizeof source, "/dev/%s", nodes[i]);
		if (dev_node(dev, source, nodes[i], op->target, e) < 0)
			return -1;
	}
	if (dev_links_make(dev, op->target, e) < 0 || dev_terminals(dev, op->target, e) < 0 ||
		dev_console(dev, op->target, e) < 0)
		return -1;
	place_covered(f, &dev, op->target);
	return 0;
}

/* --- overlay --------------------------------------------------------------------------------- */

struct overlay {
	char lower[4096]; /* the kernel's limit for one mount option */
	size_t used;
	char upper[PATH_MAX];
	char work[PATH_MAX];
};

/* A path as the kernel reads it in a list of layers: a colon separates. */
static int layer_add(struct overlay *overlay, const char *path)
{
	char *full = realpath(path, NULL);
	int result = full ? 0 : -1;
	if (full && overlay->used)
		overlay->lower[overlay->used++] = ':';
	for (const char *p = full; p && *p && result == 0; p++) {
		if (overlay->used + 4 > sizeof overlay->lower) {
			errno = ENAMETOOLONG;
			result = -1;
			break;
		}
		if (*p == ':' || *p == '\\')
			overlay->lower[overlay->used++] = '\\';
		overlay->lower[overlay->used++] = *p;
	}
	overlay->lower[overlay->used] = '\0';
	free(full);
	return result;
}

/* The first layer given is the lowest; the kernel wants the uppermost first. */
static int layers_add(struct overlay *overlay, const struct op *op)
{
	size_t count = 0;
	while (op->layers[count])
		count++;
	for (size_t i = count; i-- > 0;)
		if (layer_add(overlay, op->layers[i]) < 0)
			return -1;
	return 0;
}

/* Names relative to the base, which is the current directory when the overlay is made. */
static int changes_make(
	struct faithful *f, const struct op *op, struct overlay *overlay, struct err *e)
{
	if (op->kind == OP_TMP_OVERLAY) {
		unsigned number = f->made++;
		snprintf(overlay->upper, sizeof overlay->upper, "tmp-overlay-upper-%u", number);
		snprintf(overlay->work, sizeof overlay->work, "tmp-overlay-work-%u", number);
		if (mkdirat(f->base, overlay->upper, 0755) < 0)
			return err_set(e, errno, "Creating --tmp-overlay upperdir failed");
		if (mkdirat(f->base, overlay->work, 0755) < 0)
			return err_set(e, errno, "Creating --tmp-overlay workdir failed");
		return 0;
	}
	if (op->upper && !realpath(op->upper, overlay->upper))
		return err_set(e, errno, "Can't find source path %s", op->upper);
	if (op->work && !realpath(op->work, overlay->work))
		return err_set(e, errno, "Can't find source path %s", op->work);
	return 0;
}

static int overlay_mount(const struct overlay *overlay)
{
	struct mount_option options[6] = { { "source", "overlay" } };
	size_t count = 1;
	if (overlay->upper[0]) {
		options[count++] = (struct mount_option){ "upperdir", overlay->upper };
		options[count++] = (struct mount_option){ "workdir", overlay->work };
	}
	options[count++] = (struct mount_option){ "lowerdir", overlay->lower };
	/* The other attributes are only root's to write. */
	options[count++] = (struct mount_option){ "userxattr", NULL };
	options[count] = (struct mount_option){ NULL, NULL };
	return mount_new("overlay", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
}

static int overlay_failed(const struct op *op, const struct overlay *overlay, struct err *e)
{
	int number = errno;
	return err_set(e, number == ELOOP ? 0 : number,
		"Can't make overlay mount on /newroot/%s with options %s%s%s%s%slowerdir=%s,userxattr%s",
		place_inside(op->target), overlay->upper[0] ? "upperdir=" : "", overlay->upper,
		overlay->upper[0] ? ",workdir=" : "", overlay->work, overlay->upper[0] ? "," : "",
		overlay->lower, number == ELOOP ? ": Overlay directories may not overlap" : "");
}

int faithful_overlay(struct faithful *f, const struct op *op, struct err *e)
{
	static struct overlay
		overlay; /* too large for the stack; this process does one at a time */
	overlay = (struct overlay){ 0 };
	AUTO_CLOSE int place = place_directory(f, op, 0755, e);
	if (place < 0)
		return -1;
	if (layers_add(&overlay, op) < 0)
		return err_set(e, errno, "Can't find source path %s", op->layers[0]);
	if (changes_make(f, op, &overlay, e) < 0)
		return -1;
	AUTO_CLOSE int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fchdir(f->base) < 0)
		return err_set(e, errno, "chdir / (base path)");
	AUTO_CLOSE int mount = overlay_mount(&overlay);
	if (mount < 0)
		return overlay_failed(op, &overlay, e);
	if ((here >= 0 && fchdir(here) < 0) || mount_attach(mount, place) < 0)
		return overlay_failed(op, &overlay, e);
	place_covered(f, &mount, op->target);
	return 0;
}
