/* SPDX-License-Identifier: MIT */
/*
 * What tests/confine/run starts in a sandbox: probe VERB. Prints one line per thing tried.
 *
 *	refused [LET]...	each line of seccomp.def answers with its error
 *	allowed			what programs need works
 *	nesting			namespaces and mounts can be made
 *	x32			calls with the numbers of that architecture
 *	i386			calls by int 0x80; dies by a signal where they are refused
 *	stdio			open descriptors 0 to 2 again, for what they were opened for and for more
 *	write PATH...		write in these directories in every way
 *	readonly PATH...	read and list there, and write in no way
 */
#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apply/seccomp.h"

static int failures;

static void result(bool good, const char *name, const char *format, ...)
{
	char detail[256];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(detail, sizeof detail, format, arguments);
	va_end(arguments);
	printf(good ? "ok - %s\n" : "not ok - %s: %s\n", name, detail);
	failures += !good;
	fflush(stdout);
}

static void want_error(long value, int error, const char *name)
{
	int number = errno;
	result(value < 0 && number == error, name, "%s, not %s",
		value < 0 ? strerror(number) : "works", strerror(error));
}

static void want_success(long value, const char *name)
{
	result(value >= 0, name, "%s", strerror(errno));
}

/* ---- refused ---- */

/* With arguments that do no harm where the call is let through. */
static void refused_calls(unsigned lets)
{
	char name[64];
	for (size_t i = 0; i < seccomp_rules_count; i++) {
		const struct seccomp_rule *rule = &seccomp_rules[i];
		int number = seccomp_syscall_resolve_name(rule->call);
		if (rule->test[0].kind != SECCOMP_NO_TEST || number < 0 || (rule->unless & lets))
			continue;
		snprintf(name, sizeof name, "%s is refused", rule->call);
		want_error(syscall(number, 0, 0, 0, 0, 0, 0), rule->error, name);
	}
}

static int terminal_open(void)
{
	int zero = 0, master = open("/dev/ptmx", O_RDWR | O_NOCTTY);
	if (master < 0 || ioctl(master, TIOCSPTLCK, &zero) < 0)
		return -1;
	return ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY);
}

static void refused_ioctls(void)
{
	int terminal = terminal_open(), discipline = 0;
	char byte = 'x';
	want_success(terminal, "a terminal is opened");
	want_error(ioctl(terminal, TIOCSTI, &byte), EPERM, "TIOCSTI is refused");
	want_error(ioctl(terminal, TIOCLINUX, &byte), EPERM, "TIOCLINUX is refused");
	want_error(ioctl(terminal, TIOCSETD, &discipline), EPERM, "TIOCSETD is refused");
	want_error(syscall(SYS_ioctl, terminal, TIOCSTI | 0xdeadbeef00000000, &byte), EPERM,
		"TIOCSTI with a dirty half is refused");
}

static void refused_sockets(void)
{
	static const struct {
		const char *name;
		int family, type, protocol, error;
	} sockets[] = {
		{ "vsock", AF_VSOCK, SOCK_STREAM, 0, EAFNOSUPPORT },
		{ "packet", AF_PACKET, SOCK_RAW, 0, EAFNOSUPPORT },
		{ "alg", AF_ALG, SOCK_SEQPACKET, 0, EAFNOSUPPORT },
		{ "bluetooth", AF_BLUETOOTH, SOCK_RAW, 1, EAFNOSUPPORT },
		{ "xdp", 44, SOCK_RAW, 0, EAFNOSUPPORT },
		{ "can", AF_CAN, SOCK_RAW, 1, EAFNOSUPPORT },
		{ "tipc", 30, SOCK_SEQPACKET, 0, EAFNOSUPPORT },
		{ "rds", AF_RDS, SOCK_SEQPACKET, 0, EAFNOSUPPORT },
		{ "smc", 43, SOCK_STREAM, 0, EAFNOSUPPORT },
		{ "key", AF_KEY, SOCK_RAW, 2, EAFNOSUPPORT },
		{ "netlink audit", AF_NETLINK, SOCK_RAW, NETLINK_AUDIT, EPROTONOSUPPORT },
		{ "netlink netfilter", AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER, EPROTONOSUPPORT },
		{ "netlink generic", AF_NETLINK, SOCK_RAW, NETLINK_GENERIC, EPROTONOSUPPORT },
		{ "netlink uevent", AF_NETLINK, SOCK_DGRAM, NETLINK_KOBJECT_UEVENT,
			EPROTONOSUPPORT },
		{ "mptcp", AF_INET, SOCK_STREAM, 262, EPROTONOSUPPORT },
		{ "sctp by protocol", AF_INET6, SOCK_STREAM, 132, EPROTONOSUPPORT },
		{ "sctp by type", AF_INET, SOCK_SEQPACKET, 0, ESOCKTNOSUPPORT },
		{ "dccp", AF_INET, SOCK_DCCP, 0, ESOCKTNOSUPPORT },
		{ "packets of inet", AF_INET, SOCK_PACKET, 0, ESOCKTNOSUPPORT },
	};
	char name[64];
	int pair[2];
	for (size_t i = 0; i < sizeof sockets / sizeof sockets[0]; i++) {
		snprintf(name, sizeof name, "socket: %s is refused", sockets[i].name);
		want_error(socket(sockets[i].family, sockets[i].type, sockets[i].protocol),
			sockets[i].error, name);
	}
	want_error(syscall(SYS_socket, AF_VSOCK | 0xdeadbeef00000000, SOCK_STREAM, 0), EAFNOSUPPORT,
		"socket: vsock with a dirty half is refused");
	want_error(socketpair(30, SOCK_SEQPACKET, 0, pair), EAFNOSUPPORT,
		"socketpair: tipc is refused");
}

static void refused_namespaces(void)
{
	static const struct {
		const char *name;
		long flag;
	} kinds[] = { { "user", CLONE_NEWUSER }, { "mount", CLONE_NEWNS }, { "pid", CLONE_NEWPID },
		{ "net", CLONE_NEWNET }, { "ipc", CLONE_NEWIPC }, { "uts", CLONE_NEWUTS },
		{ "cgroup", CLONE_NEWCGROUP }, { "time", 0x80 } };
	char name[64];
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		snprintf(name, sizeof name, "unshare: %s is refused", kinds[i].name);
		want_error(unshare((int)kinds[i].flag), EPERM, name);
		if (kinds[i].flag < 0x100)
			continue; /* part of the signal's number there */
		snprintf(name, sizeof name, "clone: %s is refused", kinds[i].name);
		long child = syscall(SYS_clone, kinds[i].flag | SIGCHLD, 0, 0, 0, 0);
		if (child == 0)
			_exit(0);
		want_error(child, EPERM, name);
	}
	want_error(
		unshare(CLONE_NEWUSER | CLONE_FS), EPERM, "unshare: user with others is refused");
}

static void refused_others(void)
{
	struct rlimit limit;
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_cur > 8 ? limit.rlim_cur - 1 : limit.rlim_cur;
	pid_t child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	want_error(prlimit(child, RLIMIT_NOFILE, &limit, NULL), EPERM,
		"limits of another process are refused");
	want_success(
		prlimit(child, RLIMIT_NOFILE, NULL, &limit), "limits of another process are told");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	want_error(prlimit(1, RLIMIT_NOFILE, &limit, NULL), EPERM, "limits of init are refused");
	want_error(
		personality(READ_IMPLIES_EXEC), EPERM, "personality: executable data is refused");
	want_error(personality(MMAP_PAGE_ZERO), EPERM, "personality: page 0 is refused");
	want_error(syscall(SECCOMP_CALLS_KNOWN), ENOSYS, "calls that are too new are refused");
	want_error(syscall(5000), ENOSYS, "calls that do not exist are refused");
}

static void verb_refused(char **arguments)
{
	unsigned lets = 0;
	for (; *arguments; arguments++)
		lets |= strcmp(*arguments, "i386") == 0 ? SECCOMP_I386 : SECCOMP_NESTING;
	refused_calls(lets);
	refused_ioctls();
	refused_sockets();
	refused_others();
	if (!(lets & SECCOMP_NESTING))
		refused_namespaces();
}

/* ---- allowed ---- */

static void *thread_main(void *data)
{
	return data;
}

static void allowed_processes(void)
{
	pthread_t thread;
	int given = 0;
	void *back = NULL;
	result(pthread_create(&thread, NULL, thread_main, &given) == 0 &&
			pthread_join(thread, &back) == 0 && back == &given,
		"threads", "%s", strerror(errno));
	pid_t child;
	char self[] = "/proc/self/exe", verb[] = "nothing";
	char *const words[] = { self, verb, NULL };
	int status = -1;
	result(posix_spawn(&child, "/proc/self/exe", NULL, NULL, words, environ) == 0 &&
			waitpid(child, &status, 0) == child && status == 0,
		"a program is started", "status %x", status);
	want_success(syscall(SYS_pidfd_open, getpid(), 0), "pidfd_open");
	want_success(unshare(CLONE_FILES | CLONE_FS), "unshare of descriptors");
	struct rlimit limit;
	getrlimit(RLIMIT_NOFILE, &limit);
	want_success(prlimit(0, RLIMIT_NOFILE, &limit, NULL), "own limits");
	want_success(personality(0xffffffff), "personality is told");
	want_success(personality(ADDR_NO_RANDOMIZE), "personality for debuggers");
	want_success(personality(0), "personality back");
}

static void allowed_tracing(void)
{
	pid_t child = fork();
	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		_exit(0);
	}
	int status = 0;
	waitpid(child, &status, 0);
	result(WIFSTOPPED(status) && ptrace(PTRACE_SYSCALL, child, NULL, NULL) == 0, "ptrace",
		"status %x", status);
	char here[8] = "", there[8] = "read me";
	struct iovec to = { here, sizeof here }, from = { there, sizeof there };
	waitpid(child, &status, 0);
	want_success(process_vm_readv(child, &to, 1, &from, 1, 0), "process_vm_readv");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void allowed_sockets(void)
{
	int pair[2];
	want_success(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), "socket: unix");
	want_success(socket(AF_INET, SOCK_STREAM, IPPROTO_TCP), "socket: tcp");
	want_success(socket(AF_INET, SOCK_DGRAM, 0), "socket: udp");
	int six = socket(AF_INET6, SOCK_STREAM, 0);
	result(six >= 0 || errno != EPERM, "socket: tcp on 6", "%s", strerror(errno));
	want_success(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), "socketpair");
	struct {
		struct nlmsghdr head;
		struct ifinfomsg body;
	} request = { .head = { sizeof request, RTM_GETLINK, NLM_F_REQUEST | NLM_F_DUMP, 1, 0 } };
	char answer[8192];
	int route = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	want_success(send(route, &request, sizeof request, 0), "socket: routes are asked for");
	want_success(recv(route, answer, sizeof answer, 0), "socket: routes are told");
}

static void allowed_fences(void)
{
	struct landlock_ruleset_attr attribute = { LANDLOCK_ACCESS_FS_EXECUTE };
	long ruleset = syscall(SYS_landlock_create_ruleset, &attribute, sizeof attribute, 0);
	result(ruleset >= 0 || errno == EOPNOTSUPP || errno == ENOSYS, "a Landlock ruleset inside",
		"%s", strerror(errno));
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	int failed = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EDOM), SCMP_SYS(getsid), 0);
	failed = failed ? failed : seccomp_load(filter);
	result(failed == 0 && getsid(0) < 0 && errno == EDOM, "a seccomp filter inside", "%s",
		strerror(-failed));
}

static void allowed_others(void)
{
	struct winsize size = { 0 };
	int terminal = terminal_open();
	want_success(ioctl(terminal, TIOCGWINSZ, &size), "terminal: size");
	want_success(ioctl(terminal, TIOCSWINSZ, &size), "terminal: change of size");
	result(isatty(terminal), "terminal: settings", "%s", strerror(errno));
	want_success(memfd_create("x", MFD_CLOEXEC), "memfd_create");
	want_success(inotify_init1(IN_CLOEXEC), "inotify");
	want_success(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC), "timerfd");
	want_success(epoll_create1(EPOLL_CLOEXEC), "epoll");
	want_success(shmget(IPC_PRIVATE, 4096, 0600), "shared memory");
	void *code = mmap(
		NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	result(code != MAP_FAILED, "memory for compilers that run code", "%s", strerror(errno));
}

static void verb_allowed(char **arguments)
{
	(void)arguments;
	allowed_processes();
	allowed_tracing();
	allowed_sockets();
	allowed_others();
	allowed_fences();
}

static void verb_nothing(char **arguments)
{
	(void)arguments;
}

/* ---- variants ---- */

static void verb_nesting(char **arguments)
{
	(void)arguments;
	want_success(unshare(CLONE_NEWUSER | CLONE_NEWNS), "unshare");
	want_success(mount("none", "/tmp", "tmpfs", 0, "size=4k"), "mount");
	want_success(umount2("/tmp", MNT_DETACH), "umount2");
	want_success(syscall(SYS_open_tree, AT_FDCWD, "/usr", 1), "open_tree");
	want_success(chroot("/"), "chroot");
	result(syscall(SYS_clone3, NULL, 0) < 0 && errno == EINVAL, "clone3 reaches the kernel",
		"%s", strerror(errno));
}

static void verb_x32(char **arguments)
{
	(void)arguments;
#if defined(__x86_64__)
	want_error(syscall(0x40000000 | SYS_getpid), ENOSYS, "x32: getpid is refused");
	want_error(syscall(0x40000000 | 512, 0, 0, 0), ENOSYS, "x32: its own sigaction is refused");
	want_error(syscall(0x40000000 | SYS_keyctl, 0, 0, 0), ENOSYS, "x32: keyctl is refused");
#endif
}

static void verb_i386(char **arguments)
{
	(void)arguments;
#if defined(__x86_64__)
	long value;
	__asm__ volatile("int $0x80" : "=a"(value) : "a"(20L) : "memory", "r8", "r9", "r10", "r11");
	printf("# getpid by int 0x80 answers %ld\n", value);
#endif
}

/* ---- files ---- */

static const char *const stdio_names[] = { "/dev/stdin", "/dev/stdout", "/dev/stderr" };

/* Each line goes to the file that WITNESS names, as the descriptors are what is tried. */
static void verb_stdio(char **arguments)
{
	FILE *witness = fopen(arguments[0], "w");
	if (!witness)
		return;
	for (int fd = 0; fd < 3; fd++) {
		int read_fd = open(stdio_names[fd], O_RDONLY | O_NONBLOCK);
		int read_error = read_fd < 0 ? errno : 0;
		int write_fd = open(stdio_names[fd], O_WRONLY | O_NONBLOCK);
		fprintf(witness, "%d %s %s\n", fd,
			read_fd >= 0 ? "read" : strerrorname_np(read_error),
			write_fd >= 0 ? "write" : strerrorname_np(errno));
	}
	fclose(witness);
}

static void at(const char *directory, const char *name, char ret_path[512])
{
	snprintf(ret_path, 512, "%s/%s", directory, name);
}

static long file_make(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0)
		return -1;
	long value = write(fd, "data", 4);
	close(fd);
	return value;
}

static void write_at(const char *directory)
{
	char a[512], b[512], sub[512], deep[512];
	at(directory, ".confine-a", a);
	at(directory, ".confine-b", b);
	at(directory, ".confine-d", sub);
	at(directory, ".confine-d/f", deep);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	snprintf(address.sun_path, sizeof address.sun_path, "%.100s", b);
	const struct {
		const char *name;
		long value;
	} tried[] = {
		{ "create", file_make(a) },
		{ "truncate", truncate(a, 1) },
		{ "mkdir", mkdir(sub, 0700) },
		{ "rename to another directory", rename(a, deep) },
		{ "link from another directory", link(deep, a) },
		{ "unlink", unlink(deep) },
		{ "rmdir", rmdir(sub) },
		{ "symlink", symlink(a, b) },
		{ "unlink of a link", unlink(b) },
		{ "fifo", mkfifo(b, 0600) },
		{ "unlink of a fifo", unlink(b) },
		{ "socket",
			bind(socket(AF_UNIX, SOCK_STREAM, 0), (void *)&address, sizeof address) },
		{ "unlink of a socket", unlink(b) },
		{ "file without a name", open(directory, O_RDWR | O_TMPFILE, 0600) },
		{ "unlink of the last", unlink(a) },
	};
	for (size_t i = 0; i < sizeof tried / sizeof tried[0]; i++) {
		snprintf(deep, sizeof deep, "%s in %.200s", tried[i].name, directory);
		result(tried[i].value >= 0, deep, "refused");
	}
	snprintf(deep, sizeof deep, "no device in %.200s", directory);
	result(mknod(a, S_IFCHR | 0600, 0) < 0, deep, "made");
}

static void verb_write(char **arguments)
{
	for (; *arguments; arguments++)
		write_at(*arguments);
	want_success(file_make("/dev/null"), "write to /dev/null");
	want_success(file_make("/proc/self/comm"), "write to /proc/self/comm");
	want_success(file_make("/dev/shm/x"), "write to /dev/shm");
}

static void verb_readonly(char **arguments)
{
	char path[512], name[600];
	for (; *arguments; arguments++) {
		at(*arguments, ".confine", path);
		snprintf(name, sizeof name, "list %.200s", *arguments);
		want_success(open(*arguments, O_RDONLY | O_DIRECTORY), name);
		snprintf(name, sizeof name, "no file in %.200s", *arguments);
		want_error(file_make(path), EROFS, name);
		snprintf(name, sizeof name, "no directory in %.200s", *arguments);
		want_error(mkdir(path, 0700), EROFS, name);
	}
}

static const struct verb {
	const char *name;
	void (*function)(char **arguments);
} verbs[] = { { "refused", verb_refused }, { "allowed", verb_allowed }, { "nothing", verb_nothing },
	{ "nesting", verb_nesting }, { "x32", verb_x32 }, { "i386", verb_i386 },
	{ "stdio", verb_stdio }, { "write", verb_write }, { "readonly", verb_readonly } };

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof verbs / sizeof verbs[0]; i++)
		if (strcmp(verbs[i].name, argv[1]) == 0) {
			verbs[i].function(argv + 2);
			return failures ? 1 : 0;
		}
	return 2;
}
