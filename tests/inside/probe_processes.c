/* SPDX-License-Identifier: MIT */
/* Other processes: the host's, init, and those that would stay. Namespaces and capabilities. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "probe.h"

#define TRY(call, ...)                                                                             \
	do {                                                                                       \
		if ((call) >= 0)                                                                   \
			escaped(__VA_ARGS__);                                                      \
	} while (0)

/* ---- Processes of the host ---- */

static const char *word;
static bool listed[1 << 16];

static void process_look(const char *directory, const char *name)
{
	static const char *const tells[] = { "cmdline", "environ", "comm", "maps" };
	char path[PATH_MAX];
	if (!is_number(name))
		return;
	if (atoi(name) < 1 << 16)
		listed[atoi(name)] = true;
	if (atoi(name) == getpid())
		return;
	for (size_t i = 0; i < sizeof tells / sizeof tells[0]; i++) {
		snprintf(path, sizeof path, "%s/%s/%s", directory, name, tells[i]);
		if (file_contains(path, word))
			escaped("%s tells of the host", path);
	}
}

static void process_touch(pid_t pid)
{
	char byte;
	struct iovec here = { &byte, 1 }, there = { (void *)0x400000, 1 };
	cpu_set_t processors;
	TRY(kill(pid, 0), "can signal the host's %d", pid);
	TRY(syscall(SYS_pidfd_open, pid, 0), "opened the host's %d", pid);
	TRY(ptrace(PTRACE_SEIZE, pid, NULL, NULL), "traces the host's %d", pid);
	TRY(process_vm_readv(pid, &here, 1, &there, 1, 0), "reads memory of the host's %d", pid);
	TRY(getpgid(pid), "sees the group of the host's %d", pid);
	TRY(sched_getaffinity(pid, sizeof processors, &processors), "sees the host's %d", pid);
	TRY(syscall(SYS_kcmp, pid, getpid(), 0, 0, 0), "compares with the host's %d", pid);
	TRY(prlimit(pid, RLIMIT_CORE, NULL, NULL), "sees limits of the host's %d", pid);
}

void verb_processes(char **arguments)
{
	word = *arguments++;
	directory_each("/proc", process_look);
	for (; *arguments; arguments++)
		if (atoi(*arguments) >= 1 << 16 || !listed[atoi(*arguments)])
			process_touch(atoi(*arguments));
	/* No process is there that is not listed. */
	for (pid_t pid = 1; pid < 1 << 16; pid++)
		if (!listed[pid] && kill(pid, 0) == 0 && getpgid(pid) != getpgid(0))
			escaped("can signal %d, which is not listed", pid);
	if (getppid() == 0)
		escaped("has a parent outside");
	kill(-1, SIGCONT);
}

/* ---- Init ---- */

static void init_files(void)
{
	static const struct {
		const char *name;
		int flags;
	} files[] = { { "mem", O_RDONLY }, { "mem", O_RDWR }, { "environ", O_RDONLY },
		{ "maps", O_RDONLY }, { "smaps", O_RDONLY }, { "auxv", O_RDONLY },
		{ "stack", O_RDONLY }, { "syscall", O_RDONLY }, { "pagemap", O_RDONLY },
		{ "io", O_RDONLY }, { "comm", O_WRONLY }, { "root", O_PATH }, { "cwd", O_PATH },
		{ "exe", O_RDONLY }, { "ns/user", O_RDONLY }, { "ns/mnt", O_RDONLY },
		{ "ns/net", O_RDONLY }, { "task/1/mem", O_RDONLY },
		{ "task/1/environ", O_RDONLY } };
	char path[64], byte;
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		snprintf(path, sizeof path, "/proc/1/%s", files[i].name);
		int fd = open(path, files[i].flags | O_CLOEXEC);
		if (fd < 0)
			continue;
		/* Some open for everybody and then give nothing. */
		bool gives = (files[i].flags & (O_PATH | O_DIRECTORY)) || read(fd, &byte, 1) > 0 ||
			     ((files[i].flags & O_ACCMODE) != O_RDONLY && write(fd, "x", 1) > 0);
		if (gives)
			escaped("opened %s", path);
		close(fd);
	}
}

/* A real root sees which numbers are in use; not what they are. */
static void init_entry(const char *directory, const char *name)
{
	char path[PATH_MAX], text[PATH_MAX];
	snprintf(path, sizeof path, "%s/%s", directory, name);
	TRY(open(path, O_PATH | O_CLOEXEC), "opened %s", path);
	TRY(readlink(path, text, sizeof text), "read the link %s", path);
}

static void init_info(const char *directory, const char *name)
{
	char path[PATH_MAX];
	snprintf(path, sizeof path, "%s/%s", directory, name);
	TRY(open(path, O_RDONLY | O_CLOEXEC), "opened %s", path);
}

static void init_links(void)
{
	static const char *const links[] = { "root", "cwd", "exe", "fd/0", "ns/mnt" };
	char path[64], text[PATH_MAX];
	for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
		snprintf(path, sizeof path, "/proc/1/%s", links[i]);
		TRY(readlink(path, text, sizeof text), "read the link %s", path);
	}
	directory_each("/proc/1/fd", init_entry);
	directory_each("/proc/1/map_files", init_entry);
	directory_each("/proc/1/ns", init_entry);
	directory_each("/proc/1/fdinfo", init_info);
}

static void init_calls(void)
{
	char byte;
	struct iovec here = { &byte, 1 }, there = { (void *)&byte, 1 };
	unsigned long mask[16] = { ~0ul }, none[16] = { 0 };
	int pidfd = (int)syscall(SYS_pidfd_open, 1, 0);
	TRY(ptrace(PTRACE_ATTACH, 1, NULL, NULL), "PTRACE_ATTACH");
	TRY(ptrace(PTRACE_SEIZE, 1, NULL, NULL), "PTRACE_SEIZE");
	TRY(process_vm_readv(1, &here, 1, &there, 1, 0), "process_vm_readv");
	TRY(process_vm_writev(1, &here, 1, &there, 1, 0), "process_vm_writev");
	TRY(syscall(SYS_kcmp, 1, getpid(), 0, 0, 0), "kcmp");
	TRY(syscall(SYS_migrate_pages, 1, 1024ul, mask, none), "migrate_pages");
	TRY(syscall(SYS_get_robust_list, 1, &mask[0], &mask[1]), "get_robust_list");
	TRY(setpriority(PRIO_PROCESS, 1, 19), "setpriority");
	TRY(sched_setaffinity(1, sizeof mask, (cpu_set_t *)mask), "sched_setaffinity");
	TRY(setpgid(1, getpgid(0)), "setpgid");
	for (int fd = 0; fd < 32; fd++)
		TRY(syscall(SYS_pidfd_getfd, pidfd, fd, 0), "pidfd_getfd %d", fd);
	TRY(syscall(SYS_process_madvise, pidfd, &there, 1, 21, 0), "process_madvise");
	TRY(syscall(SYS_setns, pidfd, CLONE_NEWNS | CLONE_NEWUSER), "setns by pidfd");
	close(pidfd);
}

/* Signals that would end or stop any other process. That the sandbox still answers afterwards is the
 * proof. */
static void init_signals(void)
{
	static const int signals[] = { SIGKILL, SIGSTOP, SIGTERM, SIGINT, SIGHUP, SIGSEGV, SIGTSTP,
		SIGABRT, SIGUSR1, SIGALRM, SIGCONT };
	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
		kill(1, signals[i]);
}

void verb_init(char **arguments)
{
	(void)arguments;
	init_files();
	init_links();
	init_calls();
	init_signals();
}

void verb_limit_init(char **arguments)
{
	const struct rlimit limit = { 1 << 20, 1 << 20 };
	(void)arguments;
	TRY(prlimit(1, RLIMIT_CORE, &limit, NULL), "set a limit of init");
	TRY(prlimit(1, RLIMIT_NOFILE, &limit, NULL), "set how many files init may open");
}

void verb_title(char **arguments)
{
	static const char *const tells[] = { "cmdline", "environ", "comm", "status", "stat" };
	char path[64];
	for (; *arguments; arguments++)
		for (size_t i = 0; i < sizeof tells / sizeof tells[0]; i++) {
			snprintf(path, sizeof path, "/proc/1/%s", tells[i]);
			if (file_contains(path, *arguments))
				escaped("%s has '%s'", path, *arguments);
		}
}

/* ---- Staying behind ---- */

void verb_linger(char **arguments)
{
	(void)arguments;
	for (int signal = 1; signal < 65; signal++)
		sigaction(signal, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	prctl(PR_SET_PDEATHSIG, 0);
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	for (int i = 0; i < 60; i++)
		nanosleep(&(struct timespec){ .tv_sec = 1 }, NULL);
}

static void linger_start(char *mark, bool stopped)
{
	char probe[] = "probe", verb[] = "linger", *arguments[] = { probe, verb, mark, NULL };
	if (fork() != 0)
		return;
	setsid();
	if (fork() != 0)
		_exit(0);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (stopped)
		raise(SIGSTOP);
	execv("/proc/self/exe", arguments);
	_exit(1);
}

void verb_daemon(char **arguments)
{
	for (int i = 0; i < 3; i++)
		linger_start(arguments[0], false);
	nanosleep(&(struct timespec){ .tv_nsec = 200000000 }, NULL);
	puts("started");
	fflush(stdout);
	if (arguments[1])
		nanosleep(&(struct timespec){ .tv_sec = atoi(arguments[1]) }, NULL);
}

void verb_arguments(char **arguments)
{
	word = *arguments;
	char path[64];
	for (int pid = 1; pid < 1 << 16; pid++) {
		snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
		if (pid != getpid() && file_contains(path, word))
			escaped("%s has it", path);
	}
}

/* ---- Capabilities ---- */

static void status_capabilities(void)
{
	char line[256];
	unsigned long long bits;
	FILE *file = fopen("/proc/self/status", "re");
	while (file && fgets(line, sizeof line, file)) {
		if (sscanf(line, "Cap%*3s: %llx", &bits) == 1 && bits)
			escaped("%.*s", (int)strcspn(line, "\n"), line);
		if (strncmp(line, "NoNewPrivs:\t0", 13) == 0)
			escaped("no_new_privs is not set");
	}
	if (file)
		fclose(file);
}

static void capability_uses(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { ~0u, ~0u, ~0u }, { ~0u, ~0u, ~0u } };
	TRY(syscall(SYS_capset, &header, data), "capset");
	for (int capability = 0; capability < 41; capability++) {
		if (prctl(PR_CAPBSET_READ, capability) > 0)
			escaped("capability %d is in the bounding set", capability);
		if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0) == 0)
			escaped("raised capability %d", capability);
	}
	TRY(sethostname("x", 1), "sethostname");
	TRY(chroot("/tmp"), "chroot");
	TRY(mknod("/tmp/node", S_IFCHR | 0600, makedev(1, 1)), "mknod");
	TRY(mount("tmpfs", "/tmp", "tmpfs", 0, NULL), "mount");
	TRY(setpriority(PRIO_PROCESS, 0, -20), "nice -20");
	TRY(syscall(SYS_bpf, 5, NULL, 0), "bpf");
	TRY(syscall(SYS_init_module, "", 0ul, ""), "init_module");
	TRY(syscall(SYS_reboot, 0xfee1dead, 672274793, 0x89abcdef, NULL), "reboot");
	TRY(syscall(SYS_syslog, 5, NULL, 0), "cleared the kernel's log");
	TRY(prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0), "cleared no_new_privs");
	if (getuid() != 0)
		TRY(setuid(0), "setuid(0)");
	TRY(setgroups(0, NULL), "setgroups");
}

void verb_capabilities(char **arguments)
{
	(void)arguments;
	status_capabilities();
	capability_uses();
}

void verb_whoami(char **arguments)
{
	if (arguments[0] && geteuid() != (uid_t)atoi(arguments[0]))
		escaped("became uid %u", geteuid());
	if (geteuid() != getuid())
		escaped("uid %u, effective %u", getuid(), geteuid());
	status_capabilities();
}

/* Programs like su wait for a password: meanwhile their status can be looked at. */
static void setuid_watch(const char *program, const char *uid)
{
	int input[2];
	char path[64], line[256];
	if (pipe2(input, O_CLOEXEC) < 0)
		return;
	pid_t child = fork();
	if (child == 0) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);
		dup2(input[0], 0);
		dup2(null, 1);
		dup2(null, 2);
		execl(program, program, "whoami", uid, NULL);
		_exit(9);
	}
	nanosleep(&(struct timespec){ .tv_nsec = 150000000 }, NULL);
	snprintf(path, sizeof path, "/proc/%d/status", child);
	unsigned real, effective;
	FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "Uid: %u %u", &real, &effective) == 2 &&
			effective != (unsigned)atoi(uid))
			escaped("%s runs as uid %u", program, effective);
	if (file)
		fclose(file);
	close(input[1]);
	kill(child, SIGKILL);
	int status;
	waitpid(child, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 1 && strstr(program, "setuid-probe"))
		escaped("%s gained something", program);
}

void verb_setuid(char **arguments)
{
	const char *uid = *arguments++;
	for (; *arguments; arguments++)
		setuid_watch(*arguments, uid);
}

/* ---- Namespaces ---- */

static int clone_into(unsigned long flags)
{
	pid_t pid = (pid_t)syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, 0);
	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return pid;
}

static int clone3_into(unsigned long flags)
{
	unsigned long long arguments[11] = { flags, 0, 0, 0, SIGCHLD };
	pid_t pid = (pid_t)syscall(SYS_clone3, arguments, sizeof arguments);
	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return pid;
}

static void namespaces_enter(void)
{
	static const char *const names[] = { "user", "mnt", "pid", "net", "ipc", "uts", "cgroup",
		"time" };
	char path[64];
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		for (int own = 0; own < 2; own++) {
			snprintf(path, sizeof path, "/proc/%s/ns/%s", own ? "self" : "1", names[i]);
			int fd = open(path, O_RDONLY | O_CLOEXEC);
			if (fd < 0)
				continue;
			TRY(setns(fd, 0), "entered %s", path);
			/* NS_GET_USERNS, NS_GET_PARENT: the host's would be a way to it. */
			int above = (int)syscall(SYS_ioctl, fd, 0xb702, 0);
			if (above >= 0 && i == 0)
				escaped("has a descriptor of the user namespace above");
			close(fd);
		}
}

void verb_namespaces(char **arguments)
{
	static const struct {
		const char *name;
		unsigned long flag;
	} kinds[] = { { "user", CLONE_NEWUSER }, { "mount", CLONE_NEWNS }, { "pid", CLONE_NEWPID },
		{ "net", CLONE_NEWNET }, { "ipc", CLONE_NEWIPC }, { "uts", CLONE_NEWUTS },
		{ "cgroup", CLONE_NEWCGROUP }, { "time", 0x80 },
		{ "user and mount", CLONE_NEWUSER | CLONE_NEWNS } };
	(void)arguments;
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		TRY(clone3_into(kinds[i].flag), "clone3: %s", kinds[i].name);
		if (kinds[i].flag != 0x80)
			TRY(clone_into(kinds[i].flag), "clone: %s", kinds[i].name);
	}
	namespaces_enter();
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		TRY(unshare((int)kinds[i].flag), "unshare: %s", kinds[i].name);
}
