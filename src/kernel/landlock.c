/* SPDX-License-Identifier: MIT */
#include "kernel/landlock.h"

#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"

/* The numbers are the same on every architecture. */
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

enum { CREATE_RULESET_VERSION = 1, RULE_PATH_BENEATH = 1, RULE_NET_PORT = 2 };

/* The layouts of the kernel's own interface. A kernel takes a shorter structure as one whose rest
 * is zero, and a longer one if its rest is zero. */
struct ruleset_attribute {
	uint64_t fs;
	uint64_t net;    /* ABI 4 */
	uint64_t scoped; /* ABI 6 */
};

struct path_attribute {
	uint64_t rights;
	int32_t parent;
} __attribute__((packed));

struct port_attribute {
	uint64_t rights;
	uint64_t port;
};

int landlock_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_RULESET_VERSION);
	/* Only these two say that the kernel has none. */
	if (abi < 0 && (errno == ENOSYS || errno == EOPNOTSUPP))
		return 0;
	return (int)abi;
}

uint64_t landlock_fs_rights(int abi)
{
	if (abi < 1)
		return 0;
	uint64_t rights = (LANDLOCK_FS_MAKE_SYM << 1) - 1;
	if (abi >= 2)
		rights |= LANDLOCK_FS_REFER;
	if (abi >= 3)
		rights |= LANDLOCK_FS_TRUNCATE;
	if (abi >= 5)
		rights |= LANDLOCK_FS_IOCTL_DEV;
	return rights;
}

uint64_t landlock_net_rights(int abi)
{
	return abi >= 4 ? LANDLOCK_NET_BIND_TCP | LANDLOCK_NET_CONNECT_TCP : 0;
}

uint64_t landlock_scopes(int abi)
{
	return abi >= 6 ? LANDLOCK_SCOPE_ABSTRACT_SOCKET | LANDLOCK_SCOPE_SIGNALS : 0;
}

int landlock_create(uint64_t fs, uint64_t net, uint64_t scopes, int *ret_ruleset, struct err *e)
{
	const struct ruleset_attribute attribute = { fs, net, scopes };
	/* A structure of the first ABI's length is all that older kernels need to see. */
	size_t size = net || scopes ? sizeof attribute : sizeof attribute.fs;
	long fd = syscall(SYS_landlock_create_ruleset, &attribute, size, 0);
	if (fd < 0)
		return err_set(e, errno, "cannot make a Landlock ruleset");
	*ret_ruleset = (int)fd; /* close-on-exec already */
	return 0;
}

int landlock_allow_path(int ruleset, int fd, uint64_t rights, struct err *e)
{
	const struct path_attribute attribute = { rights, fd };
	if (syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &attribute, 0) < 0)
		return err_set(e, errno, "cannot add a path to a Landlock ruleset");
	return 0;
}

int landlock_allow_port(int ruleset, uint16_t port, uint64_t rights, struct err *e)
{
	const struct port_attribute attribute = { rights, port };
	if (syscall(SYS_landlock_add_rule, ruleset, RULE_NET_PORT, &attribute, 0) < 0)
		return err_set(e, errno, "cannot add port %u to a Landlock ruleset", port);
	return 0;
}

int landlock_restrict(int ruleset, uint32_t flags, struct err *e)
{
	if (syscall(SYS_landlock_restrict_self, ruleset, flags) < 0)
		return err_set(e, errno, "cannot apply a Landlock ruleset");
	return 0;
}

int landlock_scope(void)
{
	int abi = landlock_abi();
	if (abi < 0)
		return -1;
	uint64_t scopes = landlock_scopes(abi);
	AUTO_CLOSE int ruleset = -1;
	if (!scopes)
		return 0;
	if (landlock_create(0, 0, scopes, &ruleset, NULL) < 0)
		return -1;
	return landlock_restrict(ruleset, 0, NULL);
}
