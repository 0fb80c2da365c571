/* SPDX-License-Identifier: MIT */
/* hutch agents [NAME]: the agents that are known, and what of them is on this host. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/agent_names.h"
#include "cli/verbs.h"
#include "policy/agent_read.h"
#include "policy/host.h"
#include "policy/program.h"

enum { COLUMNS = 4 };

struct table {
	struct strings cells; /* COLUMNS to a row */
	struct err problem;   /* the first of the user's files that could not be read; or no text */
};

/* As the user writes it: below the home with "~". */
static char *path_shown(const struct host *host, const char *path)
{
	AUTO_TEXT shown = { 0 };
	size_t length = strlen(host->home);
	bool below = strncmp(path, host->home, length) == 0 && path[length] == '/';
	if (below)
		text_add(&shown, "~");
	text_add_visible(&shown, below ? path + length : path);
	return text_take(&shown);
}

static bool path_exists(const struct host *host, const char *path)
{
	AUTO_FREE char *inside = host_expand(host, path);
	AUTO_FREE char *full = host_outside(host, inside);
	return faccessat(AT_FDCWD, full, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void add_existing(struct text *list, const struct host *host, const char *path)
{
	if (path_exists(host, path))
		text_format(list, "%s%s", list->length ? " " : "", path);
}

/* What the agent has left here, "-" for nothing. Paths that agents share prove nothing. */
static char *state_shown(const struct agent *agent, const struct host *host)
{
	AUTO_TEXT list = { 0 };
	for (const char *const *path = agent->state; *path; path++)
		if (agent_owns(agent, *path))
			add_existing(&list, host, *path);
	for (const struct agent_file *file = agent->files; file->path; file++)
		add_existing(&list, host, file->path);
	if (!list.length)
		text_add(&list, "-");
	return text_take(&list);
}

/* Where it would be run from, "-" for nowhere. */
static char *program_shown(const struct agent *agent, const struct host *host)
{
	char *shown = NULL;
	for (const char *const *command = agent->commands; *command && !shown; command++) {
		const struct program_request request = {
			.command = *command,
			.path = host_variable(host, "PATH"),
			.home = host->home,
			.workspace = host->directory,
			.install = agent->install,
		};
		struct program program = { 0 };
		struct err ignored;
		if (program_find(&request, &program, &ignored) == 0 && program.path)
			shown = path_shown(host, program.path);
		program_free(&program);
	}
	return shown ? shown : memory_string("-");
}

static void table_add(struct table *table, const struct agent *agent, const struct host *host)
{
	strings_add(&table->cells, agent->name);
	strings_add(&table->cells, agent->title);
	strings_take(&table->cells, program_shown(agent, host));
	strings_take(&table->cells, state_shown(agent, host));
}

static void table_add_named(struct table *table, const char *name, const struct host *host)
{
	const struct agent *agent = NULL;
	struct err e = { 0 };
	if (agent_load(name, host->config, &agent, &e) < 0) {
		if (!table->problem.text[0])
			table->problem = e;
		return;
	}
	table_add(table, agent, host);
	agent_free(agent);
}

static void table_show(const struct table *table, struct text *out)
{
	size_t width[COLUMNS] = { 0 };
	for (size_t i = 0; i < table->cells.count; i++) {
		size_t length = strlen(table->cells.item[i]);
		if (length > width[i % COLUMNS])
			width[i % COLUMNS] = length;
	}
	for (size_t i = 0; i < table->cells.count; i++) {
		bool last = i % COLUMNS == COLUMNS - 1;
		if (last)
			text_format(out, "%s\n", table->cells.item[i]);
		else
			text_format(out, "%-*s  ", (int)width[i % COLUMNS], table->cells.item[i]);
	}
}

static int list_show(const struct host *host, struct text *out, struct err *e)
{
	static const char *const heads[COLUMNS] = { "NAME", "TITLE", "PROGRAM", "STATE HERE" };
	struct table table = { 0 };
	AUTO_STRINGS names = { 0 };
	for (size_t i = 0; i < COLUMNS; i++)
		strings_add(&table.cells, heads[i]);
	agent_names(host->config, &names);
	for (size_t i = 0; i < names.count; i++)
		table_add_named(&table, names.item[i], host);
	table_show(&table, out);
	strings_free(&table.cells);
	if (!table.problem.text[0])
		return 0;
	*e = table.problem;
	return -1;
}

/* One value of a key; the key only before the first. */
static void value_show(struct text *out, const char *key, bool first, const char *value)
{
	text_format(out, "%-17s", first ? key : "");
	text_add_visible(out, value);
}

static void strings_show(struct text *out, const struct host *host, const struct agent_field *field,
	const char *const *list)
{
	bool first = true;
	for (; list && *list; list++, first = false) {
		value_show(out, field->key, first, *list);
		bool path = field->kind == AGENT_PATHS;
		text_add(out, path && !path_exists(host, *list) ? "  (not here)\n" : "\n");
	}
}

static void files_show(struct text *out, const struct host *host, const struct agent_field *field,
	const struct agent_file *files)
{
	bool first = true;
	for (; files->path; files++, first = false) {
		value_show(out, field->key, first, files->path);
		text_format(out, "  merge: %s", files->merge);
		if (files->initial) {
			text_add(out, "  initial: ");
			text_add_visible(out, files->initial);
		}
		text_add(out, path_exists(host, files->path) ? "\n" : "  (not here)\n");
	}
}

static void field_show(struct text *out, const struct host *host, const struct agent *agent,
	const struct agent_field *field)
{
	if (field->kind == AGENT_FILES) {
		files_show(out, host, field, agent_files(agent, field));
	} else if (field->kind == AGENT_SWITCH) {
		value_show(out, field->key, true, agent_switch(agent, field) ? "yes" : "no");
		text_add(out, "\n");
	} else if (field->kind == AGENT_NAME || field->kind == AGENT_TEXT) {
		const char *const one[] = { agent_text(agent, field), NULL };
		strings_show(out, host, field, one);
	} else {
		strings_show(out, host, field, agent_list(agent, field));
	}
}

static int one_show(const char *name, const struct host *host, struct text *out, struct err *e)
{
	const struct agent *agent = NULL;
	if (agent_load(name, host->config, &agent, e) < 0)
		return -1;
	AUTO_FREE char *program = program_shown(agent, host);
	text_format(out, "%-17s%s\n", "program", strcmp(program, "-") ? program : "not found");
	text_format(out, "%-17s", "defined");
	if (agent == agent_find(name))
		text_add(out, "in hutch\n");
	else
		text_format(out, "in %s/agents/%s.yaml\n", host->config, name);
	for (size_t i = 0; i < agent_fields_count; i++)
		field_show(out, host, agent, &agent_fields[i]);
	agent_free(agent);
	return 0;
}

static int names_show(const struct host *host, struct text *out)
{
	AUTO_STRINGS names = { 0 };
	agent_names(host->config, &names);
	for (size_t i = 0; i < names.count; i++)
		text_format(out, "%s\n", names.item[i]);
	return 0;
}

static int agents_show(const struct options *options, const struct host *host, struct err *e)
{
	AUTO_TEXT out = { 0 };
	int result;
	if (options_flag(options, "names"))
		result = names_show(host, &out);
	else if (options->rest.count)
		result = one_show(options->rest.item[0], host, &out, e);
	else
		result = list_show(host, &out, e);
	if (out.length && fd_write_all(STDOUT_FILENO, out.data, out.length) < 0)
		return err_set(e, errno, "cannot write to the output");
	return result;
}

int verb_agents(struct options *options, int *ret_code, struct err *e)
{
	struct host host = { 0 };
	if (options->rest.count == 1 && options_flag(options, "names"))
		return err_set(e, 0, "hutch agents --names takes no name");
	if (options->rest.count > 1) {
		err_set(e, 0, "hutch agents takes one name, not also '%s'", options->rest.item[1]);
		return err_hint(e, "usage: hutch agents [NAME]");
	}
	if (host_gather(environ, &host, e) < 0)
		return -1;
	int result = agents_show(options, &host, e);
	host_free(&host);
	*ret_code = 0;
	return result;
}
