/* SPDX-License-Identifier: MIT */
/* Writing where it is denied: read-only trees, mounts, the root, places in memory. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "probe.h"

#define TRY(call, ...)                                                                             \
	do {                                                                                       \
		if ((call) >= 0)                                                                   \
			escaped(__VA_ARGS__);                                                      \
	} while (0)

static void write_file(const char *file)
{
	const struct timespec times[2] = { 0 };
	int fd;
	TRY(open(file, O_WRONLY | O_CLOEXEC), "opened %s to write", file);
	TRY(open(file, O_RDWR | O_CLOEXEC), "opened %s to read and write", file);
	TRY(truncate(file, 0), "truncated %s", file);
	TRY(chmod(file, 0777), "chmod of %s", file);
	TRY(utimensat(AT_FDCWD, file, times, 0), "set the times of %s", file);
	TRY(setxattr(file, "user.hutch", "x", 1, 0), "set an attribute of %s", file);
	TRY(chown(file, getuid(), getgid()), "chown of %s", file);
	fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	char again[64];
	int flags = 0;
	snprintf(again, sizeof again, "/proc/self/fd/%d", fd);
	TRY(open(again, O_RDWR | O_CLOEXEC), "reopened %s to write", file);
	TRY(fchmod(fd, 0777), "fchmod of %s", file);
	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0)
		TRY(ioctl(fd, FS_IOC_SETFLAGS, &flags), "set the flags of %s", file);
	if (mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED)
		escaped("mapped %s to write", file);
	close(fd);
}

static void write_directory(const char *directory)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	if (chdir(directory) < 0)
		return;
	TRY(mkdir("made", 0700), "mkdir in %s", directory);
	TRY(open("new", O_CREAT | O_WRONLY | O_CLOEXEC, 0600), "created a file in %s", directory);
	TRY(open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600), "O_TMPFILE in %s", directory);
	TRY(symlink("x", "link"), "symlink in %s", directory);
	TRY(link("file", "hard"), "hard link in %s", directory);
	TRY(mknod("fifo", S_IFIFO | 0600, 0), "FIFO in %s", directory);
	TRY(rename("file", "renamed"), "rename in %s", directory);
	TRY(syscall(SYS_renameat2, AT_FDCWD, "file", AT_FDCWD, "sub", RENAME_EXCHANGE),
		"exchange in %s", directory);
	TRY(unlink("file"), "unlink in %s", directory);
	TRY(rmdir("sub"), "rmdir in %s", directory);
	TRY(chmod(".", 0777), "chmod of %s", directory);
	snprintf(address.sun_path, sizeof address.sun_path, "sock");
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	TRY(bind(fd, (struct sockaddr *)&address, sizeof address), "socket in %s", directory);
	close(fd);
}

void verb_readonly(char **arguments)
{
	char file[PATH_MAX];
	int home = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (; *arguments; arguments++) {
		struct stat status;
		if (fchdir(home) < 0)
			return;
		if (stat(*arguments, &status) < 0)
			escaped("cannot even begin: no %s", *arguments);
		if (!S_ISDIR(status.st_mode)) {
			write_file(*arguments);
			continue;
		}
		snprintf(file, sizeof file, "%s/file", *arguments);
		write_file(file);
		write_directory(*arguments);
	}
	close(home);
}

static void remount_one(const char *target)
{
	struct mount_attr attributes = { .attr_clr = MOUNT_ATTR_RDONLY };
	TRY(mount(NULL, target, NULL, MS_REMOUNT | MS_BIND, NULL), "remounted %s", target);
	TRY(mount(NULL, target, NULL, MS_REMOUNT, NULL), "remounted the file system of %s", target);
	TRY(mount(NULL, target, NULL, MS_SHARED, NULL), "shared %s", target);
	TRY(mount("tmpfs", target, "tmpfs", 0, NULL), "mounted over %s", target);
	TRY(mount("/", target, NULL, MS_BIND | MS_REC, NULL), "bound over %s", target);
	TRY(mount(target, "/tmp", NULL, MS_MOVE, NULL), "moved %s", target);
	TRY(mount("/proc", "/tmp", NULL, MS_BIND, NULL), "bound /proc");
	TRY(mount("overlay", "/tmp", "overlay", 0, "lowerdir=/usr:/etc"), "mounted an overlay");
	TRY(umount2(target, MNT_DETACH), "unmounted %s", target);
	TRY(mount_setattr(AT_FDCWD, target, AT_RECURSIVE, &attributes, sizeof attributes),
		"mount_setattr of %s", target);
	TRY(open_tree(AT_FDCWD, target, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC), "cloned %s", target);
	TRY(move_mount(AT_FDCWD, target, AT_FDCWD, "/tmp", 0), "move_mount of %s", target);
	TRY(fspick(AT_FDCWD, target, FSPICK_CLOEXEC), "fspick of %s", target);
	TRY(syscall(SYS_pivot_root, target, target), "pivot_root to %s", target);
	TRY(chroot(target), "chroot to %s", target);
}

void verb_remount(char **arguments)
{
	static const char *const types[] = { "tmpfs", "proc", "sysfs", "cgroup2", "devpts",
		"overlay", "fuse", "ext4", "mqueue", "debugfs", "securityfs" };
	for (; *arguments; arguments++)
		remount_one(*arguments);
	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
		TRY(fsopen(types[i], FSOPEN_CLOEXEC), "opened a file system context of %s",
			types[i]);
}

/* ---- Where it can be written ---- */

static char *const *allowed;

static bool is_allowed(const char *path)
{
	for (char *const *one = allowed; *one; one++) {
		size_t length = strlen(*one);
		if (strncmp(path, *one, length) == 0 && (!path[length] || path[length] == '/'))
			return true;
	}
	return false;
}

static void write_try(const char *directory)
{
	char path[PATH_MAX];
	if (is_allowed(directory))
		return;
	snprintf(path, sizeof path, "%s/hutch-probe", strcmp(directory, "/") ? directory : "");
	TRY(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600), "created %s", path);
	TRY(mkdir(path, 0700), "made %s", path);
	TRY(symlink("x", path), "linked %s", path);
	TRY(open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600), "O_TMPFILE in %s", directory);
	TRY(chmod(directory, 0777), "chmod of %s", directory);
}

static void write_entry(const char *parent, const char *name)
{
	char path[PATH_MAX];
	struct stat status;
	snprintf(path, sizeof path, "%s/%s", strcmp(parent, "/") ? parent : "", name);
	if (lstat(path, &status) < 0 || is_allowed(path) || strcmp(path, "/proc") == 0)
		return;
	if (S_ISDIR(status.st_mode)) {
		write_try(path);
		if (strchr(path + 1, '/') == NULL || strncmp(path, "/run/", 5) == 0)
			directory_each(path, write_entry);
	} else if (S_ISREG(status.st_mode)) {
		TRY(open(path, O_WRONLY | O_CLOEXEC), "opened %s to write", path);
		TRY(unlink(path), "unlinked %s", path);
	} else if (S_ISLNK(status.st_mode)) {
		TRY(unlink(path), "unlinked %s", path);
	}
}

void verb_writable(char **arguments)
{
	allowed = arguments;
	write_try("/");
	directory_each("/", write_entry);
}

/* ---- Places in memory ---- */

void verb_limits(char **arguments)
{
	const unsigned long long memory = strtoull(*arguments++, NULL, 10);
	unsigned long long bytes = 0, files = 0;
	for (; *arguments; arguments++) {
		struct statfs status;
		if (statfs(*arguments, &status) < 0) {
			escaped("cannot even begin: no %s", *arguments);
			continue;
		}
		unsigned long long size =
			(unsigned long long)status.f_blocks * (unsigned long long)status.f_bsize;
		bytes += size;
		files += status.f_files;
		if (size == 0 || size > memory / 7)
			escaped("%s holds %llu bytes", *arguments, size);
		if (status.f_files == 0 || status.f_files > 1 << 20)
			escaped("%s holds %lu files", *arguments, (unsigned long)status.f_files);
	}
	if (bytes + files * 1024 > memory / 10 * 7)
		escaped("together %llu bytes and %llu files", bytes, files);
}

/* A file of at least `most` bytes, or as many empty files as `most`, in a directory of our own. */
static void fill_bytes(unsigned long long most)
{
	const off_t chunk = 16 << 20;
	off_t length = 0;
	int fd = open("fill", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	while (fd >= 0 && (unsigned long long)length <= most &&
		fallocate(fd, 0, length, chunk) == 0)
		length += chunk;
	if ((unsigned long long)length > most)
		escaped("%lld bytes fit", (long long)length);
	if (fd >= 0)
		close(fd);
	unlink("fill");
}

static void fill_files(unsigned long long most)
{
	char name[32];
	unsigned long long made = 0;
	int first = open("0", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	for (bool more = first >= 0; more && made <= most; made += more) {
		/* Links are counted as well, or they would be a way around. */
		snprintf(name, sizeof name, "%llu", made + 1);
		more = made % 2 ? link("0", name) == 0 : mknod(name, S_IFREG | 0600, 0) == 0;
	}
	if (made > most)
		escaped("%llu files fit", made);
	for (unsigned long long i = 0; i <= made; i++) {
		snprintf(name, sizeof name, "%llu", i);
		unlink(name);
	}
	close(first);
}

void verb_fill(char **arguments)
{
	if (chdir(arguments[0]) < 0 || mkdir("hutch-fill", 0700) < 0 || chdir("hutch-fill") < 0) {
		escaped("cannot even begin in %s", arguments[0]);
		return;
	}
	fill_bytes(strtoull(arguments[1], NULL, 10));
	fill_files(strtoull(arguments[2], NULL, 10));
}

void verb_mark(char **arguments)
{
	const struct timespec times[2] = { { .tv_sec = 1 }, { .tv_sec = 2 } };
	int flags = 0, fd = open(arguments[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	setxattr(arguments[0], "user.mark", "x", 1, 0);
	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0) {
		flags |= FS_NODUMP_FL | FS_NOATIME_FL;
		ioctl(fd, FS_IOC_SETFLAGS, &flags);
	}
	fchmod(fd, 0751);
	futimens(fd, times);
	close(fd);
}

void verb_marked(char **arguments)
{
	struct stat status;
	char names[4096];
	int flags = 0, fd = open(arguments[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fstat(fd, &status) < 0 || (status.st_mode & 07777) != 0700)
		escaped("its mode");
	if (status.st_mtim.tv_sec < 1000 || status.st_atim.tv_sec < 1000)
		escaped("its times");
	if (flistxattr(fd, names, sizeof names) > 0)
		escaped("its attributes");
	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0 && (flags & (FS_NODUMP_FL | FS_NOATIME_FL)))
		escaped("its flags");
	close(fd);
}

static void litter_deep(void)
{
	for (int i = 0; i < 1500; i++)
		if (mkdir("deep", 0700) < 0 || chdir("deep") < 0)
			return;
}

void verb_litter(char **arguments)
{
	if (chdir(arguments[0]) < 0) {
		escaped("cannot even begin in %s", arguments[0]);
		return;
	}
	mkdir("closed", 0700);
	mkdir("closed/below", 0700);
	mknod("closed/below/file", S_IFREG | 0400, 0);
	chmod("closed/below", 0);
	chmod("closed", 0);
	mkdir("new\nline", 0500);
	mknod("fifo", S_IFIFO | 0, 0);
	if (symlink("/", "link") < 0 || symlink("loop", "loop") < 0 || symlink("..", "up") < 0)
		escaped("cannot even begin");
	char name[256];
	memset(name, 0xff, sizeof name - 1);
	name[255] = '\0';
	mkdir(name, 0700);
	int fd = open("sparse", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	if (ftruncate(fd, 1LL << 40) < 0)
		close(fd);
	litter_deep();
}
