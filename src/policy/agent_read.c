/* SPDX-License-Identifier: MIT */
#include "policy/agent_read.h"

#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/path.h"
#include "base/strings.h"

#define FIELD(key, kind, member, ...)                                                              \
	{                                                                                          \
		key, AGENT_##kind, offsetof(struct agent, member), __VA_ARGS__                     \
	}

const struct agent_field agent_fields[] = {
	FIELD("name", NAME, name, .required = true),
	FIELD("title", TEXT, title, .required = true),
	FIELD("commands", COMMANDS, commands, .required = true),
	FIELD("state", PATHS, state),
	FIELD("files", FILES, files),
	FIELD("read-only", PATHS, read_only),
	FIELD("install", PATTERNS, install),
	FIELD("environment", VARIABLES, environment),
	FIELD("drop", VARIABLES, drop),
	FIELD("set", ASSIGNMENTS, set),
	FIELD("hosts", HOSTS, hosts),
	FIELD("refuses-root", SWITCH, refuses_root),
	FIELD("root-set", ASSIGNMENTS, root_set, .optional_list = true),
	FIELD("own-sandbox", TEXT, own_sandbox),
	FIELD("own-sandbox-off", ARGUMENTS, own_sandbox_off),
};
const size_t agent_fields_count = sizeof agent_fields / sizeof *agent_fields;

/* What an absent list points to; never freed. */
static const char *const no_strings[] = { NULL };
static const struct agent_file no_files[] = { { NULL, NULL, NULL } };

enum { AGENT_ITEMS = 256, AGENT_TEXT_LENGTH = 4096 };

static int node_fail(const char *file, const struct yaml *node, struct err *e, const char *what)
{
	return err_set(e, 0, "%s:%u:%u: %s", file, node->line, node->column, what);
}

/* Checks of one string: NULL, or what is wrong with it. */

static bool word_is(const char *text, size_t length, const char *extra)
{
	if (length == 0)
		return false;
	for (size_t i = 0; i < length; i++) {
		char c = text[i];
		bool letter =
			(c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
		if (!letter && !strchr(extra, c))
			return false;
	}
	return true;
}

bool agent_name_is_valid(const char *name)
{
	size_t length = strnlen(name, 65);
	return length <= 64 && word_is(name, length, "._-") && *name != '.' && *name != '-';
}

static const char *problem_name(const char *text)
{
	return agent_name_is_valid(text) ? NULL
					 : "a name is made of letters, digits, '-', '_' and '.'";
}

static const char *problem_line(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return "this must be one line without control characters";
	return NULL;
}

static const char *problem_path(const char *text)
{
	if (strncmp(text, "~/", 2) != 0 && *text != '/')
		return "a path must start with ~/ or /";
	const char *rooted = *text == '~' ? text + 1 : text;
	if (!path_is_normal(rooted))
		return "a path must not have '.', '..' or empty components";
	if (strcmp(rooted, "/") == 0)
		return "the whole home or file system cannot be given away";
	return problem_line(text);
}

static const char *problem_exact_path(const char *text)
{
	return strchr(text, '*') ? "only paths of install may have a *" : problem_path(text);
}

static const char *problem_pattern(const char *text)
{
	const char *star = strchr(text, '*');
	bool alone = star && star > text && star[-1] == '/' && (star[1] == '/' || !star[1]);
	if (star && (!alone || strchr(star + 1, '*')))
		return "a * stands for one whole component, once";
	return problem_path(text);
}

static bool variable_is(const char *text, size_t length)
{
	return word_is(text, length, "_") && !(*text >= '0' && *text <= '9');
}

static const char *problem_variable(const char *text)
{
	size_t length = strlen(text);
	if (length > 1 && text[length - 1] == '*')
		length--;
	return variable_is(text, length) ? NULL : "a variable is NAME or NAME*";
}

static const char *problem_assignment(const char *text)
{
	size_t length = strcspn(text, "=");
	if (text[length] != '=' || !variable_is(text, length))
		return "this must be NAME=VALUE";
	return problem_line(text);
}

static const char *problem_host(const char *text)
{
	const char *colon = strrchr(text, ':');
	uint64_t port;
	if (!colon || number_parse(colon + 1, "port", 1, 65535, &port, NULL) < 0)
		return "a host is NAME:PORT";
	const char *name = strncmp(text, "*.", 2) == 0 ? text + 2 : text;
	if (name >= colon || !word_is(name, (size_t)(colon - name), ".-"))
		return "a host is NAME:PORT, and NAME may start with *.";
	return NULL;
}

static const char *problem_argument(const char *text)
{
	return *text ? problem_line(text) : "an argument cannot be empty";
}

static const char *problem_of(enum agent_kind kind, const char *text)
{
	if (strlen(text) > AGENT_TEXT_LENGTH)
		return "longer than 4096 bytes";
	switch (kind) {
	case AGENT_NAME:
	case AGENT_COMMANDS:
		return problem_name(text);
	case AGENT_PATHS:
		return problem_exact_path(text);
	case AGENT_PATTERNS:
		return problem_pattern(text);
	case AGENT_VARIABLES:
		return problem_variable(text);
	case AGENT_ASSIGNMENTS:
		return problem_assignment(text);
	case AGENT_HOSTS:
		return problem_host(text);
	case AGENT_ARGUMENTS:
		return problem_argument(text);
	case AGENT_TEXT:
	case AGENT_SWITCH:
	case AGENT_FILES:
		return problem_line(text);
	}
	return "not known";
}

/* One value at a time, by kind. */

static int string_read(enum agent_kind kind, const struct yaml *node, const char *file,
	const char **ret_text, struct err *e)
{
	if (node->kind != YAML_SCALAR)
		return node_fail(file, node, e, "this must be one value, not a list or a map");
	const char *problem = problem_of(kind, node->scalar);
	if (problem)
		return err_set(e, 0, "%s:%u:%u: '%.200s': %s", file, node->line, node->column,
			node->scalar, problem);
	*ret_text = memory_string(node->scalar);
	return 0;
}

static int switch_read(const struct yaml *node, const char *file, bool *ret_value, struct err *e)
{
	const char *text = node->kind == YAML_SCALAR ? node->scalar : "";
	bool yes = strcmp(text, "yes") == 0 || strcmp(text, "true") == 0;
	bool no = strcmp(text, "no") == 0 || strcmp(text, "false") == 0;
	if (!yes && !no)
		return node_fail(file, node, e, "this must be yes or no");
	*ret_value = yes;
	return 0;
}

/* The items of a list; one value alone is a list of one, nothing at all a list of none. */
static int items_of(const struct yaml *node, const char *file, const struct yaml **ret_item,
	size_t *ret_count, struct err *e)
{
	if (node->kind == YAML_MAP)
		return node_fail(file, node, e, "this must be a list");
	bool single = node->kind == YAML_SCALAR;
	*ret_item = single ? node : node->child;
	*ret_count = single ? *node->scalar != '\0' : node->count;
	if (*ret_count > AGENT_ITEMS)
		return node_fail(file, node, e, "more than 256 items");
	return 0;
}

static void list_free(const char *const *list)
{
	if (!list || list == no_strings)
		return;
	for (const char *const *item = list; *item; item++)
		free((char *)*item);
	free((void *)list);
}

static int list_read(enum agent_kind kind, const struct yaml *node, const char *file,
	const char *const **ret_list, struct err *e)
{
	const struct yaml *item = NULL;
	size_t count = 0;
	if (items_of(node, file, &item, &count, e) < 0)
		return -1;
	const char **list = memory_alloc(count + 1, sizeof *list);
	for (size_t i = 0; i < count; i++) {
		if (string_read(kind, &item[i], file, &list[i], e) < 0) {
			list_free(list);
			return -1;
		}
	}
	*ret_list = list;
	return 0;
}

static void files_free(const struct agent_file *files)
{
	if (!files || files == no_files)
		return;
	for (const struct agent_file *each = files; each->path; each++) {
		free((char *)each->path);
		free((char *)each->initial);
		free((char *)each->merge);
	}
	free((void *)files);
}

static int file_key_read(
	const struct yaml *node, const char *file, struct agent_file *entry, struct err *e)
{
	const char **target = NULL;
	const char *nearest = NULL;
	static const char *const keys[] = { "path", "initial", "merge" };
	const char **targets[] = { &entry->path, &entry->initial, &entry->merge };
	for (size_t i = 0; i < 3; i++) {
		word_nearest(node->key, keys[i], &nearest);
		if (strcmp(node->key, keys[i]) == 0)
			target = targets[i];
	}
	if (!target) {
		node_fail(file, node, e, "a file has path, initial and merge");
		return nearest ? err_hint(e, "did you mean '%s'?", nearest) : -1;
	}
	if (target == &entry->initial) { /* content: it may have lines */
		if (node->kind != YAML_SCALAR)
			return node_fail(file, node, e, "this must be the content, as text");
		*target = memory_string(node->scalar);
		return 0;
	}
	return string_read(
		target == &entry->path ? AGENT_PATHS : AGENT_TEXT, node, file, target, e);
}

static int file_read(
	const struct yaml *node, const char *file, struct agent_file *entry, struct err *e)
{
	if (node->kind != YAML_MAP)
		return node_fail(file, node, e, "a file is a map of path, initial and merge");
	/* The path marks the end of the list for files_free: a failure before it must not leak. */
	struct agent_file read = { 0 };
	int result = 0;
	for (size_t i = 0; i < node->count && result == 0; i++)
		result = file_key_read(&node->child[i], file, &read, e);
	if (result == 0 && !read.path)
		result = node_fail(file, node, e, "a file needs a path");
	if (result == 0 && !read.merge)
		read.merge = memory_string("whole");
	if (result == 0 && strcmp(read.merge, "json") != 0 && strcmp(read.merge, "whole") != 0)
		result = node_fail(file, node, e, "merge is json or whole");
	if (result == 0) {
		*entry = read;
		return 0;
	}
	free((char *)read.path);
	free((char *)read.initial);
	free((char *)read.merge);
	return -1;
}

static int files_read(const struct yaml *node, const char *file,
	const struct agent_file **ret_files, struct err *e)
{
	const struct yaml *item = NULL;
	size_t count = 0;
	if (items_of(node, file, &item, &count, e) < 0)
		return -1;
	struct agent_file *files = memory_alloc(count + 1, sizeof *files);
	for (size_t i = 0; i < count; i++) {
		if (file_read(&item[i], file, &files[i], e) < 0) {
			files_free(files);
			return -1;
		}
	}
	*ret_files = files;
	return 0;
}

static int field_read(struct agent *agent, const struct agent_field *field, const struct yaml *node,
	const char *file, struct err *e)
{
	void *member = (char *)agent + field->offset;
	switch (field->kind) {
	case AGENT_NAME:
	case AGENT_TEXT:
		return string_read(field->kind, node, file, member, e);
	case AGENT_SWITCH:
		return switch_read(node, file, member, e);
	case AGENT_FILES:
		return files_read(node, file, member, e);
	case AGENT_COMMANDS:
	case AGENT_PATHS:
	case AGENT_PATTERNS:
	case AGENT_VARIABLES:
	case AGENT_ASSIGNMENTS:
	case AGENT_HOSTS:
	case AGENT_ARGUMENTS:
		return list_read(field->kind, node, file, member, e);
	}
	return -1;
}

static const struct agent_field *field_find(
	const struct yaml *node, const char *file, struct err *e)
{
	const char *nearest = NULL;
	for (size_t i = 0; i < agent_fields_count; i++) {
		if (strcmp(agent_fields[i].key, node->key) == 0)
			return &agent_fields[i];
		word_nearest(node->key, agent_fields[i].key, &nearest);
	}
	err_set(e, 0, "%s:%u:%u: an agent has no key '%.100s'", file, node->line, node->column,
		node->key);
	if (nearest)
		err_hint(e, "the nearest is '%s'", nearest);
	return NULL;
}

/* What was not said: required keys are missed, lists become empty ones. */
static int absent_fill(
	struct agent *agent, const struct yaml *document, const char *file, struct err *e)
{
	for (size_t i = 0; i < agent_fields_count; i++) {
		const struct agent_field *field = &agent_fields[i];
		if (yaml_get(document, field->key))
			continue;
		if (field->required)
			return err_set(e, 0, "%s:%u:%u: the key '%s' is missing", file,
				document->line, document->column, field->key);
		void *member = (char *)agent + field->offset;
		if (field->kind == AGENT_FILES)
			*(const struct agent_file **)member = no_files;
		else if (field->kind >= AGENT_COMMANDS && !field->optional_list)
			*(const char *const **)member = no_strings;
	}
	return 0;
}

static int document_read(struct agent *agent, const struct yaml *document, const char *file,
	const char *name, struct err *e)
{
	if (document->kind != YAML_MAP)
		return node_fail(file, document, e, "an agent is a map of keys");
	for (size_t i = 0; i < document->count; i++) {
		const struct yaml *node = &document->child[i];
		const struct agent_field *field = field_find(node, file, e);
		if (!field || field_read(agent, field, node, file, e) < 0)
			return -1;
	}
	if (absent_fill(agent, document, file, e) < 0)
		return -1;
	if (name && strcmp(agent->name, name) != 0)
		return err_set(e, 0, "%s:%u:%u: the name is '%s', but the file says '%s'", file,
			document->line, document->column, agent->name, name);
	if (!agent->commands[0])
		return node_fail(file, yaml_get(document, "commands"), e, "at least one is needed");
	return 0;
}

int agent_read(const struct yaml *document, const char *file, const char *name,
	struct agent **ret_agent, struct err *e)
{
	struct agent *agent = memory_alloc(1, sizeof *agent);
	if (document_read(agent, document, file, name, e) < 0) {
		agent_release(agent);
		return -1;
	}
	*ret_agent = agent;
	return 0;
}

void agent_release(struct agent *agent)
{
	if (!agent)
		return;
	for (size_t i = 0; i < agent_fields_count; i++) {
		const struct agent_field *field = &agent_fields[i];
		if (field->kind == AGENT_NAME || field->kind == AGENT_TEXT)
			free((char *)agent_text(agent, field));
		else if (field->kind == AGENT_FILES)
			files_free(agent_files(agent, field));
		else if (field->kind != AGENT_SWITCH)
			list_free(agent_list(agent, field));
	}
	free(agent);
}
