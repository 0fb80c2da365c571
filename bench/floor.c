/* SPDX-License-Identifier: MIT */
/*
 * The floor: what the kernel charges for a sandbox's namespaces and mounts, and nothing else. No
 * policy, no terminal, no confinement, no init, no record, no checks: the command is pid 1.
 *
 * usage: floor [--net] {r SOURCE TARGET | b SOURCE TARGET | t TARGET | p TARGET | d TARGET |
 *        s TEXT TARGET | f TARGET}... -- COMMAND [ARGUMENT...]
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int root;

static void must(long result, const char *what)
{
	if (result < 0) {
		perror(what);
		_exit(125);
	}
}

static void poke(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	must(fd < 0 ? -1 : write(fd, text, strlen(text)), path);
	close(fd);
}

/* mkdir -p of the parents; then the last component as a directory or an empty file. */
static int target(const char *path, int directory)
{
	char part[4096];
	if (path[1] == '\0')
		return dup(root);
	for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(part, sizeof part, "%.*s", (int)(slash - path - 1), path + 1);
		mkdirat(root, part, 0755);
	}
	if (directory)
		mkdirat(root, path + 1, 0755);
	else
		mknodat(root, path + 1, S_IFREG | 0444, 0);
	int fd = openat(root, path + 1, O_PATH | O_CLOEXEC);
	must(fd, path);
	return fd;
}

static void attach(int mount, const char *path)
{
	struct stat info;
	fstat(mount, &info);
	int place = target(path, S_ISDIR(info.st_mode));
	must(move_mount(mount, "", place, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH),
		path);
	close(place);
	close(mount);
}

static void bind_at(const char *source, const char *path, unsigned long attributes)
{
	struct mount_attr attr = { .attr_set = attributes, .propagation = MS_PRIVATE };
	int tree = open_tree(AT_FDCWD, source, AT_RECURSIVE | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	must(tree, source);
	must(mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof attr), source);
	attach(tree, path);
}

static int fresh(const char *type)
{
	int context = fsopen(type, FSOPEN_CLOEXEC);
	must(context, type);
	must(fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0), type);
	int mount = fsmount(context, FSMOUNT_CLOEXEC, 0);
	must(mount, type);
	close(context);
	return mount;
}

static void devices(const char *path)
{
	static const char *const names[] = { "null", "zero", "full", "random", "urandom", "tty" };
	char source[64], place[4200];
	attach(fresh("tmpfs"), path);
	for (int i = 0; i < 6; i++) {
		snprintf(source, sizeof source, "/dev/%s", names[i]);
		snprintf(place, sizeof place, "%s/%s", path, names[i]);
		bind_at(source, place, MOUNT_ATTR_NOSUID);
	}
	snprintf(place, sizeof place, "%s/pts", path);
	attach(fresh("devpts"), place);
	snprintf(place, sizeof place, "%s/shm", path);
	attach(fresh("tmpfs"), place);
}

/* /proc with the masks that hutch puts over what describes the host. */
static void processes(const char *path)
{
	static const char *const names[] = { "sysrq-trigger", "kcore", "keys", "timer_list", "acpi",
		"scsi", "irq", "bus" };
	char place[4200];
	attach(fresh("proc"), path);
	for (int i = 0; i < 8; i++) {
		snprintf(place, sizeof place, "%s/%s", path + 1, names[i]);
		struct stat info;
		if (fstatat(root, place, &info, 0) < 0)
			continue;
		/* Any file and any directory will do as something to put there. */
		snprintf(place, sizeof place, "%s/%s", path, names[i]);
		bind_at(S_ISDIR(info.st_mode) ? "/proc/fs" : "/proc/version", place,
			MOUNT_ATTR_RDONLY);
	}
	snprintf(place, sizeof place, "%s/sys", path);
	bind_at("/proc/sys", place, MOUNT_ATTR_RDONLY);
}

static char **build(char **word)
{
	for (; *word && strcmp(*word, "--"); word++) {
		switch (**word) {
		case 'r':
			bind_at(word[1], word[2],
				MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
			word += 2;
			break;
		case 'b':
			bind_at(word[1], word[2], MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
			word += 2;
			break;
		case 's':
			close(target(word[2], 0));
			unlinkat(root, word[2] + 1, 0);
			must(symlinkat(word[1], root, word[2] + 1), word[2]);
			word += 2;
			break;
		case 't':
			attach(fresh("tmpfs"), *++word);
			break;
		case 'p':
			processes(*++word);
			break;
		case 'd':
			devices(*++word);
			break;
		case 'f':
			close(target(*++word, 0));
			break;
		default:
			fprintf(stderr, "floor: '%s'?\n", *word);
			_exit(125);
		}
	}
	return *word ? word + 1 : word;
}

static void inside(char **word, uid_t uid, gid_t gid)
{
	char map[64];
	struct mount_attr private = { .propagation = MS_PRIVATE };
	snprintf(map, sizeof map, "%u %u 1", uid, uid);
	poke("/proc/self/uid_map", map);
	poke("/proc/self/setgroups", "deny");
	snprintf(map, sizeof map, "%u %u 1", gid, gid);
	poke("/proc/self/gid_map", map);
	must(mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, &private, sizeof private), "private");
	root = fresh("tmpfs");
	must(move_mount(root, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH), "root");
	char **command = build(word);
	must(fchdir(root), "root");
	must(syscall(SYS_pivot_root, ".", "."), "pivot_root");
	must(umount2(".", MNT_DETACH), "detach");
	execv(command[0], command);
	perror(command[0]);
	_exit(127);
}

int main(int argc, char **argv)
{
	unsigned long flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC |
			      CLONE_NEWUTS | CLONE_NEWCGROUP | SIGCHLD;
	char **word = argv + 1;
	if (argc > 1 && strcmp(*word, "--net") == 0) {
		flags |= CLONE_NEWNET;
		word++;
	}
	uid_t uid = getuid();
	gid_t gid = getgid();
	pid_t pid = (pid_t)syscall(SYS_clone, flags, NULL, NULL, NULL, 0);
	must(pid, "clone");
	if (pid == 0)
		inside(word, uid, gid);
	int status;
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
