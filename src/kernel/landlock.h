/* SPDX-License-Identifier: MIT */
/*
 * The three Landlock calls (Linux 5.13), with constants of our own: the headers of the build
 * machine may be older than the kernel that runs. No opinion on what to allow is held here.
 */
#pragma once

#include <stdint.h>

#include "base/err.h"

/* Rights on files and directories, with the ABI that brought them when it is not the first. */
enum {
	LANDLOCK_FS_EXECUTE = 1 << 0,
	LANDLOCK_FS_WRITE_FILE = 1 << 1,
	LANDLOCK_FS_READ_FILE = 1 << 2,
	LANDLOCK_FS_READ_DIR = 1 << 3,
	LANDLOCK_FS_REMOVE_DIR = 1 << 4,
	LANDLOCK_FS_REMOVE_FILE = 1 << 5,
	LANDLOCK_FS_MAKE_CHAR = 1 << 6,
	LANDLOCK_FS_MAKE_DIR = 1 << 7,
	LANDLOCK_FS_MAKE_REG = 1 << 8,
	LANDLOCK_FS_MAKE_SOCK = 1 << 9,
	LANDLOCK_FS_MAKE_FIFO = 1 << 10,
	LANDLOCK_FS_MAKE_BLOCK = 1 << 11,
	LANDLOCK_FS_MAKE_SYM = 1 << 12,
	LANDLOCK_FS_REFER = 1 << 13,     /* 2: rename and link across directories */
	LANDLOCK_FS_TRUNCATE = 1 << 14,  /* 3 */
	LANDLOCK_FS_IOCTL_DEV = 1 << 15, /* 5 */
};

/* What makes sense for a rule on a file that is not a directory. */
enum {
	LANDLOCK_FS_OF_FILE = LANDLOCK_FS_EXECUTE | LANDLOCK_FS_WRITE_FILE | LANDLOCK_FS_READ_FILE |
			      LANDLOCK_FS_TRUNCATE | LANDLOCK_FS_IOCTL_DEV,
};

enum { /* ABI 4 */
	LANDLOCK_NET_BIND_TCP = 1 << 0,
	LANDLOCK_NET_CONNECT_TCP = 1 << 1,
};

enum { /* ABI 6: what cannot reach out of the domain */
	LANDLOCK_SCOPE_ABSTRACT_SOCKET = 1 << 0,
	LANDLOCK_SCOPE_SIGNALS = 1 << 1,
};

enum { /* ABI 7: flags of landlock_restrict; audit records only, rights are the same */
	LANDLOCK_LOG_SAME_EXEC_OFF = 1 << 0,
	LANDLOCK_LOG_NEW_EXEC_ON = 1 << 1,
	LANDLOCK_LOG_SUBDOMAINS_OFF = 1 << 2,
};

/* The kernel's ABI number; 0 where Landlock is not built in or not switched on; -1 with errno when
 * the kernel, or a filter before it, does not tell. */
int landlock_abi(void);

/* All rights that an ABI knows: what a ruleset may handle there. */
uint64_t landlock_fs_rights(int abi);
uint64_t landlock_net_rights(int abi);
uint64_t landlock_scopes(int abi);

/* A new ruleset that handles (denies unless a rule allows) these rights. Bits the kernel does not
 * know make it fail: mask them with the functions above. The descriptor is the caller's. */
int landlock_create(uint64_t fs, uint64_t net, uint64_t scopes, int *ret_ruleset, struct err *e);

/* Allow `rights` below what `fd` (O_PATH will do) stands for. For a file mask them with
 * LANDLOCK_FS_OF_FILE; rights that the ruleset does not handle are an error. */
int landlock_allow_path(int ruleset, int fd, uint64_t rights, struct err *e);

int landlock_allow_port(int ruleset, uint16_t port, uint64_t rights, struct err *e);

/* Put this thread, and all it starts, under the ruleset. Needs no_new_privs or CAP_SYS_ADMIN. */
int landlock_restrict(int ruleset, uint32_t flags, struct err *e);

/* Enter a domain with every scope that this kernel knows and no other restriction; nothing is done
 * where it knows none (before ABI 6). Allocates nothing. 0, or -1 with errno. */
int landlock_scope(void);
