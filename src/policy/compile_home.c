/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/text.h"
#include "formats/git_config.h"
#include "kernel/lookup.h"
#include "policy/compile_parts.h"
#include "policy/ground.h"
#include "policy/links.h"
#include "policy/mirror.h"
#include "policy/package.h"
#include "policy/place.h"

/* A read-only place inside a state directory, where an earlier run may have put a link to anything: it
 * is opened without following one, and init sees that it still is the same. */
static int add_protected(struct parts *parts, const char *state, const char *path,
	const char *because, struct err *e)
{
	AUTO_FREE char *outside = host_outside(parts->host, state);
	AUTO_CLOSE int directory = open(outside, O_PATH | O_DIRECTORY | O_CLOEXEC);
	AUTO_CLOSE int place =
		directory < 0 ? -1 : lookup_beneath(directory, path + strlen(state) + 1, O_PATH);
	if (place < 0 && errno == ENOENT)
		return 0;
	if (place < 0)
		return err_set(e, errno, "%s: cannot protect %s", because, path);
	struct op *op = plan_add(parts->plan, OP_BIND_FD, because);
	op->source = plan_text(parts->plan, "%s%s", outside, path + strlen(state));
	op->target = plan_copy(parts->plan, path);
	op->flags = BIND_READ_ONLY;
	op->fd = take_fd(&place);
	return 0;
}

/* The state directory of any agent that `path` lies below, or NULL; owned by the caller. Each may have
 * been a sandbox's to write in, whichever agents this run has. */
static char *agent_state_of(const struct parts *parts, const char *path)
{
	const struct agents *chosen = parts->in->agents;
	for (size_t i = 0; i < agents_builtin_count + chosen->count; i++) {
		const struct agent *agent = i < agents_builtin_count
						    ? &agents_builtin[i]
						    : chosen->agent[i - agents_builtin_count];
		for (const char *const *state = agent->state; state && *state; state++) {
			AUTO_FREE char *directory = host_expand(parts->host, *state);
			if (path_is_within(path, directory) && strcmp(path, directory) != 0)
				return take_pointer(directory);
		}
	}
	return NULL;
}

/* A place in another agent's state: not worth failing for. */
static void add_foreign(
	struct parts *parts, const char *state, const char *path, const char *because)
{
	struct err e = { 0 };
	if (add_protected(parts, state, path, because, &e) < 0)
		strings_take(parts->notes,
			memory_format("%s is not shown: it is a link, which a sandbox may have put "
				      "there",
				path));
}

/* A place of the user's own, at the same path inside or at `target`. One that is reached by a link may lie
 * where a sandbox works in this moment: init sees that it still is the same. */
static int add_own(struct parts *parts, const char *place, const char *target, unsigned flags,
	const char *because, struct err *e)
{
	bool linked;
	struct err why = { 0 };
	AUTO_CLOSE int fd = place_own(parts->host, place, &linked, &why);
	if (fd < 0 && why.number != ENOENT) {
		err_set(e, 0, "%s", why.text);
		return err_hint(e, "%s", why.hint);
	}
	struct op *op = add_bind_from(parts, place, target, flags, because);
	if (fd >= 0 && linked) {
		op->kind = OP_BIND_FD;
		op->fd = take_fd(&fd); /* until the program ends */
	}
	return 0;
}

void add_own_if_any(struct parts *parts, const char *place, const char *target, unsigned flags,
	const char *because)
{
	struct err e = { 0 };
	if (host_has(place) && add_own(parts, place, target, flags, because, &e) < 0)
		strings_take(parts->notes, memory_format("%s is not shown: %s", target, e.text));
}

/* What a kept home shares with the real one, where that has it: read-only, since the agent outside
 * follows what is written there. */
static void add_shared(struct parts *parts)
{
	AUTO_FREE char *state = host_expand(parts->host, "~/.config/opencode");
	AUTO_FREE char *skills = path_join(state, "skills");
	add_foreign(parts, state, skills, "shared with a kept home");
}

/* The skeleton (or the kept home) is a directory of hutch's own on the host, so that mountpoints may
 * be made in it; what programs scatter goes to memory and is gone at the end. */
static void add_home(struct parts *parts)
{
	const char *because = policy_origin(parts->policy, KEY_HOME);
	struct op *home = plan_add(parts->plan, OP_BIND, because);
	home->source = plan_copy(parts->plan, parts->in->home_source);
	home->target = plan_copy(parts->plan, parts->host->home);
	home->flags = BIND_SCRATCH;
	if (policy_word(parts->policy, KEY_HOME) == WORD_HOME_KEPT) {
		add_shared(parts);
		return;
	}
	static const char *const in_memory[] = { ".cache", ".config", ".local", NULL };
	for (const char *const *name = in_memory; *name; name++) {
		AUTO_FREE char *path = path_join(parts->host->home, *name);
		add_tmpfs(parts, path, 0700, 10, because);
	}
}

static bool agent_has_place(const struct parts *parts, const struct agent *agent, const char *state)
{
	for (const char *const *own = agent->state; own && *own; own++) {
		AUTO_FREE char *directory = host_expand(parts->host, *own);
		if (strcmp(directory, state) == 0)
			return true;
	}
	return false;
}

static int add_read_only(
	struct parts *parts, const struct agent *agent, const char *because, struct err *e)
{
	for (const char *const *place = agent->read_only; place && *place; place++) {
		AUTO_FREE char *path = host_expand(parts->host, *place);
		AUTO_FREE char *state = agent_state_of(parts, path);
		if (state && agent_has_place(parts, agent, state)) {
			if (add_protected(parts, state, path, because, e) < 0)
				return -1;
		} else if (plan_find_target(parts->plan, path)) {
			continue;
		} else if (state) {
			add_foreign(parts, state, path, because);
		} else {
			AUTO_FREE char *outside = host_outside(parts->host, path);
			add_own_if_any(parts, outside, path, BIND_READ_ONLY, because);
		}
	}
	return 0;
}

/* The state directories are the real ones. Files that are replaced by rename are not mounted: they
 * are copied into the home before the run and merged back after it. */
static int add_state(struct parts *parts, const struct agent *agent, struct err *e)
{
	const char *because = plan_text(parts->plan, "agent %s", agent->name);
	for (const char *const *path = agent->state; path && *path; path++) {
		AUTO_FREE char *full = host_expand(parts->host, *path);
		AUTO_FREE char *outside = host_outside(parts->host, full);
		if (plan_find_target(parts->plan, full))
			continue;
		/* A profile of the user's own may name anything. */
		if (agent_find(agent->name) != agent && ground_check(parts->host, outside, e) < 0)
			return err_prefix(e, "%s", because);
		if (parts->in->agents->found)
			add_own_if_any(parts, outside, full, 0, because);
		else if (add_own(parts, outside, full, 0, because, e) < 0)
			return err_prefix(e, "%s", because);
	}
	return add_read_only(parts, agent, because, e);
}

/* Commits made inside carry the user's name. Nothing else of git's configuration is passed: it names
 * helpers, hooks and credentials of the host. */
static char *git_identity(const struct host *host)
{
	static const char *const files[] = { "~/.gitconfig", "~/.config/git/config" };
	static const char *const names[] = { "email", "name" };
	struct text section = { 0 };
	for (size_t n = 0; n < 2; n++) {
		for (size_t i = 0; i < 2; i++) {
			AUTO_FREE char *inside = host_expand(host, files[i]);
			AUTO_FREE char *path = host_outside(host, inside);
			AUTO_FREE char *data = NULL;
			if (file_read_at(AT_FDCWD, path, 1u << 20, &data, NULL, NULL) < 0)
				continue;
			AUTO_FREE char *value = git_config_value(data, "user", names[n]);
			AUTO_FREE char *quoted = value ? git_config_quote(value) : NULL;
			if (!quoted)
				continue;
			text_format(&section, "\t%s = %s\n", names[n], quoted);
			break;
		}
	}
	return section.length ? text_take(&section) : NULL;
}

static void add_git_identity(struct parts *parts)
{
	AUTO_FREE char *section = git_identity(parts->host);
	AUTO_FREE char *there = path_join(parts->in->home_source, ".config/git/config");
	struct stat info;
	bool kept = policy_word(parts->policy, KEY_HOME) == WORD_HOME_KEPT;
	/* In a kept home an empty one is the mountpoint that an earlier run left. */
	if (!section || (kept && lstat(there, &info) == 0 && info.st_size > 0))
		return;
	struct op *op = plan_add(parts->plan, OP_FILE, "the user's name for git");
	op->target = plan_text(parts->plan, "%s/.config/git/config", parts->host->home);
	op->value = plan_text(parts->plan, "[user]\n%s", section);
	op->perms = 0644;
}

int compile_home(struct parts *parts, struct err *e)
{
	add_home(parts);
	add_git_identity(parts);
	for (size_t i = 0; i < parts->in->agents->count; i++)
		if (add_state(parts, parts->in->agents->agent[i], e) < 0)
			return -1;
	return 0;
}

static bool program_shows(const char *path, const void *data)
{
	const struct parts *parts = data;
	return mirror_shows(path, parts->plan);
}

static bool program_writes(const char *path, const void *data)
{
	const struct parts *parts = data;
	AUTO_FREE char *state = agent_state_of(parts, path);
	return state || mirror_writes(path, parts->plan);
}

struct writable_search {
	const struct parts *parts;
	bool found;
};

static bool writable_met(const char *link, const char *text, void *data)
{
	struct writable_search *search = data;
	(void)text;
	search->found |= program_writes(link, search->parts);
	return !search->found;
}

bool program_is_safe_outside(const struct parts *parts, const char *program)
{
	const struct host *host = parts->host;
	const struct package_places places = { host->home, host->home, host->directory,
		host->directory };
	struct writable_search search = { .parts = parts };
	struct links links = { .met = writable_met, .data = &search };
	return !package_manager(&places, program) && links_follow(&links, program) == LINKS_FOUND &&
	       !program_writes(program, parts) && !program_writes(links.real, parts);
}

static void path_add(struct parts *parts, const char *program)
{
	AUTO_FREE char *directory = path_parent(program);
	if (!strings_has(&parts->path, directory))
		strings_add(&parts->path, directory);
}

int add_program(struct parts *parts, const char *command, const char *const *install,
	const char *because, const char **ret_path, struct err *e)
{
	struct program_request request = {
		.command = command,
		.path = host_variable(parts->host, "PATH"),
		.home = parts->host->home,
		.workspace = parts->host->directory,
		.install = install,
		.visible = program_shows,
		.writable = program_writes,
		.data = parts,
	};
	struct program program = { 0 };
	if (program_find(&request, &program, e) < 0)
		return -1;
	for (size_t i = 0; i < program.read_only.count; i++)
		add_bind(parts, program.read_only.item[i], BIND_READ_ONLY, because);
	for (size_t i = 0; i < program.link_count; i++) {
		struct op *op = plan_add(parts->plan, OP_SYMLINK, because);
		op->target = plan_copy(parts->plan, program.link[i].path);
		op->value = plan_copy(parts->plan, program.link[i].text);
	}
	for (size_t i = 0; i < program.notes.count; i++)
		strings_add(parts->notes, program.notes.item[i]);
	if (program.path && !strchr(command, '/'))
		path_add(parts, program.path);
	if (ret_path)
		*ret_path = program.path ? plan_copy(parts->plan, program.path) : NULL;
	program_free(&program);
	return 0;
}

static const char own_program[] = "the command's own program";

/* The program of the agent that is started: where its profile says, and last of all in the project, where
 * npm puts what is the project's own. */
static int add_own_program(struct parts *parts, const char *const *install, struct err *e)
{
	AUTO_STRINGS places = { 0 };
	for (; *install; install++)
		strings_add(&places, *install);
	strings_take(&places, path_join(parts->host->directory, "node_modules/.bin"));
	return add_program(parts, parts->in->command[0], (const char *const *)places.item,
		own_program, NULL, e);
}

static int add_agent_programs(struct parts *parts, struct err *e)
{
	const struct agents *agents = parts->in->agents;
	for (size_t i = 0; i < agents->count; i++) {
		const struct agent *agent = agents->agent[i];
		if (agent == agents->command || !agent->commands)
			continue;
		const char *because = plan_text(parts->plan, "agent %s", agent->name);
		if (add_program(parts, agent->commands[0], agent->install, because, NULL, e) < 0)
			return -1;
	}
	return 0;
}

int compile_programs(struct parts *parts, struct err *e)
{
	const struct agents *agents = parts->in->agents;
	int result = agents->command ? add_own_program(parts, agents->command->install, e)
				     : add_program(parts, parts->in->command[0], NULL, own_program,
					       NULL, e);
	if (result < 0)
		return -1;
	/* Of agents that nobody named there is nothing to say. */
	AUTO_STRINGS unsaid = { 0 };
	struct strings *notes = parts->notes;
	if (agents->found)
		parts->notes = &unsaid;
	result = add_agent_programs(parts, e);
	parts->notes = notes;
	return result;
}
