/* SPDX-License-Identifier: MIT */
#include "formats/json_merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "formats/json_tree.h"

/* How the result is laid out. */
struct style {
	char unit[16]; /* of indentation; empty: all on one line */
	bool end_of_line;
};

struct merge {
	struct style style;
	struct text *out;
	unsigned conflicts;
	bool too_large;
};

enum decision { DROP, TAKE, MERGE_OBJECT, MERGE_ARRAY };

/* What becomes of one value; for MERGE_... the three versions are still needed, `base` perhaps
 * NULL. */
struct choice {
	enum decision decision;
	struct json_value *take;
	struct json_value *base, *host, *box;
};

/* ---- Writing ---- */

static struct style style_of(struct json_bytes bytes)
{
	struct style style = { .end_of_line =
				       bytes.length && bytes.data[bytes.length - 1] == '\n' };
	const char *end = bytes.data + bytes.length;
	const char *at = bytes.data;
	while (at < end && *at != '{' && *at != '[')
		at++;
	if (end - at < 2)
		return style;
	at++;
	if (*at == '\r')
		at++;
	if (at == end || *at++ != '\n')
		return style;
	size_t length = 0;
	for (; at < end && (*at == ' ' || *at == '\t') && length + 1 < sizeof style.unit; at++)
		style.unit[length++] = *at;
	return style;
}

static void put(struct merge *m, const char *bytes, size_t length)
{
	if (m->too_large || m->out->length + length > JSON_LIMIT)
		m->too_large = true;
	else
		text_add_bytes(m->out, bytes, length);
}

static void put_line(struct merge *m, unsigned level)
{
	if (!m->style.unit[0])
		return;
	put(m, "\n", 1);
	for (unsigned i = 0; i < level; i++)
		put(m, m->style.unit, strlen(m->style.unit));
}

/* What comes before one child: the bracket or comma, the line, and the member's name. */
static void put_child_start(
	struct merge *m, const struct json_value *child, char bracket, bool first, unsigned level)
{
	put(m, first ? &bracket : ",", 1);
	put_line(m, level + 1);
	if (!child->key)
		return;
	put(m, child->key, child->key_length);
	put(m, ": ", m->style.unit[0] ? 2 : 1);
}

static void put_end(struct merge *m, char open, bool empty, unsigned level)
{
	if (empty)
		put(m, &open, 1);
	else
		put_line(m, level);
	put(m, open == '{' ? "}" : "]", 1);
}

static void put_value(struct merge *m, const struct json_value *value, unsigned level)
{
	if (value->kind != JSON_OBJECT && value->kind != JSON_ARRAY) {
		put(m, value->text, value->length);
		return;
	}
	char open = value->kind == JSON_OBJECT ? '{' : '[';
	for (const struct json_value *child = value->child; child; child = child->next) {
		put_child_start(m, child, open, child == value->child, level);
		put_value(m, child, level + 1);
	}
	put_end(m, open, !value->child, level);
}

/* ---- Choosing ---- */

static double number_of(const struct json_value *value)
{
	char text[64]; /* more digits than a double has are of no account */
	size_t length = value->length < sizeof text ? value->length : sizeof text - 1;
	memcpy(text, value->text, length);
	text[length] = '\0';
	return strtod(text, NULL);
}

/* If all three are numbers and both sides raised theirs: the greater one, else NULL. */
static struct json_value *greater_number(
	struct json_value *base, struct json_value *host, struct json_value *box)
{
	if (!base || base->kind != JSON_NUMBER || host->kind != JSON_NUMBER ||
		box->kind != JSON_NUMBER)
		return NULL;
	double before = number_of(base), one = number_of(host), two = number_of(box);
	if (!(one > before && two > before))
		return NULL;
	return one > two ? host : box;
}

static struct choice take(struct json_value *value)
{
	return (struct choice){ .decision = value ? TAKE : DROP, .take = value };
}

static struct json_value *if_kind(struct json_value *value, enum json_kind kind)
{
	return value && value->kind == kind ? value : NULL;
}

/* Any of the three may be absent. */
static struct choice choose(
	struct merge *m, struct json_value *base, struct json_value *host, struct json_value *box)
{
	if (json_same(box, base) || json_same(box, host))
		return take(host);
	if (json_same(host, base) || !host)
		return take(box);
	if (!box)
		return take(host);
	struct choice both = { .base = if_kind(base, host->kind), .host = host, .box = box };
	if (host->kind == box->kind && host->kind == JSON_OBJECT)
		both.decision = MERGE_OBJECT;
	else if (host->kind == box->kind && host->kind == JSON_ARRAY)
		both.decision = MERGE_ARRAY;
	if (both.decision != DROP)
		return both;
	struct json_value *greater = greater_number(base, host, box);
	if (!greater)
		m->conflicts++;
	return take(greater ? greater : box);
}

/* ---- Merging ---- */

static void put_choice(struct merge *m, const struct choice *choice, unsigned level);

static void put_member(struct merge *m, const struct json_value *name, const struct choice *choice,
	bool *first, unsigned level)
{
	if (choice->decision == DROP)
		return;
	put_child_start(m, name, '{', *first, level);
	put_choice(m, choice, level + 1);
	*first = false;
}

static void merge_objects(struct merge *m, const struct choice *c, unsigned level)
{
	bool first = true;
	for (struct json_value *host = c->host->child; host; host = host->next) {
		if (json_member(c->host, host) != host)
			continue; /* a later one of the same name counts */
		struct choice choice =
			choose(m, json_member(c->base, host), host, json_member(c->box, host));
		put_member(m, host, &choice, &first, level);
	}
	for (struct json_value *box = c->box->child; box; box = box->next) {
		if (json_member(c->host, box) || json_member(c->box, box) != box)
			continue;
		struct choice choice = choose(m, json_member(c->base, box), NULL, box);
		put_member(m, box, &choice, &first, level);
	}
	put_end(m, '{', first, level);
}

/* How often one element is in each version, and how often it shall be in the result. */
struct tally {
	struct json_value *element;
	size_t base, host, box;
	size_t left;     /* still to be written */
	size_t unwalked; /* of the host's, not yet walked past */
};

static int hash_order(const void *a, const void *b)
{
	const struct json_value *one = *(struct json_value *const *)a;
	const struct json_value *two = *(struct json_value *const *)b;
	return one->hash < two->hash ? -1 : one->hash > two->hash;
}

/* The same reasoning as for values, on the count: the one side's change, else both. */
static size_t tally_result(const struct tally *t)
{
	if (t->box == t->base || t->box == t->host)
		return t->host;
	if (t->host == t->base)
		return t->box;
	if (t->host > t->base && t->box > t->base)
		return t->host > t->box ? t->host : t->box;
	if (t->host < t->base && t->box < t->base)
		return t->host < t->box ? t->host : t->box;
	size_t sum = t->host + t->box;
	return sum > t->base ? sum - t->base : 0;
}

static size_t gather(struct json_value **all, size_t n, const struct json_value *array)
{
	for (struct json_value *element = array ? array->child : NULL; element;
		element = element->next)
		all[n++] = element;
	return n;
}

/* Give every element of the three arrays the tally of those equal to it. Owned by the caller. */
static struct tally *tallies_make(const struct choice *c)
{
	size_t total = (c->base ? c->base->count : 0) + c->host->count + c->box->count;
	AUTO_FREE struct json_value **all = memory_alloc(total + 1, sizeof *all);
	size_t from_host = gather(all, 0, c->base);
	size_t from_box = gather(all, from_host, c->host);
	gather(all, from_box, c->box);
	AUTO_FREE struct json_value **sorted = memory_alloc(total + 1, sizeof *sorted);
	memcpy(sorted, all, total * sizeof *sorted);
	qsort(sorted, total, sizeof *sorted, hash_order);

	struct tally *tallies = memory_alloc(total + 1, sizeof *tallies), *last = tallies;
	for (size_t i = 0; i < total; i++) {
		if (i && !json_same(last->element, sorted[i]))
			last++;
		if (!last->element)
			last->element = sorted[i];
		sorted[i]->tally = last;
	}
	for (size_t i = 0; i < total; i++) {
		struct tally *t = all[i]->tally;
		*(i < from_host ? &t->base : i < from_box ? &t->host : &t->box) += 1;
	}
	for (struct tally *t = tallies; t <= last; t++) {
		t->left = tally_result(t);
		t->unwalked = t->host;
	}
	return tallies;
}

/* Write the elements from `from` up to `to`, as far as they are to be in the result. */
static void put_elements(struct merge *m, const struct json_value *from,
	const struct json_value *to, bool *first, unsigned level)
{
	for (; from != to; from = from->next) {
		if (from->tally->left == 0)
			continue;
		from->tally->left--;
		put_child_start(m, from, '[', *first, level);
		put_value(m, from, level + 1);
		*first = false;
	}
}

/* The first element from `host` on that equals `element`, of which there is one. Those on the way
 * are walked past. */
static struct json_value *walk_to(struct json_value *host, const struct json_value *element)
{
	for (;; host = host->next) {
		host->tally->unwalked--;
		if (host->tally == element->tally)
			return host;
	}
}

/* The host's order. What only the box has comes just before the element that follows it in the
 * box's version: a list with the newest in front stays one, as does one with the newest at the end.
 */
static void merge_arrays(struct merge *m, const struct choice *c, unsigned level)
{
	AUTO_FREE struct tally *tallies = tallies_make(c);
	struct json_value *host = c->host->child, *waiting = c->box->child;
	bool first = true;
	for (struct json_value *box = waiting; box; box = box->next) {
		if (box->tally->unwalked == 0)
			continue;
		struct json_value *common = walk_to(host, box);
		put_elements(m, host, common, &first, level);
		put_elements(m, waiting, box, &first, level);
		put_elements(m, common, common->next, &first, level);
		host = common->next;
		waiting = box->next;
	}
	put_elements(m, host, NULL, &first, level);
	put_elements(m, waiting, NULL, &first, level);
	put_end(m, '[', first, level);
}

static void put_choice(struct merge *m, const struct choice *choice, unsigned level)
{
	switch (choice->decision) {
	case TAKE:
		put_value(m, choice->take, level);
		return;
	case MERGE_OBJECT:
		merge_objects(m, choice, level);
		return;
	case MERGE_ARRAY:
		merge_arrays(m, choice, level);
		return;
	case DROP:
		return;
	}
}

int json_check(struct json_bytes bytes, const char *name, struct err *e)
{
	AUTO_JSON document = { 0 };
	return json_parse(bytes, name, &document, e);
}

int json_merge(struct json_bytes base, struct json_bytes host, struct json_bytes box,
	struct text *ret_merged, unsigned *ret_conflicts, struct err *e)
{
	AUTO_JSON base_document = { 0 }, host_document = { 0 }, box_document = { 0 };
	if (json_parse(host, "the version outside", &host_document, e) < 0 ||
		json_parse(box, "the version inside", &box_document, e) < 0)
		return -1;
	json_parse(base, "", &base_document, NULL); /* none: as if everything had been added */
	AUTO_TEXT out = { 0 };
	struct merge m = { .style = style_of(box), .out = &out };
	struct choice choice =
		choose(&m, base_document.root, host_document.root, box_document.root);
	put_choice(&m, &choice, 0);
	if (m.style.end_of_line)
		put(&m, "\n", 1);
	if (m.too_large)
		return err_set(e, 0, "the merged version would be too large");
	text_add_bytes(ret_merged, out.data, out.length);
	*ret_conflicts = m.conflicts;
	return 0;
}
