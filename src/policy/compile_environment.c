/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/memory.h"
#include "base/path.h"
#include "kernel/account.h"
#include "policy/compile_parts.h"
#include "policy/lists.h"
#include "policy/place.h"

static const char *name_of(struct parts *parts, const char *entry)
{
	return plan_text(parts->plan, "%.*s", (int)strcspn(entry, "="), entry);
}

static void add_set(struct parts *parts, const char *name, const char *value, const char *because)
{
	struct op *op = plan_add(parts->plan, OP_ENV_SET, because);
	op->name = name;
	op->value = value;
}

static bool matches_any(const char *name, const char *const *patterns)
{
	for (; patterns && *patterns; patterns++)
		if (word_matches(name, *patterns))
			return true;
	return false;
}

static bool dropped_by_user(const struct parts *parts, const char *name)
{
	const struct setting *drop = &parts->policy->setting[KEY_ENV_DROP];
	for (size_t i = 0; i < drop->count; i++)
		if (word_matches(name, drop->item[i].text))
			return true;
	return false;
}

/* Why a variable of the outside does not pass, or NULL. */
static const char *drop_reason(struct parts *parts, const char *name)
{
	if (dropped_by_user(parts, name))
		return policy_origin(parts->policy, KEY_ENV_DROP);
	if (matches_any(name, environment_drop_list))
		return "built-in drop list";
	for (size_t i = 0; i < agents_builtin_count; i++)
		if (matches_any(name, agents_builtin[i].drop))
			return plan_text(
				parts->plan, "agent %s (moves its state)", agents_builtin[i].name);
	return NULL;
}

static bool wanted_when_scoped(const struct parts *parts, const char *name)
{
	const struct agents *agents = parts->in->agents;
	if (matches_any(name, environment_scoped_list))
		return true;
	for (size_t i = 0; i < agents->count; i++)
		if (matches_any(name, agents->agent[i]->environment))
			return true;
	return false;
}

static void add_inherited(struct parts *parts)
{
	for (char *const *entry = parts->host->variables; *entry; entry++) {
		AUTO_FREE char *name = memory_slice(*entry, strcspn(*entry, "="));
		const char *because = drop_reason(parts, name);
		if (because)
			plan_add(parts->plan, OP_ENV_UNSET, because)->name =
				plan_copy(parts->plan, name);
	}
}

static void add_scoped(struct parts *parts)
{
	const char *because = policy_origin(parts->policy, KEY_ENVIRONMENT);
	plan_add(parts->plan, OP_ENV_CLEAR, because);
	for (char *const *entry = parts->host->variables; *entry; entry++) {
		const char *name = name_of(parts, *entry);
		if (wanted_when_scoped(parts, name) && !drop_reason(parts, name))
			plan_add(parts->plan, OP_ENV_KEEP, because)->name = name;
	}
}

static const char *path_value(struct parts *parts)
{
	static const char usual[] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
	const char *outer = host_variable(parts->host, "PATH");
	bool clean = policy_word(parts->policy, KEY_ENVIRONMENT) == WORD_ENVIRONMENT_CLEAN;
	const char *value = clean || !outer ? usual : outer;
	for (size_t i = 0; i < parts->path.count; i++) {
		const char *directory = parts->path.item[i];
		AUTO_FREE char *padded = memory_format(":%s:", value);
		AUTO_FREE char *wanted = memory_format(":%s:", directory);
		if (!strstr(padded, wanted))
			value = plan_text(parts->plan, "%s:%s", value, directory);
	}
	return plan_text(parts->plan, "/run/hutch/bin:%s", value);
}

/* What moved with the home and the temporary directories. */
static void add_places(struct parts *parts)
{
	static const char because[] = "engine namespace";
	struct plan *plan = parts->plan;
	const char *home = plan_copy(plan, parts->host->home);
	add_set(parts, "HOME", home, because);
	add_set(parts, "PATH", path_value(parts), because);
	add_set(parts, "TMPDIR", "/tmp", because);
	if (policy_word(parts->policy, KEY_ENVIRONMENT) == WORD_ENVIRONMENT_CLEAN)
		return;
	add_set(parts, "XDG_CACHE_HOME", plan_text(plan, "%s/.cache", home), because);
	add_set(parts, "XDG_CONFIG_HOME", plan_text(plan, "%s/.config", home), because);
	add_set(parts, "XDG_DATA_HOME", plan_text(plan, "%s/.local/share", home), because);
	add_set(parts, "XDG_STATE_HOME", plan_text(plan, "%s/.local/state", home), because);
	add_set(parts, "XDG_RUNTIME_DIR", plan_text(plan, "/run/user/%u", parts->host->uid),
		because);
	add_set(parts, "PWD", parts->directory, because);
}

/* Who the command is inside, where that is another. */
static void add_user_name(struct parts *parts)
{
	const struct op *identity = plan_identity(parts);
	struct account account;
	if (identity->uid == parts->host->uid ||
		policy_word(parts->policy, KEY_ENVIRONMENT) == WORD_ENVIRONMENT_CLEAN)
		return;
	const char *name = account_by_uid(identity->uid, &account)
				   ? plan_copy(parts->plan, account.entry.pw_name)
				   : plan_text(parts->plan, "%u", identity->uid);
	const char *because = plan_copy(parts->plan, identity->because);
	add_set(parts, "USER", name, because);
	add_set(parts, "LOGNAME", name, because);
}

/* The user has the agent's files elsewhere, and that is not the sandbox's to know: it is said. */
static void note_moved(struct parts *parts)
{
	const struct agent *agent = parts->in->agents->command;
	for (char *const *entry = parts->host->variables; agent && *entry; entry++) {
		const char *name = name_of(parts, *entry);
		if (matches_any(name, agent->drop) && host_variable(parts->host, name))
			strings_take(parts->notes,
				memory_format("%s is not passed on, so %s has here what is in its "
					      "usual places",
					name, agent->name));
	}
}

/* NAME=VALUE pairs that an agent needs. */
static void add_pairs(struct parts *parts, const char *const *pairs, const char *because)
{
	for (; pairs && *pairs; pairs++)
		add_set(parts, name_of(parts, *pairs),
			plan_copy(parts->plan, strchr(*pairs, '=') + 1), because);
}

static void add_agents(struct parts *parts)
{
	const struct agents *agents = parts->in->agents;
	bool root = plan_identity(parts)->uid == 0;
	for (size_t i = 0; i < agents->count; i++) {
		const struct agent *agent = agents->agent[i];
		const char *because = plan_text(parts->plan, "agent %s", agent->name);
		add_pairs(parts, agent->set, because);
		if (root)
			add_pairs(parts, agent->root_set, because);
	}
}

static int add_named(struct parts *parts, const char *text, const char *because, struct err *e)
{
	const char *equals = strchr(text, '=');
	if (equals == text || !*text)
		return err_set(
			e, 0, "%s: '%s' does not begin with a variable's name", because, text);
	const char *name = name_of(parts, text);
	const char *value = equals ? equals + 1 : host_variable(parts->host, text);
	if (!value)
		return 0; /* asked to pass what is not set outside */
	add_set(parts, name, plan_copy(parts->plan, value), because);
	parts->plan->op[parts->plan->count - 1].flags |= ENV_SECRET;
	return 0;
}

/* A file of the project is opened without following links: the last command may have planted one to
 * any file of the user's. */
static int open_named(const struct host *host, const char *path, struct err *e)
{
	char again[32];
	struct stat info;
	AUTO_CLOSE int place = -1;
	if (place_named(host, path, &place, e) < 0)
		return -1;
	if (place >= 0 && fstat(place, &info) == 0 && !S_ISREG(info.st_mode))
		return err_set(e, 0, "%s is not a file", path);
	snprintf(again, sizeof again, "/proc/self/fd/%d", place);
	int fd = open(place < 0 ? path : again, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? err_set(e, errno, "cannot open %s", path) : fd;
}

/* Lines of NAME=VALUE; empty lines and those that begin with # are passed over. No quoting: what is
 * after the = is the value. */
static int add_env_file(struct parts *parts, const struct item *item, struct err *e)
{
	AUTO_FREE char *path = host_expand(parts->host, item->text);
	AUTO_FREE char *data = NULL;
	AUTO_CLOSE int fd = open_named(parts->host, path, e);
	if (fd < 0)
		return err_prefix(e, "%s", item->origin);
	if (fd_read_all(fd, 1u << 20, &data, NULL, e) < 0)
		return err_prefix(e, "%s: %s", item->origin, path);
	char *rest = data;
	for (unsigned number = 1; rest; number++) {
		char *line = strsep(&rest, "\n");
		if (*line == '\0' || *line == '#')
			continue;
		if (!strchr(line, '='))
			return err_set(e, 0, "%s:%u: not NAME=VALUE", path, number);
		if (add_named(parts, line, plan_text(parts->plan, "%s:%u", path, number), e) < 0)
			return -1;
	}
	return 0;
}

static int add_user(struct parts *parts, struct err *e)
{
	const struct setting *files = &parts->policy->setting[KEY_ENV_FILE];
	for (size_t i = 0; i < files->count; i++)
		if (add_env_file(parts, &files->item[i], e) < 0)
			return -1;
	const struct setting *pairs = &parts->policy->setting[KEY_ENV];
	for (size_t i = 0; i < pairs->count; i++)
		if (add_named(parts, pairs->item[i].text, pairs->item[i].origin, e) < 0)
			return -1;
	return 0;
}

static void add_base(struct parts *parts)
{
	enum word word = policy_word(parts->policy, KEY_ENVIRONMENT);
	if (word == WORD_ENVIRONMENT_INHERIT) {
		add_inherited(parts);
	} else if (word == WORD_ENVIRONMENT_SCOPED) {
		add_scoped(parts);
	} else {
		plan_add(parts->plan, OP_ENV_CLEAR, policy_origin(parts->policy, KEY_ENVIRONMENT));
		plan_add(parts->plan, OP_ENV_KEEP, "environment clean")->name = "TERM";
	}
}

int compile_environment(struct parts *parts, struct err *e)
{
	add_base(parts);
	add_places(parts);
	add_user_name(parts);
	add_nix_remote(parts);
	add_agents(parts);
	note_moved(parts);
	if (add_user(parts, e) < 0)
		return -1;
	plan_add(parts->plan, OP_CWD, "workspace")->target =
		plan_copy(parts->plan, parts->host->directory);
	return 0;
}
