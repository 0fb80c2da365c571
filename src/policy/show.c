/* SPDX-License-Identifier: MIT */
#include "policy/show.h"

#include <string.h>

#include "base/memory.h"

/* ---- Settings as YAML ---- */

static bool is_plain(const char *value)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/";
	static const char more[] = ".~+=%-@:*,";
	size_t length = strspn(value, letters);
	if (length == 0 || strcasecmp(value, "null") == 0)
		return false;
	for (const char *p = value + length; *p; p++)
		if (!strchr(letters, *p) && !strchr(more, *p))
			return false;
	return value[strlen(value) - 1] != ':';
}

static void scalar_show(struct text *text, const char *value)
{
	if (is_plain(value))
		text_add(text, value);
	else
		text_add_json_string(text, value); /* JSON's strings are YAML's */
}

static void origin_show(struct text *text, size_t line_start, const char *origin)
{
	enum { COLUMN = 40 };
	size_t used = text->length - line_start;
	text_format(text, "%*s# ", used < COLUMN ? (int)(COLUMN - used) : 1, "");
	text_add_visible(text, origin);
}

/* "PREFIX" and one value with its origin on a line. */
static void item_show(struct text *text, const char *prefix, const struct item *item, bool origins)
{
	size_t start = text->length;
	text_add(text, prefix);
	scalar_show(text, item->text);
	if (origins)
		origin_show(text, start, item->origin);
	text_add(text, "\n");
}

void policy_show(const struct policy *policy, bool origins, struct text *ret_text)
{
	for (enum key key = 0; key < KEY_COUNT; key++) {
		const struct setting *setting = &policy->setting[key];
		const char *name = key_info[key].name;
		bool list = key_info[key].type == TYPE_LIST;
		if (setting->count == 0)
			text_format(ret_text, "# %s: not set\n", name);
		else if (list)
			text_format(ret_text, "%s:\n", name);
		AUTO_FREE char *prefix = list ? memory_string("  - ") : memory_format("%s: ", name);
		for (size_t i = 0; i < setting->count; i++)
			item_show(ret_text, prefix, &setting->item[i], origins);
	}
}

void policy_show_key(const struct policy *policy, enum key key, bool origins, struct text *ret_text)
{
	const struct setting *setting = &policy->setting[key];
	for (size_t i = 0; i < setting->count; i++) {
		size_t start = ret_text->length;
		text_add_visible(ret_text, setting->item[i].text);
		if (origins)
			origin_show(ret_text, start, setting->item[i].origin);
		text_add(ret_text, "\n");
	}
}

/* ---- What a project asks for ---- */

/* What an item of a list means, said of the project; the item follows. */
static const char *const list_phrase[KEY_COUNT] = {
	[KEY_AGENT] = "the state of agent ",
	[KEY_BIND] = "write to ",
	[KEY_BIND_RO] = "read ",
	[KEY_MASK] = "hide ",
	[KEY_ENV_FILE] = "set the variables in the file ",
	[KEY_ENV_DROP] = "do not pass the variable ",
	[KEY_REQUIRE] = "run only with the guarantee ",
};

static void list_describe(struct text *text, enum key key, const char *value)
{
	if (*value == '\0')
		text_format(text, "%s: nothing of what other files say", key_info[key].name);
	else if (key == KEY_ENV)
		text_add(text, strchr(value, '=') ? "set " : "pass your variable ");
	else if (list_phrase[key])
		text_add(text, list_phrase[key]);
	else
		text_format(text, "%s: ", key_info[key].name);
	text_add_visible(text, value);
}

static void value_describe(
	struct text *text, const struct policy *now, enum key key, const char *value)
{
	const struct setting *setting = &now->setting[key];
	text_format(text, "%s ", key_info[key].name);
	text_add_visible(text, value);
	if (setting->count && strcmp(setting->item[0].text, value) == 0) {
		text_add(text, ", as it is");
	} else if (setting->count) {
		text_add(text, " instead of ");
		text_add_visible(text, setting->item[0].text);
	}
	text_format(text, " (%s)", key_info[key].help);
}

static void entry_describe(struct text *text, const struct policy *now, const char *mark,
	const struct config_entry *entry, const char *value)
{
	text_format(text, "  %sline %u: ", mark, entry->line);
	if (key_info[entry->key].type == TYPE_LIST)
		list_describe(text, entry->key, value);
	else
		value_describe(text, now, entry->key, value);
	text_add(text, "\n");
}

struct asks {
	struct text narrows; /* in force without trust */
	struct text widens;
	struct text all; /* in the order of the file */
};

static void asks_free(struct asks *asks)
{
	text_free(&asks->narrows);
	text_free(&asks->widens);
	text_free(&asks->all);
}

/* Judged entry by entry, as an untrusted file is applied. */
static int asks_gather(const struct layers_request *request, const struct project *project,
	struct policy *policy, struct asks *ret_asks, struct err *e)
{
	for (size_t i = 0; i < project->config.count; i++) {
		const struct config_entry *entry = &project->config.entry[i];
		AUTO_FREE char *value = NULL;
		if (project_value(request, project, entry, &value, e) < 0)
			return -1;
		bool narrows = policy_narrows(policy, entry->key, value);
		entry_describe(
			narrows ? &ret_asks->narrows : &ret_asks->widens, policy, "", entry, value);
		entry_describe(&ret_asks->all, policy, "", entry, value);
		if (narrows && policy_set(policy, entry->key, value, project->path, e) < 0)
			return -1;
	}
	return 0;
}

/* Lists have no end: a set of hashes would do, but both files are short or the user's own. */
static bool config_has(const struct config *config, const struct config_entry *wanted)
{
	for (size_t i = 0; i < config->count; i++)
		if (config->entry[i].key == wanted->key &&
			strcmp(config->entry[i].text, wanted->text) == 0)
			return true;
	return false;
}

static void missing_describe(struct text *text, const struct policy *now, const char *mark,
	const struct config *config, const struct config *other)
{
	for (size_t i = 0; i < config->count; i++)
		if (!config_has(other, &config->entry[i]))
			entry_describe(text, now, mark, &config->entry[i], config->entry[i].text);
}

static int changes_show(
	const struct project *project, const struct policy *now, struct text *text, struct err *e)
{
	AUTO_CONFIG accepted = { 0 };
	AUTO_TEXT changes = { 0 };
	if (config_read(project->accepted, project->accepted_length, "the version you trusted",
		    &accepted, e) < 0)
		return -1;
	missing_describe(&changes, now, "gone: ", &accepted, &project->config);
	missing_describe(&changes, now, "new: ", &project->config, &accepted);
	text_add(text, "What changed since then:\n");
	text_add(text, changes.length ? changes.data : "  comments, order or layout only\n");
	return 0;
}

static void asks_show(const struct asks *asks, bool trusted, struct text *text)
{
	if (!asks->all.length) {
		text_add(text, "It asks for nothing.\n");
	} else if (trusted) {
		text_format(text, "It asks for:\n%s", asks->all.data);
	} else {
		if (asks->narrows.length)
			text_format(text,
				"It takes this away, which it may without your trust:\n%s",
				asks->narrows.data);
		if (asks->widens.length)
			text_format(text,
				"It asks for this, which is left out until you trust it:\n%s",
				asks->widens.data);
	}
}

int project_show(const struct layers_request *request, const struct project *project,
	struct text *ret_text, struct err *e)
{
	static const char *const state[] = {
		[TRUST_NONE] = "is not trusted.",
		[TRUST_SAME] = "is trusted as it is now, byte for byte.",
		[TRUST_CHANGED] = "changed since you trusted it, so it is not trusted any more.",
	};
	struct policy policy;
	__attribute__((cleanup(asks_free))) struct asks asks = { 0 };
	if (layers_load_below(request, &policy, e) < 0)
		return -1;
	text_add_visible(ret_text, project->path);
	text_format(ret_text, " %s\n", state[project->trust]);
	int result =
		project->trust == TRUST_CHANGED ? changes_show(project, &policy, ret_text, e) : 0;
	if (result == 0)
		result = asks_gather(request, project, &policy, &asks, e);
	if (result == 0)
		asks_show(&asks, project->trust == TRUST_SAME, ret_text);
	policy_free(&policy);
	return result;
}
