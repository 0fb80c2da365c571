/* SPDX-License-Identifier: MIT */
/*
 * usage: share-tables OUTPUT FILE...
 *
 * Run by the build: reads share/agents/NAME.yaml and share/presets/NAME.yaml (told apart by their
 * folder) with the reader that hutch uses at run time, and writes them as constant C tables, so
 * that a run parses nothing. A wrong file stops the build with FILE:LINE:COLUMN.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/fd.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/strings.h"
#include "base/text.h"
#include "formats/yaml.h"
#include "policy/agent_read.h"
#include "policy/policy.h"

/* What is written, in order: the lists that the rows point to, then the rows. */
struct tables {
	struct text lists;
	struct text agents;
	struct text presets;
	struct strings names; /* "agent NAME", "preset NAME", "command NAME": each once */
};

/* As a C string literal. Octal escapes have three digits and so end by themselves. */
static void add_string(struct text *out, const char *value)
{
	if (!value) {
		text_add(out, "NULL");
		return;
	}
	text_add(out, "\"");
	for (const unsigned char *p = (const unsigned char *)value; *p; p++) {
		if (*p < 0x20 || *p > 0x7e || *p == '"' || *p == '\\' || *p == '?')
			text_format(out, "\\%03o", *p);
		else
			text_add_bytes(out, p, 1);
	}
	text_add(out, "\"");
}

static int name_claim(struct tables *tables, const char *kind, const char *name, struct err *e)
{
	AUTO_FREE char *entry = memory_format("%s %s", kind, name);
	if (strings_has(&tables->names, entry))
		return err_set(e, 0, "there are two of %s", entry);
	strings_add(&tables->names, entry);
	return 0;
}

/* C name of a key: "own-sandbox-off" is own_sandbox_off, as in struct agent. */
static char *member_name(const char *key)
{
	char *name = memory_string(key);
	for (char *p = name; *p; p++)
		if (*p == '-')
			*p = '_';
	return name;
}

static void add_list(
	struct tables *tables, const char *const *list, size_t agent, const char *member)
{
	text_format(&tables->lists, "static const char *const agent_%zu_%s[] = { ", agent, member);
	for (; *list; list++) {
		add_string(&tables->lists, *list);
		text_add(&tables->lists, ", ");
	}
	text_add(&tables->lists, "NULL };\n");
}

static void add_files(
	struct tables *tables, const struct agent_file *files, size_t agent, const char *member)
{
	text_format(&tables->lists, "static const struct agent_file agent_%zu_%s[] = { ", agent,
		member);
	for (; files->path; files++) {
		text_add(&tables->lists, "{ ");
		add_string(&tables->lists, files->path);
		text_add(&tables->lists, ", ");
		add_string(&tables->lists, files->initial);
		text_add(&tables->lists, ", ");
		add_string(&tables->lists, files->merge);
		text_add(&tables->lists, " }, ");
	}
	text_add(&tables->lists, "{ NULL, NULL, NULL } };\n");
}

static void add_field(struct tables *tables, const struct agent *agent,
	const struct agent_field *field, size_t number)
{
	AUTO_FREE char *member = member_name(field->key);
	text_format(&tables->agents, "\t\t.%s = ", member);
	if (field->kind == AGENT_NAME || field->kind == AGENT_TEXT) {
		add_string(&tables->agents, agent_text(agent, field));
	} else if (field->kind == AGENT_SWITCH) {
		text_add(&tables->agents, agent_switch(agent, field) ? "true" : "false");
	} else if (field->kind == AGENT_FILES) {
		add_files(tables, agent_files(agent, field), number, member);
		text_format(&tables->agents, "agent_%zu_%s", number, member);
	} else if (agent_list(agent, field)) {
		add_list(tables, agent_list(agent, field), number, member);
		text_format(&tables->agents, "agent_%zu_%s", number, member);
	} else {
		text_add(&tables->agents, "NULL");
	}
	text_add(&tables->agents, ",\n");
}

static int add_agent(struct tables *tables, const struct yaml *document, const char *file,
	const char *name, struct err *e)
{
	struct agent *agent = NULL;
	if (agent_read(document, file, name, &agent, e) < 0)
		return -1;
	size_t number = tables->names.count; /* only has to be a different one each time */
	text_add(&tables->agents, "\t{\n");
	for (size_t i = 0; i < agent_fields_count; i++)
		add_field(tables, agent, &agent_fields[i], number);
	text_add(&tables->agents, "\t},\n");
	int result = name_claim(tables, "agent", name, e);
	for (const char *const *command = agent->commands; *command && result == 0; command++)
		result = name_claim(tables, "command", *command, e);
	agent_release(agent);
	return result;
}

static int add_value(struct tables *tables, const struct yaml *node, enum key key, const char *file,
	struct err *e)
{
	struct policy scratch = { 0 };
	if (node->kind != YAML_SCALAR)
		return err_set(
			e, 0, "%s:%u:%u: this must be one value", file, node->line, node->column);
	int result = policy_set(&scratch, key, node->scalar, file, e);
	policy_free(&scratch);
	if (result < 0)
		return err_prefix(e, "%s:%u:%u", file, node->line, node->column);
	text_add(&tables->lists, "{ ");
	add_string(&tables->lists, key_info[key].name);
	text_add(&tables->lists, ", ");
	add_string(&tables->lists, node->scalar);
	text_add(&tables->lists, " }, ");
	return 0;
}

static int add_setting(
	struct tables *tables, const struct yaml *node, const char *file, struct err *e)
{
	enum key key;
	if (key_find(node->key, &key, e) < 0)
		return err_prefix(e, "%s:%u:%u", file, node->line, node->column);
	if (node->kind != YAML_LIST)
		return add_value(tables, node, key, file, e);
	for (size_t i = 0; i < node->count; i++)
		if (add_value(tables, &node->child[i], key, file, e) < 0)
			return -1;
	return 0;
}

static int add_preset(struct tables *tables, const struct yaml *document, const char *file,
	const char *name, struct err *e)
{
	if (document->kind != YAML_MAP)
		return err_set(e, 0, "%s:1:1: a preset is a map of settings", file);
	size_t number = tables->names.count;
	text_format(&tables->lists, "static const struct preset_value preset_%zu[] = { ", number);
	for (size_t i = 0; i < document->count; i++)
		if (add_setting(tables, &document->child[i], file, e) < 0)
			return -1;
	text_add(&tables->lists, "{ NULL, NULL } };\n");
	text_add(&tables->presets, "\t{ ");
	add_string(&tables->presets, name);
	text_format(&tables->presets, ", preset_%zu },\n", number);
	return name_claim(tables, "preset", name, e);
}

/* The last component without ".yaml", or NULL. */
static char *name_of(const char *file)
{
	const char *base = path_base(file);
	size_t length = strlen(base);
	if (length < 6 || strcmp(base + length - 5, ".yaml") != 0)
		return NULL;
	return memory_format("%.*s", (int)(length - 5), base);
}

static bool is_preset(const char *file)
{
	AUTO_FREE char *folder = path_parent(file);
	return strcmp(path_base(folder), "presets") == 0;
}

static int add_file(struct tables *tables, const char *file, struct err *e)
{
	AUTO_FREE char *data = NULL;
	AUTO_FREE char *name = name_of(file);
	struct yaml *document = NULL;
	size_t length = 0;
	if (!name)
		return err_set(e, 0, "%s does not end in .yaml", file);
	if (file_read_at(AT_FDCWD, file, YAML_LIMIT, &data, &length, e) < 0 ||
		yaml_parse(data, length, file, &document, e) < 0)
		return -1;
	int result = is_preset(file) ? add_preset(tables, document, file, name, e)
				     : add_agent(tables, document, file, name, e);
	yaml_free(document);
	return result;
}

static int tables_write(const struct tables *tables, const char *output, struct err *e)
{
	AUTO_TEXT all = { 0 };
	text_format(&all,
		"/* Made by tools/share-tables from share/. */\n"
		"#include \"policy/agent.h\"\n#include \"policy/presets.h\"\n\n"
		"%s\nconst struct agent agents_builtin[] = {\n%s};\n"
		"const size_t agents_builtin_count = sizeof agents_builtin / sizeof "
		"*agents_builtin;\n\n"
		"const struct preset presets_builtin[] = {\n%s};\n"
		"const size_t presets_builtin_count = sizeof presets_builtin / sizeof "
		"*presets_builtin;\n",
		tables->lists.data, tables->agents.data, tables->presets.data);
	AUTO_CLOSE int fd = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0 || fd_write_all(fd, all.data, all.length) < 0)
		return err_set(e, errno, "cannot write %s", output);
	return 0;
}

static void tables_free(struct tables *tables)
{
	text_free(&tables->lists);
	text_free(&tables->agents);
	text_free(&tables->presets);
	strings_free(&tables->names);
}

int main(int argc, char **argv)
{
	struct tables tables = { 0 };
	struct err e = { 0 };
	int result = 0;
	for (int i = 2; i < argc && result == 0; i++)
		result = add_file(&tables, argv[i], &e);
	if (result == 0 && (!tables.agents.data || !tables.presets.data))
		result = err_set(&e, 0, "usage: share-tables OUTPUT FILE... (agents and presets)");
	if (result == 0)
		result = tables_write(&tables, argv[1], &e);
	tables_free(&tables);
	return result < 0 ? err_print(&e) : 0;
}
