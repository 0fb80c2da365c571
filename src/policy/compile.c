/* SPDX-License-Identifier: MIT */
#include "policy/compile.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "apply/seccomp.h"
#include "base/memory.h"
#include "base/path.h"
#include "policy/compile_parts.h"

bool host_has(const char *path)
{
	struct stat info;
	return stat(path, &info) == 0;
}

void add_tmpfs(
	struct parts *parts, const char *target, mode_t perms, unsigned share, const char *because)
{
	struct op *op = plan_add(parts->plan, OP_TMPFS, because);
	op->target = plan_copy(parts->plan, target);
	op->perms = perms;
	op->size = (parts->memory / share) & ~UINT64_C(0xfffff);
	if (op->size < 1u << 20)
		op->size = 1u << 20;
	/* An empty file takes about a kilobyte of the kernel's memory, which `size` does not count: this
	 * many are an eighth of it. */
	op->inodes = op->size / 8192;
	if (op->inodes < 1u << 12)
		op->inodes = 1u << 12;
}

struct op *add_bind_from(struct parts *parts, const char *source, const char *target,
	unsigned flags, const char *because)
{
	struct op *op = plan_add(parts->plan, OP_BIND, because);
	op->source = plan_copy(parts->plan, source);
	op->target = plan_copy(parts->plan, target);
	op->flags = flags;
	return op;
}

struct op *add_bind(struct parts *parts, const char *path, unsigned flags, const char *because)
{
	return add_bind_from(parts, path, path, flags, because);
}

static bool host_has_state(const struct host *host, const char *path)
{
	AUTO_FREE char *inside = host_expand(host, path);
	AUTO_FREE char *outside = host_outside(host, inside);
	return host_has(outside);
}

/* An agent's state exists when the first of its directories or any of its files does: the later
 * directories may be shared with others. */
static bool agent_has_state(const struct agent *agent, const struct host *host)
{
	if (agent->state && agent->state[0] && host_has_state(host, agent->state[0]))
		return true;
	for (const struct agent_file *file = agent->files; file && file->path; file++)
		if (host_has_state(host, file->path))
			return true;
	return false;
}

static int agents_add(struct agents *agents, const struct agent *agent, struct err *e)
{
	for (size_t i = 0; i < agents->count; i++)
		if (agents->agent[i] == agent)
			return 0;
	if (agents->count == AGENTS_MOST)
		return err_set(e, 0, "more than %d agents in one sandbox", AGENTS_MOST);
	agents->agent[agents->count++] = agent;
	return 0;
}

static int agents_named(const struct setting *names, const struct host *host,
	struct agents *ret_agents, struct err *e)
{
	for (size_t i = 0; i < names->count; i++) {
		const struct agent *agent;
		if (strcmp(names->item[i].text, "none") == 0) {
			ret_agents->count = 0;
			continue;
		}
		if (agent_load(names->item[i].text, host->config, &agent, e) < 0 ||
			agents_add(ret_agents, agent, e) < 0)
			return -1;
	}
	return 0;
}

int agents_choose(const struct policy *policy, const struct host *host, const char *command,
	struct agents *ret_agents, struct err *e)
{
	const struct setting *names = &policy->setting[KEY_AGENT];
	*ret_agents = (struct agents){ 0 };
	if (agent_for_command(command, host->config, &ret_agents->command, e) < 0)
		return -1;
	if (names->count)
		return agents_named(names, host, ret_agents, e);
	if (ret_agents->command)
		return agents_add(ret_agents, ret_agents->command, e);
	ret_agents->found = true;
	for (size_t i = 0; i < agents_builtin_count; i++)
		if (agent_has_state(&agents_builtin[i], host) &&
			agents_add(ret_agents, &agents_builtin[i], e) < 0)
			return -1;
	return 0;
}

static void add_namespace(struct parts *parts, const char *name, const char *because)
{
	plan_add(parts->plan, OP_NAMESPACE, because)->name = name;
}

/* Who the command is. A real root whose agent refuses root, and has no way to be told otherwise,
 * appears as uid 1000: by mapping only, to the kernel it stays root. */
static int add_identity(struct parts *parts, struct err *e)
{
	const char *user = policy_value(parts->policy, KEY_USER);
	const struct agent *agent = parts->in->agents->command;
	uid_t uid = parts->host->uid;
	gid_t gid = parts->host->gid;
	const char *because = "built-in";
	if (user) {
		because = policy_origin(parts->policy, KEY_USER);
		if (host_user(user, &uid, &gid, e) < 0)
			return -1;
	} else if (uid == 0 && agent && agent->refuses_root && !agent->root_set) {
		because = plan_text(parts->plan, "agent %s (refuses root)", agent->name);
		uid = gid = 1000;
	}
	struct op *op = plan_add(parts->plan, OP_IDENTITY, because);
	op->uid = uid;
	op->gid = gid;
	return 0;
}

const struct op *plan_identity(const struct parts *parts)
{
	for (size_t i = 0; i < parts->plan->count; i++)
		if (parts->plan->op[i].kind == OP_IDENTITY)
			return &parts->plan->op[i];
	return NULL;
}

static int add_hostname(struct parts *parts, struct err *e)
{
	static const char characters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					 "0123456789-._";
	const char *name = policy_value(parts->policy, KEY_HOSTNAME);
	const char *because = policy_origin(parts->policy, KEY_HOSTNAME);
	if (!name)
		return 0;
	if (strlen(name) > 64)
		return err_set(e, 0, "the host name '%.80s' is longer than 64 bytes", name);
	if (!*name || name[strspn(name, characters)])
		return err_set(e, 0, "%s: '%s' cannot be a host name", because, name);
	plan_add(parts->plan, OP_HOSTNAME, because)->value = plan_copy(parts->plan, name);
	return 0;
}

static int compile_namespaces(struct parts *parts, struct err *e)
{
	static const char *const always[] = { "user", "mount", "pid", "ipc", "uts", "cgroup" };
	for (size_t i = 0; i < sizeof always / sizeof always[0]; i++)
		add_namespace(parts, always[i], "engine namespace");
	if (policy_word(parts->policy, KEY_NETWORK) == WORD_NETWORK_OFF)
		add_namespace(parts, "net", policy_origin(parts->policy, KEY_NETWORK));
	if (add_identity(parts, e) < 0)
		return -1;
	return add_hostname(parts, e);
}

static void add_limit(struct parts *parts, const char *name, uint64_t number, const char *because)
{
	struct op *op = plan_add(parts->plan, OP_LIMIT, because);
	op->name = name;
	op->number = number;
}

static void compile_limits(struct parts *parts)
{
	const struct policy *policy = parts->policy;
	add_limit(parts, "core", 0, "built-in");
	if (policy->setting[KEY_TASKS].count)
		add_limit(parts, "tasks", policy_number(policy, KEY_TASKS),
			policy_origin(policy, KEY_TASKS));
	if (policy->setting[KEY_MEMORY].count)
		add_limit(parts, "memory", policy_number(policy, KEY_MEMORY),
			policy_origin(policy, KEY_MEMORY));
}

static void add_seccomp(struct parts *parts)
{
	static const struct {
		enum key key;
		unsigned lets;
	} switches[] = { { KEY_NESTING, SECCOMP_NESTING }, { KEY_I386, SECCOMP_I386 } };
	unsigned lets = 0;
	const char *because = "built-in";
	for (size_t i = 0; i < sizeof switches / sizeof switches[0]; i++)
		if (policy_number(parts->policy, switches[i].key)) {
			lets |= switches[i].lets;
			because = policy_origin(parts->policy, switches[i].key);
		}
	plan_add(parts->plan, OP_SECCOMP, because)->name = seccomp_name(lets);
}

static void compile_confinement(struct parts *parts)
{
	struct plan *plan = parts->plan;
	bool nesting = policy_number(parts->policy, KEY_NESTING);
	if (!nesting)
		plan_add(plan, OP_NO_USER_NAMESPACES, "built-in");
	plan_add(plan, OP_CAPABILITIES, "built-in");
	plan_add(plan, OP_NO_NEW_PRIVILEGES, "built-in");
	/* File rules would forbid every mount. */
	plan_add(plan, OP_LANDLOCK, "built-in")->flags =
		LANDLOCK_SCOPES | (nesting ? 0u : (unsigned)LANDLOCK_FILES);
	add_seccomp(parts);
}

static void add_root(struct parts *parts)
{
	struct op *root = plan_add(parts->plan, OP_TMPFS, "engine namespace");
	root->target = "/";
	root->perms = 0755;
	root->size = 16u << 20;
	root->inodes = 1u << 16;
}

static uint64_t machine_memory(void)
{
	struct sysinfo info;
	if (sysinfo(&info) < 0)
		return UINT64_C(1) << 30;
	return (uint64_t)info.totalram * info.mem_unit;
}

int policy_compile(const struct compile *compile, struct plan *ret_plan, struct strings *ret_notes,
	struct err *e)
{
	struct parts parts = {
		.in = compile,
		.policy = compile->policy,
		.host = compile->host,
		.plan = ret_plan,
		.notes = ret_notes,
		.memory = machine_memory(),
		.command = compile->command,
	};
	int result = -1;
	if (compile_namespaces(&parts, e) < 0)
		goto out;
	add_root(&parts);
	if (compile_system(&parts, e) < 0 || compile_binds(&parts, true, e) < 0 ||
		compile_home(&parts, e) < 0)
		goto out;
	compile_tools(&parts);
	/* Programs last: what the user's own mounts show needs no mount of its own. */
	if (compile_workspace(&parts, e) < 0 || compile_binds(&parts, false, e) < 0 ||
		compile_programs(&parts, e) < 0 || compile_wrapper(&parts, e) < 0)
		goto out;
	if (compile_last(&parts, e) < 0)
		goto out;
	plan_add(ret_plan, OP_REMOUNT_RO, "engine namespace")->target = "/";
	if (compile_environment(&parts, e) < 0)
		goto out;
	compile_limits(&parts);
	compile_confinement(&parts);
	ret_plan->command = parts.command;
	result = 0;
out:
	strings_free(&parts.path);
	return result;
}
