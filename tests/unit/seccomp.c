/* SPDX-License-Identifier: MIT */
/*
 * The seccomp programs, run here instead of in the kernel: so 32-bit calls, which many machines
 * cannot make, are tested too, and so is what lies in the half of an argument that nobody looks at.
 */
#include <asm/ioctls.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "apply/seccomp.h"
#include "tests/unit/test.h"

enum { ALLOWED = 0, KILLED = -1, BROKEN = -2 };

#if defined(__x86_64__)
#define HERE AUDIT_ARCH_X86_64
#else
#define HERE AUDIT_ARCH_AARCH64
#endif

/* What the kernel's interpreter does with the instructions that seccomp permits. */
static int program_run(const struct seccomp_program *program, const struct seccomp_data *data)
{
	uint32_t a = 0;
	for (size_t i = 0; i < program->length; i++) {
		const struct sock_filter *one = &program->filter[i];
		bool jumps = BPF_CLASS(one->code) == BPF_JMP && BPF_OP(one->code) != BPF_JA;
		bool holds = false;
		switch (one->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			memcpy(&a, (const char *)data + one->k, sizeof a);
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= one->k;
			break;
		case BPF_JMP | BPF_JA:
			i += one->k;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
			holds = a == one->k;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			holds = a >= one->k;
			break;
		case BPF_JMP | BPF_JGT | BPF_K:
			holds = a > one->k;
			break;
		case BPF_JMP | BPF_JSET | BPF_K:
			holds = a & one->k;
			break;
		case BPF_RET | BPF_K:
			if (one->k == SECCOMP_RET_ALLOW)
				return ALLOWED;
			if (one->k == SECCOMP_RET_KILL_PROCESS)
				return KILLED;
			return (one->k & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO
				       ? (int)(one->k & SECCOMP_RET_DATA)
				       : BROKEN;
		default:
			return BROKEN;
		}
		if (jumps)
			i += holds ? one->jt : one->jf;
	}
	return BROKEN;
}

static const char *variant; /* the one that ask() asks */
static const char *wrong;   /* the first expectation of a group that was not met */

static void expect(bool met, const char *what)
{
	if (!met && !wrong)
		wrong = what;
}

static void group_end(const char *group)
{
	if (wrong)
		printf("not ok - %s, %s: %s\n", variant, group, wrong);
	else
		printf("ok - %s, %s\n", variant, group);
	test_failures += wrong != NULL;
	wrong = NULL;
}

static int ask_at(uint32_t architecture, long number, uint64_t a, uint64_t b, uint64_t c)
{
	struct seccomp_data data = { .nr = (int)number, .arch = architecture, .args = { a, b, c } };
	return program_run(seccomp_find(variant, NULL), &data);
}

static int ask(long number, uint64_t a, uint64_t b, uint64_t c)
{
	return ask_at(HERE, number, a, b, c);
}

static const uint64_t dirt = UINT64_C(0xdeadbeef) << 32;

static void test_terminals(void)
{
	static const struct {
		uint64_t command;
		int answer;
	} commands[] = { { TIOCSTI, EPERM }, { TIOCLINUX, EPERM }, { TIOCSETD, EPERM },
		{ TCGETS, ALLOWED }, { TIOCGWINSZ, ALLOWED }, { TIOCSCTTY, ALLOWED } };
	for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
		expect(ask(SYS_ioctl, 0, commands[i].command, 0) == commands[i].answer,
			"ioctl commands");
		expect(ask(SYS_ioctl, 0, commands[i].command | dirt, 0) == commands[i].answer,
			"ioctl commands with a dirty half");
	}
}

static void test_sockets(void)
{
	for (uint64_t family = 0; family < 64; family++) {
		bool good = family == AF_UNIX || family == AF_INET || family == AF_INET6 ||
			    family == AF_NETLINK;
		int expected = good ? ALLOWED : EAFNOSUPPORT;
		expect(ask(SYS_socket, family, SOCK_STREAM, 0) == expected, "socket families");
		expect(ask(SYS_socket, family | dirt, SOCK_STREAM, 0) == expected,
			"socket families with a dirty half");
		expect(ask(SYS_socketpair, family, SOCK_STREAM, 0) ==
				(family == AF_UNIX ? ALLOWED : EAFNOSUPPORT),
			"socketpair");
	}
	expect(ask(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0) == ALLOWED,
		"UNIX seqpacket");
	expect(ask(SYS_socket, AF_INET, SOCK_SEQPACKET | SOCK_CLOEXEC, 0) == ESOCKTNOSUPPORT,
		"SCTP by type");
	expect(ask(SYS_socket, AF_INET, SOCK_PACKET, 0) == ESOCKTNOSUPPORT, "packets by type");
	expect(ask(SYS_socket, AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 1) == ALLOWED, "ping");
	expect(ask(SYS_socket, AF_INET6, SOCK_STREAM, 262 | dirt) == EPROTONOSUPPORT, "MPTCP");
	expect(ask(SYS_socket, AF_INET, SOCK_STREAM, 132) == EPROTONOSUPPORT, "SCTP by protocol");
	expect(ask(SYS_socket, AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE) == ALLOWED,
		"route netlink");
	for (uint64_t protocol = 1; protocol < 32; protocol++)
		expect(ask(SYS_socket, AF_NETLINK, SOCK_RAW, protocol) == EPROTONOSUPPORT,
			"other netlink");
}

static void test_namespaces(bool nesting)
{
	static const uint64_t flags[] = { CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET,
		CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP };
	int expected = nesting ? ALLOWED : EPERM;
	for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
		expect(ask(SYS_unshare, flags[i] | CLONE_FS, 0, 0) == expected, "unshare");
		expect(ask(SYS_clone, flags[i] | CLONE_VM, 0, 0) == expected, "clone");
	}
	expect(ask(SYS_unshare, 0x80, 0, 0) == expected, "unshare of time");
	expect(ask(SYS_unshare, CLONE_FILES | CLONE_FS, 0, 0) == ALLOWED, "unshare of descriptors");
	expect(ask(SYS_clone, CLONE_VM | CLONE_VFORK | 17, 0, 0) == ALLOWED, "vfork");
	expect(ask(SYS_clone, 0x3d0f00, 0, 0) == ALLOWED, "a thread");
	expect(ask(SYS_clone3, 1, 88, 0) == (nesting ? ALLOWED : ENOSYS), "clone3");
	expect(ask(SYS_setns, 3, 0, 0) == expected, "setns");
	expect(ask(SYS_mount, 0, 0, 0) == expected, "mount");
	expect(ask(SYS_umount2, 0, 0, 0) == expected, "umount2");
	expect(ask(SYS_pivot_root, 0, 0, 0) == expected, "pivot_root");
	expect(ask(SYS_chroot, 0, 0, 0) == expected, "chroot");
	expect(ask(442, 0, 0, 0) == (nesting ? ALLOWED : ENOSYS), "mount_setattr");
	expect(ask(467, 0, 0, 0) == ENOSYS, "open_tree_attr");
}

static void test_others(void)
{
	expect(ask(SYS_prlimit64, 0, 7, 0x1000) == ALLOWED, "own limits");
	expect(ask(SYS_prlimit64, 1, 7, 0) == ALLOWED, "asking for another's limits");
	expect(ask(SYS_prlimit64, 1, 7, 0x1000) == EPERM, "another's limits");
	expect(ask(SYS_prlimit64, 1 | dirt, 7, UINT64_C(1) << 40) == EPERM,
		"another's limits, dirty and far away");
	expect(ask(SYS_personality, 0xffffffff, 0, 0) == ALLOWED, "asking for the personality");
	expect(ask(SYS_personality, ~UINT64_C(0), 0, 0) == ALLOWED, "asking with all 64 bits");
	expect(ask(SYS_personality, ADDR_NO_RANDOMIZE, 0, 0) == ALLOWED,
		"a debugger's personality");
	expect(ask(SYS_personality, PER_LINUX32 | UNAME26, 0, 0) == ALLOWED,
		"setarch's personality");
	expect(ask(SYS_personality, READ_IMPLIES_EXEC, 0, 0) == EPERM, "executable data");
	expect(ask(SYS_personality, MMAP_PAGE_ZERO | dirt, 0, 0) == EPERM, "page 0");
	expect(ask(SYS_personality, 0xfffffffe, 0, 0) == EPERM, "nearly all bits");
	expect(ask(SYS_keyctl, 0, 0, 0) == ENOSYS, "keyctl");
	expect(ask(SYS_io_uring_setup, 1, 0, 0) == ENOSYS, "io_uring");
	expect(ask(SYS_perf_event_open, 0, 0, 0) == EACCES, "perf");
	expect(ask(SYS_bpf, 0, 0, 0) == EPERM, "bpf");
	expect(ask(SYS_ptrace, 0, 0, 0) == ALLOWED, "ptrace");
	expect(ask(SYS_seccomp, 1, 0, 0) == ALLOWED, "a filter inside");
	expect(ask(466, 0, 0, 0) == ALLOWED, "the newest known call");
	expect(ask(100000, 0, 0, 0) == ENOSYS, "an unknown call");
	expect(ask(-1, 0, 0, 0) == ALLOWED, "a call that a tracer made a no-op");
}

/* With all arguments 0; a slip in the tree's jumps would refuse neighbours. */
static void test_count(size_t expected)
{
	size_t refused = 0;
	for (long number = 0; number < SECCOMP_CALLS_KNOWN; number++)
		refused += ask(number, 0, 0, 0) != ALLOWED;
	expect(refused == expected, "number of refused calls");
	if (refused != expected)
		printf("# %s refuses %zu calls\n", variant, refused);
}

#if defined(__x86_64__)
static void test_architectures(bool i386)
{
	expect(ask(0x40000000 | SYS_read, 0, 0, 0) == ENOSYS, "x32");
	expect(ask(0x40000000 | 520, 0, 0, 0) == ENOSYS, "x32's own calls");
	expect(ask_at(AUDIT_ARCH_AARCH64, 0, 0, 0, 0) == KILLED, "another architecture");
	expect(ask_at(AUDIT_ARCH_I386, 3, 0, 0, 0) == (i386 ? ALLOWED : KILLED), "i386: read");
	if (!i386)
		return;
	expect(ask_at(AUDIT_ARCH_I386, 102, 1, 0, 0) == ENOSYS, "i386: socketcall");
	expect(ask_at(AUDIT_ARCH_I386, 102, 8, 0, 0) == ENOSYS, "i386: socketcall, socketpair");
	expect(ask_at(AUDIT_ARCH_I386, 359, AF_INET, SOCK_STREAM, 0) == ALLOWED, "i386: socket");
	expect(ask_at(AUDIT_ARCH_I386, 359, AF_VSOCK, SOCK_STREAM, 0) == EAFNOSUPPORT,
		"i386: vsock");
	expect(ask_at(AUDIT_ARCH_I386, 54, 0, TIOCSTI, 0) == EPERM, "i386: ioctl");
	expect(ask_at(AUDIT_ARCH_I386, 120, CLONE_NEWUSER, 0, 0) ==
			ask(SYS_clone, CLONE_NEWUSER, 0, 0),
		"i386: clone");
	expect(ask_at(AUDIT_ARCH_I386, 21, 0, 0, 0) == ask(SYS_mount, 0, 0, 0), "i386: mount");
	expect(ask_at(AUDIT_ARCH_I386, 22, 0, 0, 0) == ask(SYS_mount, 0, 0, 0), "i386: umount");
	expect(ask_at(AUDIT_ARCH_I386, 340, 1, 0, 1) == EPERM, "i386: prlimit64");
	expect(ask_at(AUDIT_ARCH_I386, 166, 0, 0, 0) == ENOSYS, "i386: vm86");
	expect(ask_at(AUDIT_ARCH_I386, 25, 0, 0, 0) == EPERM, "i386: stime");
	expect(ask_at(AUDIT_ARCH_I386, 404, 0, 0, 0) == EPERM, "i386: clock_settime64");
	expect(ask_at(AUDIT_ARCH_I386, 123, 0, 0, 0) == ALLOWED, "i386: modify_ldt");
	expect(ask_at(AUDIT_ARCH_I386, 425, 0, 0, 0) == ENOSYS, "i386: io_uring");
	expect(ask_at(AUDIT_ARCH_I386, 100000, 0, 0, 0) == ENOSYS, "i386: an unknown call");
}
#endif

static void test_names(void)
{
	struct err e = { 0 };
	AUTO_TEXT out = { 0 };
	expect(!seccomp_find("bases", &e) && strstr(e.text, "'bases'"),
		"an unknown filter is named");
	expect(strcmp(seccomp_name(SECCOMP_NESTING), "nesting") == 0, "names of variants");
	expect(seccomp_show("base", &out, &e) == 0 && strstr(out.data, "TIOCSTI") &&
			strstr(out.data, "pivot_root"),
		"the table is shown");
	out.length = 0;
	expect(seccomp_show("nesting", &out, &e) == 0 && !strstr(out.data, "pivot_root"),
		"the table of a variant is shown");
}

int main(void)
{
	for (size_t i = 0; i < SECCOMP_VARIANTS; i++) {
		if (!seccomp_programs[i].length)
			continue;
		variant = seccomp_variants[i].name;
		test_terminals();
		group_end("terminals");
		test_sockets();
		group_end("sockets");
		test_namespaces(seccomp_variants[i].lets & SECCOMP_NESTING);
		group_end("namespaces and mounts");
		test_others();
		group_end("others");
#if defined(__x86_64__)
		test_architectures(seccomp_variants[i].lets & SECCOMP_I386);
		group_end("architectures");
		static const size_t counts[] = { 51, 36, 50, 35 };
		test_count(counts[i]);
		group_end("no other call is refused");
#endif
	}
	test_names();
	group_end("names and the table");
	return test_done();
}
