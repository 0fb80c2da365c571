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

/* A line of /etc/passwd has fields, and hutch's own must not be taken for others. */
static bool is_account_name(const char *name)
{
	for (; *name; name++)
		if (*name == ':' || *name == '/' || (unsigned char)*name <= ' ' || *name == 127)
			return false;
	return true;
}

/* accounts: self: nobody but the user, under the name given. */
static int add_accounts(struct parts *parts, struct err *e)
{
	const char *name = policy_value(parts->policy, KEY_ACCOUNTS);
	const char *because = policy_origin(parts->policy, KEY_ACCOUNTS);
	unsigned uid = plan_identity(parts)->uid, gid = plan_identity(parts)->gid;
	if (!name)
		name = parts->host->user;
	if (!is_account_name(name))
		return err_set(e, 0, "%s: '%s' cannot be a user's name", because, name);
	add_file(parts, "/etc/passwd",
		plan_text(parts->plan, "%s:x:%u:%u::%s:/bin/bash\n", name, uid, gid,
			parts->host->home),
		because);
	add_file(parts, "/etc/group", plan_text(parts->plan, "%s:x:%u:\n", name, gid), because);
	return 0;
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
	bool off = policy_word(parts->policy, KEY_NETWORK) == WORD_NETWORK_OFF;
	for (const char *const *path = minimal_paths; *path; path++) {
		/* It may lead to a directory where the resolver has its sockets. */
		if (off && strcmp(*path, "/etc/resolv.conf") == 0)
			continue;
		if (mirror_add(parts->plan, *path, because, e) < 0)
			return -1;
	}
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

/* What a preset says of the system goes with its tools; what the user says is not weakened. */
static int system_is_minimal(const struct parts *parts, bool *ret_minimal, struct err *e)
{
	const char *because = policy_origin(parts->policy, KEY_SYSTEM);
	bool minimal = policy_word(parts->policy, KEY_SYSTEM) == WORD_SYSTEM_MINIMAL;
	bool nix = policy_word(parts->policy, KEY_TOOLS) == WORD_TOOLS_NIX;
	*ret_minimal = minimal && nix;
	if (!minimal || nix || strncmp(because, "preset ", 7) == 0)
		return 0;
	err_set(e, 0, "%s: a minimal system has no programs, and tools are not nix", because);
	return err_hint(e, "add --tools nix, or leave the system full");
}

int compile_system(struct parts *parts, struct err *e)
{
	bool minimal;
	if (system_is_minimal(parts, &minimal, e) < 0)
		return -1;
	if (policy_word(parts->policy, KEY_ACCOUNTS) == WORD_ACCOUNTS_SELF &&
		add_accounts(parts, e) < 0)
		return -1;
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
