/* SPDX-License-Identifier: MIT */
#include "formats/json_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { BLOCK_VALUES = 512, SEARCH_WITHOUT_INDEX = 8 };

/* Values never move: pointers to them are kept while more are made. */
struct json_block {
	struct json_block *next;
	size_t used;
	struct json_value value[BLOCK_VALUES];
};

struct parser {
	struct json_document *document;
	const char *start;
	const char *at;
	const char *end;
	const char *complaint;
};

static uint64_t mix(uint64_t h)
{
	h = (h ^ (h >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	h = (h ^ (h >> 27)) * UINT64_C(0x94d049bb133111eb);
	return h ^ (h >> 31);
}

static int fail(struct parser *p, const char *complaint)
{
	if (!p->complaint)
		p->complaint = complaint;
	return -1;
}

static struct json_value *value_new(struct json_document *document)
{
	struct json_block *block = document->block;
	if (!block || block->used == BLOCK_VALUES) {
		block = memory_alloc(1, sizeof *block);
		block->next = document->block;
		document->block = block;
	}
	document->values++;
	return &block->value[block->used++];
}

void json_free(struct json_document *document)
{
	while (document->block) {
		struct json_block *block = document->block;
		document->block = block->next;
		for (size_t i = 0; i < block->used; i++)
			free(block->value[i].index);
		free(block);
	}
	document->root = NULL;
	document->values = 0;
}

/* ---- Strings ---- */

/* The next character of UTF-8, or -1: cut off, too long an encoding, a surrogate, past U+10FFFF. */
static int32_t utf8_next(const char **at, const char *end)
{
	const unsigned char *p = (const unsigned char *)*at;
	size_t left = (size_t)(end - *at);
	size_t length = *p < 0x80   ? 1
			: *p < 0xc2 ? 0
			: *p < 0xe0 ? 2
			: *p < 0xf0 ? 3
			: *p < 0xf5 ? 4
				    : 0;
	if (length == 0 || length > left)
		return -1;
	int32_t c = length == 1 ? *p : *p & (0x7f >> length);
	for (size_t i = 1; i < length; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return -1;
		c = c << 6 | (p[i] & 0x3f);
	}
	if ((length == 3 && c < 0x800) || (length == 4 && c < 0x10000) || c > 0x10ffff ||
		(c >= 0xd800 && c < 0xe000))
		return -1;
	*at += length;
	return c;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The four digits after "\u", or -1. */
static int32_t hex_unit(const char *at, const char *end)
{
	if (end - at < 4)
		return -1;
	int32_t unit = 0;
	for (int i = 0; i < 4; i++) {
		int digit = hex_digit(at[i]);
		if (digit < 0)
			return -1;
		unit = unit << 4 | digit;
	}
	return unit;
}

/* After "\u": a pair of surrogates is one character, half a pair stands for itself. */
static int32_t unicode_escape_next(const char **at, const char *end)
{
	int32_t unit = hex_unit(*at, end);
	if (unit < 0)
		return -1;
	*at += 4;
	if (unit < 0xd800 || unit > 0xdbff || end - *at < 6 || (*at)[0] != '\\' || (*at)[1] != 'u')
		return unit;
	int32_t low = hex_unit(*at + 2, end);
	if (low < 0xdc00 || low > 0xdfff)
		return unit;
	*at += 6;
	return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
}

/* The next character of what a string says, or -1 if it is not well-formed. */
static int32_t string_next(const char **at, const char *end)
{
	if ((unsigned char)**at < 0x20)
		return -1;
	if (**at != '\\')
		return utf8_next(at, end);
	if (end - *at < 2)
		return -1;
	static const char escape[] = "\"\\/bfnrt", meaning[] = "\"\\/\b\f\n\r\t";
	char c = (*at)[1];
	*at += 2;
	if (c == 'u')
		return unicode_escape_next(at, end);
	const char *found = c ? strchr(escape, c) : NULL;
	return found ? meaning[found - escape] : -1;
}

/* Pass over the string at p->at, quotes included, and hash what it says. */
static int string_scan(
	struct parser *p, const char **ret_text, uint32_t *ret_length, uint64_t *ret_hash)
{
	const char *start = p->at++;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	while (p->at < p->end && *p->at != '"') {
		int32_t c = string_next(&p->at, p->end);
		if (c < 0)
			return fail(p, "a string that is not well-formed");
		hash = (hash ^ (uint64_t)c) * UINT64_C(0x100000001b3);
	}
	if (p->at == p->end)
		return fail(p, "a string without its end");
	p->at++;
	*ret_text = start;
	*ret_length = (uint32_t)(p->at - start);
	*ret_hash = mix(hash);
	return 0;
}

static bool string_equal(const char *a, uint32_t a_length, const char *b, uint32_t b_length)
{
	if (a_length == b_length && memcmp(a, b, a_length) == 0)
		return true;
	const char *a_end = a + a_length - 1, *b_end = b + b_length - 1;
	for (a++, b++; a < a_end && b < b_end;)
		if (string_next(&a, a_end) != string_next(&b, b_end))
			return false;
	return a == a_end && b == b_end;
}

/* ---- Parsing ---- */

static void space_skip(struct parser *p)
{
	while (p->at < p->end &&
		(*p->at == ' ' || *p->at == '\n' || *p->at == '\r' || *p->at == '\t'))
		p->at++;
}

/* Pass over `c`, with the space before and after it. */
static bool accept(struct parser *p, char c)
{
	space_skip(p);
	if (p->at == p->end || *p->at != c)
		return false;
	p->at++;
	space_skip(p);
	return true;
}

static bool digits_scan(struct parser *p)
{
	const char *start = p->at;
	while (p->at < p->end && *p->at >= '0' && *p->at <= '9')
		p->at++;
	return p->at > start;
}

static bool number_scan(struct parser *p)
{
	if (p->at < p->end && *p->at == '-')
		p->at++;
	const char *start = p->at;
	if (!digits_scan(p) || (*start == '0' && p->at > start + 1))
		return false;
	if (p->at < p->end && *p->at == '.') {
		p->at++;
		if (!digits_scan(p))
			return false;
	}
	if (p->at < p->end && (*p->at | 0x20) == 'e') {
		p->at++;
		if (p->at < p->end && (*p->at == '+' || *p->at == '-'))
			p->at++;
		return digits_scan(p);
	}
	return true;
}

static bool word_scan(struct parser *p)
{
	static const char *const words[] = { "true", "false", "null" };
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t length = strlen(words[i]);
		if ((size_t)(p->end - p->at) < length || memcmp(p->at, words[i], length) != 0)
			continue;
		p->at += length;
		return true;
	}
	return false;
}

static int scalar_parse(struct parser *p, struct json_value *value)
{
	const char *start = p->at;
	bool word = *start >= 'a' && *start <= 'z';
	if (word ? !word_scan(p) : !number_scan(p))
		return fail(p, "something that is no JSON value");
	value->kind = word ? JSON_WORD : JSON_NUMBER;
	value->text = start;
	value->length = (uint32_t)(p->at - start);
	uint64_t hash = UINT64_C(0x84222325cbf29ce4);
	for (; start < p->at; start++)
		hash = (hash ^ (unsigned char)*start) * UINT64_C(0x100000001b3);
	value->hash = mix(hash);
	return 0;
}

static int value_parse(struct parser *p, unsigned depth, struct json_value *value);

/* One element of an array or member of an object, the comma after it included. */
static int child_parse(
	struct parser *p, unsigned depth, struct json_value *parent, struct json_value **ret_child)
{
	if (p->document->values == JSON_VALUES)
		return fail(p, "more values than are allowed");
	struct json_value *child = value_new(p->document);
	if (parent->kind == JSON_OBJECT) {
		if (p->at == p->end || *p->at != '"')
			return fail(p, "a member without a name");
		if (string_scan(p, &child->key, &child->key_length, &child->key_hash) < 0)
			return -1;
		if (!accept(p, ':'))
			return fail(p, "a name without a ':'");
	}
	if (value_parse(p, depth + 1, child) < 0)
		return -1;
	uint64_t both = mix(child->key_hash + mix(child->hash));
	parent->hash = parent->kind == JSON_OBJECT ? parent->hash + both : mix(parent->hash ^ both);
	parent->count++;
	*ret_child = child;
	return 0;
}

static int children_parse(struct parser *p, unsigned depth, struct json_value *parent)
{
	char close = parent->kind == JSON_OBJECT ? '}' : ']';
	if (depth == JSON_DEPTH)
		return fail(p, "more levels than are allowed");
	p->at++;
	space_skip(p);
	parent->hash = parent->kind == JSON_OBJECT ? 1 : 2;
	struct json_value **link = &parent->child;
	if (!accept(p, close)) {
		do {
			if (child_parse(p, depth, parent, link) < 0)
				return -1;
			link = &(*link)->next;
		} while (accept(p, ','));
		if (!accept(p, close))
			return fail(p, "a list without its end");
	}
	parent->hash = mix(parent->hash);
	return 0;
}

static int value_parse(struct parser *p, unsigned depth, struct json_value *value)
{
	space_skip(p);
	if (p->at == p->end)
		return fail(p, "an early end");
	switch (*p->at) {
	case '{':
		value->kind = JSON_OBJECT;
		return children_parse(p, depth, value);
	case '[':
		value->kind = JSON_ARRAY;
		return children_parse(p, depth, value);
	case '"':
		value->kind = JSON_STRING;
		return string_scan(p, &value->text, &value->length, &value->hash);
	default:
		return scalar_parse(p, value);
	}
}

static unsigned line_of(const struct parser *p)
{
	unsigned line = 1;
	for (const char *c = p->start; c < p->at && c < p->end; c++)
		line += *c == '\n';
	return line;
}

int json_parse(struct json_bytes bytes, const char *name, struct json_document *ret_document,
	struct err *e)
{
	if (!bytes.data || bytes.length > JSON_LIMIT)
		return err_set(e, 0, "%s: %s", name, bytes.data ? "too large" : "does not exist");
	struct json_document document = { 0 };
	struct parser p = {
		.document = &document,
		.start = bytes.data,
		.at = bytes.data,
		.end = bytes.data + bytes.length,
	};
	if (bytes.length >= 3 && memcmp(bytes.data, "\xef\xbb\xbf", 3) == 0)
		p.at += 3;
	document.root = value_new(&document);
	int result = value_parse(&p, 0, document.root);
	space_skip(&p);
	if (result == 0 && p.at < p.end)
		result = fail(&p, "more after the end");
	if (result == 0) {
		*ret_document = document;
		return 0;
	}
	err_set(e, 0, "%s:%u: not JSON: %s", name, line_of(&p), p.complaint);
	json_free(&document);
	return -1;
}

/* ---- Comparing ---- */

static bool key_equal(const struct json_value *a, const struct json_value *b)
{
	return a->key_hash == b->key_hash &&
	       string_equal(a->key, a->key_length, b->key, b->key_length);
}

/* By key_hash; of equal ones the later member first, which is the one that counts. */
static int index_order(const void *a, const void *b)
{
	const struct json_value *one = *(struct json_value *const *)a;
	const struct json_value *two = *(struct json_value *const *)b;
	if (one->key_hash != two->key_hash)
		return one->key_hash < two->key_hash ? -1 : 1;
	return one->key < two->key ? 1 : one->key > two->key ? -1 : 0;
}

static void index_make(struct json_value *object)
{
	object->index = memory_alloc(object->count, sizeof(struct json_value *));
	size_t n = 0;
	for (struct json_value *member = object->child; member; member = member->next)
		object->index[n++] = member;
	qsort(object->index, n, sizeof(struct json_value *), index_order);
}

static struct json_value *member_by_index(struct json_value *object, const struct json_value *like)
{
	if (!object->index)
		index_make(object);
	size_t low = 0, high = object->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (object->index[middle]->key_hash < like->key_hash)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < object->count && object->index[low]->key_hash == like->key_hash; low++)
		if (key_equal(object->index[low], like))
			return object->index[low];
	return NULL;
}

struct json_value *json_member(struct json_value *object, const struct json_value *like)
{
	if (!object)
		return NULL;
	if (object->count > SEARCH_WITHOUT_INDEX)
		return member_by_index(object, like);
	struct json_value *found = NULL;
	for (struct json_value *member = object->child; member; member = member->next)
		if (key_equal(member, like))
			found = member;
	return found;
}

static bool children_equal(struct json_value *a, struct json_value *b)
{
	struct json_value *other = b->child;
	for (struct json_value *child = a->child; child; child = child->next) {
		if (a->kind == JSON_OBJECT && json_member(a, child) != child)
			continue; /* a later one of the same name counts */
		if (a->kind == JSON_OBJECT)
			other = json_member(b, child);
		if (!json_same(child, other))
			return false;
		if (a->kind == JSON_ARRAY)
			other = other->next;
	}
	return true;
}

bool json_same(struct json_value *a, struct json_value *b)
{
	if (!a || !b || a == b)
		return a == b;
	if (a->kind != b->kind || a->hash != b->hash || a->count != b->count)
		return false;
	switch (a->kind) {
	case JSON_OBJECT:
	case JSON_ARRAY:
		return children_equal(a, b);
	case JSON_STRING:
		return string_equal(a->text, a->length, b->text, b->length);
	case JSON_NUMBER:
	case JSON_WORD:
		return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
	}
	return false;
}
