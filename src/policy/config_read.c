/* SPDX-License-Identifier: MIT */
#include "policy/config_read.h"

#include <stdint.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "formats/yaml.h"
#include "kernel/confined.h"

struct reader {
	const char *name;
	struct config *config;
	size_t size;
	struct err *e;
};

static void entry_add(struct config *config, size_t *size, struct config_entry entry)
{
	if (config->count == *size) {
		*size = *size ? *size * 2 : 16;
		config->entry = memory_grow(config->entry, *size, sizeof *config->entry);
	}
	config->entry[config->count++] = entry;
}

static int position_prefix(const struct reader *r, const struct yaml *node)
{
	return err_prefix(r->e, "%s:%u:%u", r->name, node->line, node->column);
}

static int value_add(struct reader *r, enum key key, const struct yaml *node, const char *text)
{
	if (*text == '\0') {
		err_set(r->e, 0, "%s has no value here", key_info[key].name);
		err_hint(r->e, key_info[key].type == TYPE_LIST
				       ? "remove it, or write [] to start the list afresh"
				       : "remove it, or give it a value");
		return position_prefix(r, node);
	}
	if (policy_check(key, text, r->e) < 0)
		return position_prefix(r, node);
	entry_add(r->config, &r->size,
		(struct config_entry){ key, node->line, node->column, memory_string(text) });
	return 0;
}

static int shape_fail(struct reader *r, enum key key, const struct yaml *node, const char *wanted)
{
	static const char *const kind[] = {
		[YAML_SCALAR] = "a single value", [YAML_LIST] = "a list", [YAML_MAP] = "a map"
	};
	err_set(r->e, 0, "%s must be %s, not %s", key_info[key].name, wanted, kind[node->kind]);
	return position_prefix(r, node);
}

/* A name with "=" in it would say something else once it is joined with its value. */
static int variable_add(struct reader *r, enum key key, const struct yaml *node)
{
	if (node->kind != YAML_SCALAR)
		return shape_fail(r, key, node, "a map of NAME: VALUE");
	if (*node->key == '\0' || strchr(node->key, '=')) {
		err_set(r->e, 0, "%s: '%s' is not the name of a variable", key_info[key].name,
			node->key);
		return position_prefix(r, node);
	}
	AUTO_FREE char *text = memory_format("%s=%s", node->key, node->scalar);
	return value_add(r, key, node, text);
}

static int list_add(struct reader *r, enum key key, const struct yaml *list)
{
	/* An empty list says: nothing of what the layers below have. */
	if (list->count == 0)
		entry_add(r->config, &r->size,
			(struct config_entry){ key, list->line, list->column, memory_string("") });
	for (size_t i = 0; i < list->count; i++) {
		const struct yaml *node = &list->child[i];
		if (node->kind != YAML_SCALAR)
			return shape_fail(r, key, node, "a list of single values");
		if (value_add(r, key, node, node->scalar) < 0)
			return -1;
	}
	return 0;
}

static int map_add(struct reader *r, enum key key, const struct yaml *map)
{
	if (key != KEY_ENV)
		return shape_fail(r, key, map, "a list or a single value");
	for (size_t i = 0; i < map->count; i++)
		if (variable_add(r, key, &map->child[i]) < 0)
			return -1;
	return 0;
}

static int setting_add(struct reader *r, const struct yaml *node)
{
	enum key key;
	if (key_find(node->key, &key, r->e) < 0)
		return position_prefix(r, node);
	if (node->kind == YAML_SCALAR)
		return value_add(r, key, node, node->scalar);
	if (key_info[key].type != TYPE_LIST)
		return shape_fail(r, key, node, "a single value");
	return node->kind == YAML_LIST ? list_add(r, key, node) : map_add(r, key, node);
}

static int document_read(struct reader *r, const struct yaml *document)
{
	if (document->kind != YAML_MAP) {
		err_set(r->e, 0, "a configuration is a map of KEY: VALUE");
		return position_prefix(r, document);
	}
	for (size_t i = 0; i < document->count; i++)
		if (setting_add(r, &document->child[i]) < 0)
			return -1;
	return 0;
}

int config_read(
	const char *data, size_t length, const char *name, struct config *ret_config, struct err *e)
{
	AUTO_CONFIG config = { 0 };
	struct reader r = { .name = name, .config = &config, .e = e };
	struct yaml *document;
	if (yaml_parse(data, length, name, &document, e) < 0)
		return -1;
	int result = document_read(&r, document);
	yaml_free(document);
	if (result < 0)
		return -1;
	*ret_config = config;
	config = (struct config){ 0 };
	return 0;
}

/* ---- Across the pipe: key, line, column, length of the text, the text; again and again ---- */

struct packed {
	uint32_t key, line, column, length;
};

void config_pack(const struct config *config, struct text *ret_bytes)
{
	for (size_t i = 0; i < config->count; i++) {
		const struct config_entry *entry = &config->entry[i];
		const struct packed head = { entry->key, entry->line, entry->column,
			(uint32_t)strlen(entry->text) };
		text_add_bytes(ret_bytes, &head, sizeof head);
		text_add_bytes(ret_bytes, entry->text, head.length);
	}
}

/* The child read hostile bytes: its answer is believed no further than the file itself. */
static int entry_unpack(const char *bytes, size_t length, struct config_entry *ret_entry)
{
	struct packed head;
	if (length < sizeof head)
		return -1;
	memcpy(&head, bytes, sizeof head);
	if (head.key >= KEY_COUNT || head.length > length - sizeof head)
		return -1;
	bytes += sizeof head;
	if (memchr(bytes, '\0', head.length))
		return -1;
	AUTO_FREE char *text = memory_alloc(head.length + 1, 1);
	memcpy(text, bytes, head.length);
	if (*text ? policy_check(head.key, text, NULL) < 0 : key_info[head.key].type != TYPE_LIST)
		return -1;
	*ret_entry = (struct config_entry){ head.key, head.line, head.column, take_pointer(text) };
	return 0;
}

int config_unpack(const char *bytes, size_t length, struct config *ret_config, struct err *e)
{
	AUTO_CONFIG config = { 0 };
	size_t size = 0;
	while (length) {
		struct config_entry entry;
		if (entry_unpack(bytes, length, &entry) < 0)
			return err_set(e, 0, "the confined reader gave a bad answer");
		entry_add(&config, &size, entry);
		size_t used = sizeof(struct packed) + strlen(entry.text);
		bytes += used;
		length -= used;
	}
	*ret_config = config;
	config = (struct config){ 0 };
	return 0;
}

struct input {
	const char *data;
	size_t length;
	const char *name;
};

static int read_work(const void *argument, struct text *ret_answer, struct err *e)
{
	const struct input *input = argument;
	AUTO_CONFIG config = { 0 };
	if (config_read(input->data, input->length, input->name, &config, e) < 0)
		return -1;
	config_pack(&config, ret_answer);
	return 0;
}

int config_read_confined(
	const char *data, size_t length, const char *name, struct config *ret_config, struct err *e)
{
	/* The shortest entry of a file, "- a\n", grows by the head of its answer. */
	enum { LIMIT = YAML_LIMIT * (1 + sizeof(struct packed)) };
	const struct input input = { data, length, name };
	AUTO_TEXT answer = { 0 };
	if (confined_call(read_work, &input, LIMIT, name, &answer, e) < 0)
		return -1;
	if (config_unpack(answer.data, answer.length, ret_config, e) < 0)
		return err_prefix(e, "%s", name);
	return 0;
}

void config_free(struct config *config)
{
	for (size_t i = 0; i < config->count; i++)
		free(config->entry[i].text);
	free(config->entry);
	*config = (struct config){ 0 };
}
