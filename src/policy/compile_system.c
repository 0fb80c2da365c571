/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/path.h"
#include "policy/compile_parts.h"
#include "policy/mirror.h"

static void add_file(
	struct parts *parts, const char *target, const char *content, const char *because)
{
	struct op *op = plan_add(parts->plan, OP_FILE, because);
	op->target = target;
	op->value = content;
	op->perms = 0444;
}

/* accounts: self: nobody but the user, under the name given. */
static void add_accounts(struct parts *parts)
{
	const char *name = policy_value(parts->policy, KEY_ACCOUNTS);
	const char *because = policy_origin(parts->policy, KEY_ACCOUNTS);
	const struct op nobody = { .uid = parts->host->uid, .gid = parts->host->gid };
	const struct op *identity = &nobody;
	for (size_t i = 0; i < parts->plan->count; i++)
		if (parts->plan->op[i].kind == OP_IDENTITY)
			identity = &parts->plan->op[i];
	unsigned uid = identity->uid, gid = identity->gid;
	if (!name)
		name = parts->host->user;
	add_file(parts, "/etc/passwd",
		plan_text(parts->plan, "%s:x:%u:%u::%s:/bin/bash\n", name, uid, gid,
			parts->host->home),
		because);
	add_file(parts, "/etc/group", plan_text(parts->plan, "%s:x:%u:\n", name, gid), because);
}

/* What `nix develop` needs of the host before the store takes over. git, since nix calls it for a
 * flake that lies in a repository. */
static const char *const minimal_paths[] = { "/bin/sh", "/bin/bash", "/usr/bin/env", "/usr/bin/nix",
	"/usr/bin/git", "/usr/lib", "/usr/lib64", "/lib", "/lib64", "/etc/resolv.conf",
	"/etc/hosts", "/etc/nsswitch.conf", "/etc/ssl/certs", "/etc/ssl/openssl.cnf",
	"/etc/pki/ca-trust", "/etc/pki/tls/certs", "/etc/ld.so.cache", NULL };

static int add_minimal(struct parts *parts, struct err *e)
{
	const char *because = policy_origin(parts->policy, KEY_SYSTEM);
	for (const char *const *path = minimal_paths; *path; path++)
		if (mirror_add(parts->plan, *path, because, e) < 0)
			return -1;
	return 0;
}

static int add_full(struct parts *parts, struct err *e)
{
	static const char *const no_resolver[] = { "resolv.conf", NULL };
	const char *because = policy_origin(parts->policy, KEY_SYSTEM);
	bool off = policy_word(parts->policy, KEY_NETWORK) == WORD_NETWORK_OFF;
	if (host_tree_add(parts->plan, because, e) < 0)
		return -1;
	host_etc_add(parts->plan, because, off ? no_resolver : NULL);
	return 0;
}

static void add_proc_dev(struct parts *parts)
{
	struct op *proc = plan_add(parts->plan, OP_PROC, policy_origin(parts->policy, KEY_PROC));
	proc->target = "/proc";
	if (policy_word(parts->policy, KEY_PROC) == WORD_PROC_HOST)
		proc->flags |= PROC_HOST;
	/* Not for a real root: to the kernel it is root in a nested sandbox as well, and in a /proc
	 * without masks it could write the host's core_pattern. */
	if (policy_number(parts->policy, KEY_NESTING) && parts->host->uid != 0)
		proc->flags |= PROC_NESTING;
	struct op *dev = plan_add(parts->plan, OP_DEV, "engine namespace");
	dev->target = "/dev";
	dev->size = (parts->memory / 16) & ~UINT64_C(0xfffff);
}

int compile_system(struct parts *parts, struct err *e)
{
	bool minimal = policy_word(parts->policy, KEY_SYSTEM) == WORD_SYSTEM_MINIMAL &&
		       policy_word(parts->policy, KEY_TOOLS) == WORD_TOOLS_NIX;
	if (policy_word(parts->policy, KEY_ACCOUNTS) == WORD_ACCOUNTS_SELF)
		add_accounts(parts);
	if ((minimal ? add_minimal(parts, e) : add_full(parts, e)) < 0)
		return -1;
	add_proc_dev(parts);
	/* Together at most about half of memory: filled by the sandbox, they must not take the host
	 * down. */
	add_tmpfs(parts, "/tmp", 01777, 8, "engine namespace");
	add_tmpfs(parts, "/var/tmp", 01777, 16, "engine namespace");
	const char *runtime = plan_text(parts->plan, "/run/user/%u", parts->host->uid);
	add_tmpfs(parts, runtime, 0700, 64, "engine namespace");
	return 0;
}
