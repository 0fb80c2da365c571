/* SPDX-License-Identifier: MIT */
/*
 * The tree is built from libfyaml's events rather than from its documents: an alias is then a token
 * that is refused, never something to expand, and depth is counted before anything is allocated for
 * it. libfyaml would print its own diagnostics on stderr; here it collects them and the first
 * becomes the sentence.
 */
#include "formats/yaml.h"

#include <libfyaml.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/memory.h"

struct reader {
	struct fy_parser *parser;
	struct fy_diag *diagnostics;
	struct fy_event *event; /* the current one, owned */
	const char *name;
	struct err *e;
};

static int reader_fail(struct reader *r, unsigned line, unsigned column, const char *what)
{
	return err_set(r->e, 0, "%s:%u:%u: %s", r->name, line, column, what);
}

/* Where the current event starts, counted from 1. */
static void event_position(const struct reader *r, unsigned *ret_line, unsigned *ret_column)
{
	const struct fy_mark *mark = r->event ? fy_event_start_mark(r->event) : NULL;
	*ret_line = mark ? (unsigned)mark->line + 1 : 1;
	*ret_column = mark ? (unsigned)mark->column + 1 : 1;
	if (*ret_column > 1 && r->event && r->event->type == FYET_SCALAR) {
		/* The mark of a quoted scalar is behind its quote. */
		enum fy_scalar_style style = fy_token_scalar_style(fy_event_get_token(r->event));
		if (style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED)
			--*ret_column;
	}
}

static int event_fail(struct reader *r, const char *what)
{
	unsigned line, column;
	event_position(r, &line, &column);
	return reader_fail(r, line, column, what);
}

/* libfyaml's first complaint; the later ones follow from it. */
static int syntax_fail(struct reader *r)
{
	void *cursor = NULL;
	const struct fy_diag_error *first = fy_diag_errors_iterate(r->diagnostics, &cursor);
	if (!first)
		return reader_fail(r, 1, 1, "not valid YAML");
	unsigned line = first->line > 0 ? (unsigned)first->line : 1;
	unsigned column = first->column > 0 ? (unsigned)first->column : 1;
	return reader_fail(
		r, line, column, first->msg && *first->msg ? first->msg : "not valid YAML");
}

/* Move to the next event. */
static int event_next(struct reader *r)
{
	if (r->event)
		fy_parser_event_free(r->parser, r->event);
	r->event = fy_parser_parse(r->parser);
	return r->event ? 0 : syntax_fail(r);
}

static int event_check(struct reader *r)
{
	if (r->event->type == FYET_ALIAS)
		return event_fail(r, "aliases (*NAME) are not allowed here; write the value out");
	if (fy_event_get_anchor_token(r->event))
		return event_fail(r, "anchors (&NAME) are not allowed here");
	if (fy_event_get_tag_token(r->event))
		return event_fail(r, "tags (!NAME) are not allowed here");
	return 0;
}

static bool scalar_is_null(const char *text)
{
	return strcmp(text, "~") == 0 || strcmp(text, "null") == 0 || strcmp(text, "Null") == 0 ||
	       strcmp(text, "NULL") == 0;
}

/* The text of the current event, which is a scalar. */
static int scalar_read(struct reader *r, char **ret_text)
{
	struct fy_token *token = fy_event_get_token(r->event);
	size_t length = 0;
	const char *text = token ? fy_token_get_text(token, &length) : "";
	if (!text)
		return event_fail(r, "this value cannot be read");
	if (memchr(text, '\0', length))
		return event_fail(r, "a value cannot contain the character NUL");
	char *copy = memory_alloc(length + 1, 1);
	memcpy(copy, text, length);
	if (token && fy_token_scalar_style(token) == FYSS_PLAIN && scalar_is_null(copy))
		*copy = '\0';
	*ret_text = copy;
	return 0;
}

static struct yaml *child_add(struct yaml *parent, size_t *size)
{
	if (parent->count == *size) {
		*size = *size ? *size * 2 : 8;
		parent->child = memory_grow(parent->child, *size, sizeof *parent->child);
	}
	struct yaml *child = &parent->child[parent->count++];
	*child = (struct yaml){ 0 };
	return child;
}

static int compare_keys(const void *a, const void *b)
{
	const struct yaml *left = *(const struct yaml *const *)a;
	const struct yaml *right = *(const struct yaml *const *)b;
	int order = strcmp(left->key, right->key);
	if (order == 0)
		order = left < right ? -1 : left > right; /* stable: the later one is reported */
	return order;
}

/* Sorted, since a hostile file may hold a hundred thousand keys. */
static int keys_check(struct reader *r, const struct yaml *map)
{
	if (map->count < 2)
		return 0;
	AUTO_FREE const struct yaml **sorted = memory_alloc(map->count, sizeof *sorted);
	for (size_t i = 0; i < map->count; i++)
		sorted[i] = &map->child[i];
	qsort(sorted, map->count, sizeof *sorted, compare_keys);
	for (size_t i = 1; i < map->count; i++) {
		const struct yaml *first = sorted[i - 1], *second = sorted[i];
		if (strcmp(first->key, second->key) == 0)
			return err_set(r->e, 0, "%s:%u:%u: the key '%s' is already in line %u",
				r->name, second->line, second->column, second->key, first->line);
	}
	return 0;
}

static int node_read(struct reader *r, struct yaml *node, unsigned depth);

static int list_read(struct reader *r, struct yaml *list, unsigned depth)
{
	size_t size = 0;
	for (;;) {
		if (event_next(r) < 0)
			return -1;
		if (r->event->type == FYET_SEQUENCE_END)
			return 0;
		if (node_read(r, child_add(list, &size), depth) < 0)
			return -1;
	}
}

static int entry_read(struct reader *r, struct yaml *entry, unsigned depth)
{
	unsigned line, column;
	AUTO_FREE char *key = NULL;
	event_position(r, &line, &column);
	if (event_check(r) < 0)
		return -1;
	if (r->event->type != FYET_SCALAR)
		return event_fail(r, "a key must be a word, not a list or a map");
	if (scalar_read(r, &key) < 0 || event_next(r) < 0 || node_read(r, entry, depth) < 0)
		return -1;
	/* An error about an entry points to its key. */
	entry->line = line;
	entry->column = column;
	entry->key = take_pointer(key);
	return 0;
}

static int map_read(struct reader *r, struct yaml *map, unsigned depth)
{
	size_t size = 0;
	for (;;) {
		if (event_next(r) < 0)
			return -1;
		if (r->event->type == FYET_MAPPING_END)
			return keys_check(r, map);
		if (entry_read(r, child_add(map, &size), depth) < 0)
			return -1;
	}
}

/* The node that starts with the current event; afterwards the current event is its last. */
static int node_read(struct reader *r, struct yaml *node, unsigned depth)
{
	event_position(r, &node->line, &node->column);
	if (event_check(r) < 0)
		return -1;
	if (r->event->type == FYET_SCALAR)
		return scalar_read(r, &node->scalar);
	if (depth == YAML_DEPTH)
		return event_fail(r, "nested too deeply");
	if (r->event->type == FYET_SEQUENCE_START) {
		node->kind = YAML_LIST;
		return list_read(r, node, depth + 1);
	}
	if (r->event->type == FYET_MAPPING_START) {
		node->kind = YAML_MAP;
		return map_read(r, node, depth + 1);
	}
	return event_fail(r, "not valid YAML");
}

/* Nothing, or null, is what is left when every setting of a file is commented out: an empty map. */
static void empty_is_map(struct yaml *document)
{
	if (document->kind != YAML_SCALAR || (document->scalar && *document->scalar))
		return;
	free(take_pointer(document->scalar));
	document->kind = YAML_MAP;
}

static int stream_read(struct reader *r, struct yaml *document)
{
	bool seen = false;
	for (;;) {
		if (event_next(r) < 0)
			return -1;
		if (r->event->type == FYET_STREAM_END)
			break;
		if (r->event->type != FYET_DOCUMENT_START)
			continue; /* the start of the stream, the end of the document */
		if (seen)
			return event_fail(r, "a second document (---) is not allowed");
		seen = true;
		if (event_next(r) < 0 || node_read(r, document, 0) < 0)
			return -1;
	}
	empty_is_map(document);
	return 0;
}

/* The length of the UTF-8 sequence that starts at `p`, or 0 when it is not one. */
static size_t utf8_length(const unsigned char *p, size_t left)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	if (*p < 0x80)
		return 1;
	size_t length = *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : 2;
	if (*p < 0xc2 || *p > 0xf4 || length > left)
		return 0;
	uint32_t code = *p & (0xffu >> (length + 1));
	for (size_t i = 1; i < length; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (p[i] & 0x3f);
	}
	bool surrogate = code >= 0xd800 && code <= 0xdfff;
	return code < least[length] || code > 0x10ffff || surrogate ? 0 : length;
}

/* libfyaml 0.7.12 reads a value with broken UTF-8 as an empty one; it must not get that far. */
static int characters_check(struct reader *r, const char *data, size_t size)
{
	unsigned line = 1, column = 1;
	const unsigned char *p = (const unsigned char *)data;
	while (size) {
		size_t length = utf8_length(p, size);
		if (length == 0)
			return reader_fail(r, line, column, "not UTF-8");
		bool line_end = *p == '\n' || (*p == '\r' && size > 1 && p[1] == '\n');
		if (*p == 0x7f || (*p < 0x20 && *p != '\t' && !line_end))
			return reader_fail(r, line, column, "a control character");
		column = *p == '\n' ? 1 : column + 1;
		line += *p == '\n';
		p += length;
		size -= length;
	}
	return 0;
}

static bool line_is_blank(const char *line, size_t length)
{
	while (length && (*line == ' ' || *line == '\t' || *line == '\r'))
		line++, length--;
	return length == 0;
}

/* The time of libfyaml 0.7.12 is quadratic in the length of a directive and of a run of empty
 * lines: one MiB of either takes minutes, and the file may be a stranger's. Neither has a use here.
 */
static int lines_check(struct reader *r, const char *data, size_t size)
{
	unsigned number = 1, blank = 0;
	if (size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0)
		data += 3, size -= 3;
	for (; size; number++) {
		const char *end = memchr(data, '\n', size);
		size_t length = end ? (size_t)(end - data) : size;
		if (*data == '%')
			return reader_fail(r, number, 1, "directives (%NAME) are not allowed here");
		blank = line_is_blank(data, length) ? blank + 1 : 0;
		if (blank > YAML_BLANK_LINES)
			return reader_fail(r, number, 1, "too many empty lines");
		size -= length + (end != NULL);
		data += length + (end != NULL);
	}
	return 0;
}

/* What libfyaml would have printed: it is collected instead. */
static void diagnostic_drop(
	struct fy_diag *diagnostics, void *user, const char *text, size_t length)
{
	(void)diagnostics, (void)user, (void)text, (void)length;
}

static int reader_start(struct reader *r, const char *data, size_t length)
{
	const struct fy_diag_cfg quiet = {
		.output_fn = diagnostic_drop,
		.level = FYET_ERROR,
		.module_mask = ~0u,
	};
	r->diagnostics = fy_diag_create(&quiet);
	if (!r->diagnostics)
		return err_set(r->e, 0, "%s: cannot start the YAML parser", r->name);
	fy_diag_set_collect_errors(r->diagnostics, true);
	const struct fy_parse_cfg settings = {
		/* Sloppy: a closing bracket may stand in the first column, as everybody writes it.
		 */
		.flags = FYPCF_QUIET | FYPCF_JSON_NONE | FYPCF_DEFAULT_VERSION_1_2 |
			 FYPCF_SLOPPY_FLOW_INDENTATION,
		.diag = r->diagnostics,
	};
	r->parser = fy_parser_create(&settings);
	if (!r->parser || fy_parser_set_string(r->parser, data, length) < 0)
		return err_set(r->e, 0, "%s: cannot start the YAML parser", r->name);
	return 0;
}

static void reader_end(struct reader *r)
{
	if (r->event)
		fy_parser_event_free(r->parser, r->event);
	fy_parser_destroy(r->parser);
	fy_diag_destroy(r->diagnostics);
}

int yaml_parse(const char *data, size_t length, const char *name, struct yaml **ret_document,
	struct err *e)
{
	struct reader r = { .name = name, .e = e };
	if (length > YAML_LIMIT)
		return reader_fail(&r, 1, 1, "larger than 1 MiB");
	if (length == 0) { /* libfyaml takes this for "find the length yourself" */
		data = "\n";
		length = 1;
	}
	if (characters_check(&r, data, length) < 0 || lines_check(&r, data, length) < 0)
		return -1;
	struct yaml *document = memory_alloc(1, sizeof *document);
	document->line = document->column = 1;
	int result = reader_start(&r, data, length) < 0 ? -1 : stream_read(&r, document);
	reader_end(&r);
	if (result < 0) {
		yaml_free(document);
		return -1;
	}
	*ret_document = document;
	return 0;
}

const struct yaml *yaml_get(const struct yaml *map, const char *key)
{
	if (map->kind != YAML_MAP)
		return NULL;
	for (size_t i = 0; i < map->count; i++)
		if (strcmp(map->child[i].key, key) == 0)
			return &map->child[i];
	return NULL;
}

static void node_clear(struct yaml *node)
{
	for (size_t i = 0; i < node->count; i++)
		node_clear(&node->child[i]);
	free(node->child);
	free(node->key);
	free(node->scalar);
}

void yaml_free(struct yaml *document)
{
	if (!document)
		return;
	node_clear(document);
	free(document);
}
