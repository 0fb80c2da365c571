/* SPDX-License-Identifier: MIT */
/* The policy as data: for the generator, and for those who want to read it. */
#include "apply/seccomp.h"

#include <asm/ioctls.h>
#include <errno.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/personality.h>
#include <sys/socket.h>

/* The headers of the build machine may be older than the kernel that runs. */
#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif
#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif
#ifndef IPPROTO_SMC
#define IPPROTO_SMC 256
#endif
#define SOCKET_TYPE 0xf /* the bits that are not flags */
#define CLONE_NAMESPACES                                                                           \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |             \
		CLONE_NEWPID | CLONE_NEWNET)

#define NEVER 0
#define NESTING SECCOMP_NESTING
#define I386 SECCOMP_I386

#define IS(n, v)                                                                                   \
	{                                                                                          \
		SECCOMP_IS, n, ~0u, (uint32_t)(v), "argument " #n " is " #v                        \
	}
#define NOT(n, v)                                                                                  \
	{                                                                                          \
		SECCOMP_NOT, n, ~0u, (uint32_t)(v), "argument " #n " is not " #v                   \
	}
#define ANY(n, bits)                                                                               \
	{                                                                                          \
		SECCOMP_ANY, n, (uint32_t)(bits), 0, "argument " #n " has any of " #bits           \
	}
#define FIELD(n, m, v)                                                                             \
	{                                                                                          \
		SECCOMP_FIELD, n, m, (uint32_t)(v), "argument " #n " under " #m " is " #v          \
	}
#define GIVEN(n)                                                                                   \
	{                                                                                          \
		SECCOMP_GIVEN, n, ~0u, 0, "argument " #n " is given"                               \
	}

const struct seccomp_rule seccomp_rules[] = {
#define REFUSE(call, error, unless, reason, ...)                                                   \
	{ #call, error, #error, unless, reason, { __VA_ARGS__ } },
#include "apply/seccomp.def"
#undef REFUSE
};

const size_t seccomp_rules_count = sizeof seccomp_rules / sizeof seccomp_rules[0];

const struct seccomp_variant seccomp_variants[SECCOMP_VARIANTS] = {
	{ "base", 0 },
	{ "nesting", SECCOMP_NESTING },
	{ "i386", SECCOMP_I386 },
	{ "nesting-i386", SECCOMP_NESTING | SECCOMP_I386 },
};
