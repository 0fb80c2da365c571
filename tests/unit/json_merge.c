/* SPDX-License-Identifier: MIT */
#include "formats/json_merge.h"

#include <stdlib.h>

#include "base/memory.h"
#include "tests/unit/test.h"

static struct json_bytes bytes(const char *text)
{
	return (struct json_bytes){ text, text ? strlen(text) : 0 };
}

struct merge_case {
	const char *name, *base, *host, *box, *want;
	unsigned conflicts;
};

/* A merge that fails is wanted as NULL. */
static const struct merge_case merges[] = {
	/* one side */
	{ "only the box changed", "{\"a\":1}", "{\"a\":1}", "{\"a\":2}", "{\"a\":2}", 0 },
	{ "only the host changed", "{\"a\":1}", "{\"a\":3}", "{\"a\":1}", "{\"a\":3}", 0 },
	{ "both changed it alike", "{\"a\":1}", "{\"a\":2}", "{\"a\":2}", "{\"a\":2}", 0 },
	{ "two additions", "{}", "{\"h\":1}", "{\"x\":2}", "{\"h\":1,\"x\":2}", 0 },
	{ "two removals", "{\"a\":1,\"b\":2,\"c\":3}", "{\"b\":2,\"c\":3}", "{\"a\":1,\"c\":3}",
		"{\"c\":3}", 0 },
	{ "the last member goes", "{\"a\":1,\"b\":1}", "{\"a\":1}", "{\"b\":1}", "{}", 0 },
	/* nested */
	{ "nested keys", "{\"p\":{\"one\":{\"n\":1},\"two\":{\"n\":1}}}",
		"{\"p\":{\"one\":{\"n\":2},\"two\":{\"n\":1}}}",
		"{\"p\":{\"one\":{\"n\":1},\"two\":{\"n\":1,\"m\":[]}}}",
		"{\"p\":{\"one\":{\"n\":2},\"two\":{\"n\":1,\"m\":[]}}}", 0 },
	{ "both add one object", "{}", "{\"p\":{\"a\":1,\"s\":1}}", "{\"p\":{\"b\":1,\"s\":1}}",
		"{\"p\":{\"a\":1,\"s\":1,\"b\":1}}", 0 },
	{ "order is no change", "{\"a\":{\"x\":1,\"y\":2}}", "{\"a\":{\"y\":2,\"x\":1},\"h\":1}",
		"{\"b\":1,\"a\":{\"x\":1,\"y\":2}}", "{\"a\":{\"y\":2,\"x\":1},\"h\":1,\"b\":1}",
		0 },
	/* delete against edit */
	{ "box removes, host edits", "{\"a\":{\"n\":1}}", "{\"a\":{\"n\":2}}", "{\"b\":1}",
		"{\"a\":{\"n\":2},\"b\":1}", 0 },
	{ "host removes, box edits", "{\"a\":{\"n\":1}}", "{\"b\":1}", "{\"a\":{\"n\":2}}",
		"{\"b\":1,\"a\":{\"n\":2}}", 0 },
	{ "box removes, host leaves", "{\"a\":{\"n\":1},\"b\":1}", "{\"a\":{\"n\":1},\"b\":2}",
		"{\"b\":1}", "{\"b\":2}", 0 },
	/* scalars */
	{ "a real conflict is the box's", "{\"a\":\"o\",\"b\":1}", "{\"a\":\"h\",\"b\":2}",
		"{\"a\":\"x\",\"b\":1}", "{\"a\":\"x\",\"b\":2}", 1 },
	{ "counters do not go back", "{\"n\":5}", "{\"n\":9}", "{\"n\":7}", "{\"n\":9}", 0 },
	{ "a lowered number is a conflict", "{\"n\":5}", "{\"n\":9}", "{\"n\":3}", "{\"n\":3}", 1 },
	{ "kinds that differ", "{\"a\":1}", "{\"a\":[1]}", "{\"a\":{}}", "{\"a\":{}}", 1 },
	{ "scalar documents", "1", "\"h\"", "\"x\"", "\"x\"", 1 },
	/* arrays */
	{ "array, one side", "{\"a\":[1,2],\"b\":1}", "{\"a\":[1,2],\"b\":2}",
		"{\"a\":[2,3],\"b\":1}", "{\"a\":[2,3],\"b\":2}", 0 },
	{ "array, both add at the end", "[1,2]", "[1,2,3]", "[1,2,4]", "[1,2,3,4]", 0 },
	{ "array, both add in front", "[1,2]", "[3,1,2]", "[4,1,2]", "[3,4,1,2]", 0 },
	{ "array, removals stay removed", "[1,2,3]", "[2,3]", "[1,2]", "[2]", 0 },
	{ "array, add and remove", "[1,2,3]", "[1,2,3,4]", "[0,3]", "[0,3,4]", 0 },
	{ "array, the same addition once", "[1]", "[1,5,6]", "[1,5,7]", "[1,5,6,7]", 0 },
	{ "array, equal elements are counted", "[1]", "[1,1]", "[1,1,1,2]", "[1,1,1,2]", 0 },
	{ "array, moved by one side", "[1,2,3]", "[3,1,2]", "[1,2,3,4]", "[3,1,2,4]", 0 },
	{ "array of objects", "[{\"a\":1}]", "[{\"a\":1},{\"b\":[1]}]", "[{\"a\":1},{\"c\":1}]",
		"[{\"a\":1},{\"b\":[1]},{\"c\":1}]", 0 },
	{ "array, all removed", "[1,2]", "[1]", "[2]", "[]", 0 },
	/* nothing to start from */
	{ "no base", NULL, "{\"a\":1}", "{\"b\":2}", "{\"a\":1,\"b\":2}", 0 },
	{ "a broken base", "{\"a\":", "{\"a\":1}", "{\"a\":1,\"b\":2}", "{\"a\":1,\"b\":2}", 0 },
	{ "a broken host", "{}", "{\"a\":", "{\"b\":2}", NULL, 0 },
	{ "a broken box", "{}", "{\"a\":1}", "{\"b\":2", NULL, 0 },
	/* what agents write */
	{ "numbers keep their spelling", "{}",
		"{\"a\":0.1,\"b\":123456789012345678901234567890,\"c\":1e400}", "{\"d\":1.0}",
		"{\"a\":0.1,\"b\":123456789012345678901234567890,\"c\":1e400,\"d\":1.0}", 0 },
	{ "half a surrogate pair", "{}", "{\"a\":\"\\ud83d\"}", "{\"b\":\"\\ude00\\u0000\"}",
		"{\"a\":\"\\ud83d\",\"b\":\"\\ude00\\u0000\"}", 0 },
	{ "keys are compared by meaning", "{\"\\u0061\":1}", "{\"\\u0061\":2,\"h\":1}", "{\"a\":1}",
		"{\"\\u0061\":2,\"h\":1}", 0 },
	{ "strings are compared by meaning", "{\"a\":\"\xf0\x9f\x98\x80\"}",
		"{\"a\":\"\\ud83d\\ude00\",\"h\":1}", "{\"a\":\"\xf0\x9f\x98\x80\",\"x\":1}",
		"{\"a\":\"\\ud83d\\ude00\",\"h\":1,\"x\":1}", 0 },
	{ "of equal names the last counts", "{\"a\":1}", "{\"a\":1,\"a\":2}", "{\"a\":1,\"b\":1}",
		"{\"a\":2,\"b\":1}", 0 },
	{ "equal names on every side", "[{\"a\":1,\"a\":2}]", "[{\"a\":1,\"a\":2},1]",
		"[{\"a\":1,\"a\":2},2]", "[{\"a\":1,\"a\":2},1,2]", 0 },
	{ "indentation is the box's", "{}", "{\"h\":{\"a\":[1,{}]}}", "{\n  \"x\": []\n}\n",
		"{\n  \"h\": {\n    \"a\": [\n      1,\n      {}\n    ]\n  },\n  \"x\": []\n}\n",
		0 },
	{ "a byte order mark", "{}", "\xef\xbb\xbf{\"a\":1}", "{\"b\":1}", "{\"a\":1,\"b\":1}", 0 },
};

static void test_merges(void)
{
	for (size_t i = 0; i < sizeof merges / sizeof *merges; i++) {
		const struct merge_case *c = &merges[i];
		AUTO_TEXT merged = { 0 };
		unsigned conflicts = 0;
		struct err e = { 0 };
		int result = json_merge(
			bytes(c->base), bytes(c->host), bytes(c->box), &merged, &conflicts, &e);
		if (!c->want) {
			check(result < 0 && e.text[0], c->name);
			continue;
		}
		check_string(merged.data ? merged.data : e.text, c->want, c->name);
		if (conflicts != c->conflicts)
			check(conflicts == c->conflicts, c->name);

		/* A merge that was cut short after the rename is done again: nothing may change. */
		AUTO_TEXT again = { 0 };
		json_merge(bytes(c->base), bytes(merged.data), bytes(c->box), &again, &conflicts,
			NULL);
		struct text *want = &merged;
		if (!again.data || strcmp(again.data, want->data) != 0)
			printf("# %s: again: %s\n", c->name, again.data ? again.data : "(none)");
		check(again.data && json_check(bytes(again.data), "", NULL) == 0 &&
				again.length == want->length,
			"... and the same a second time");
	}
}

static const char *const well_formed[] = { "{}", "[]", " [ 1 , -0.5e+10 , \"\\\\\\\"\" ] ", "null",
	"\"\"", "-0", "{\"\":{\"\":[]}}", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\x7f\"",
	"[true,false]" };

static const char *const ill_formed[] = { "", " ", "{", "}", "[1,]", "{\"a\":1,}", "{a:1}", "[1 2]",
	"01", "1.", ".5", "+1", "-", "1e", "nul", "nulll", "\"", "\"\\x\"", "\"\\u12g4\"", "\"\n\"",
	"\"\xff\"", "\"\xc0\x80\"", "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"", "\"\xe2\x82\"",
	"[1]x", "{\"a\"}", "{\"a\":}", "{1:2}", "NaN", "'a'", "/**/1", "\"\\", "\"\\u",
	"\"\\\0\"" };

static void test_form(void)
{
	bool all = true;
	for (size_t i = 0; i < sizeof well_formed / sizeof *well_formed; i++)
		if (json_check(bytes(well_formed[i]), "t", NULL) < 0) {
			printf("# refused: %s\n", well_formed[i]);
			all = false;
		}
	check(all, "well-formed documents are accepted");
	all = true;
	for (size_t i = 0; i < sizeof ill_formed / sizeof *ill_formed; i++)
		if (json_check(bytes(ill_formed[i]), "t", NULL) == 0) {
			printf("# accepted: %s\n", ill_formed[i]);
			all = false;
		}
	check(all, "ill-formed documents are refused");
	struct err e = { 0 };
	json_check(bytes("{\n\"a\":\n1,,}"), "FILE", &e);
	check(strncmp(e.text, "FILE:3: ", 8) == 0, "the sentence names the line");
}

static char *repeat(const char *unit, size_t count, const char *before, const char *after)
{
	AUTO_TEXT out = { 0 };
	text_add(&out, before);
	for (size_t i = 0; i < count; i++)
		text_add(&out, unit);
	text_add(&out, after);
	return text_take(&out);
}

static void test_limits(void)
{
	AUTO_FREE char *deep = repeat("[", 100000, "", "");
	struct err e = { 0 };
	check(json_check(bytes(deep), "t", &e) < 0 && strstr(e.text, "levels"),
		"levels are limited");
	AUTO_FREE char *many = repeat("1,", JSON_VALUES, "[", "1]");
	check(json_check(bytes(many), "t", &e) < 0 && strstr(e.text, "values"),
		"values are limited");
	struct json_bytes large = { many, (size_t)JSON_LIMIT + 1 };
	check(json_check(large, "t", &e) < 0 && strstr(e.text, "large"), "bytes are limited");

	/* 20,000 names in three versions must not take time that grows with the square. */
	AUTO_TEXT names = { 0 };
	for (int i = 0; i < 20000; i++)
		text_format(&names, "\"name %d\":%d,", i, i);
	AUTO_FREE char *host = memory_format("{%s\"h\":1}", names.data);
	AUTO_FREE char *box = memory_format("{\"x\":1,%s\"x\":2}", names.data);
	AUTO_FREE char *base = memory_format("{%s\"b\":1}", names.data);
	AUTO_TEXT merged = { 0 };
	unsigned conflicts;
	check(json_merge(bytes(base), bytes(host), bytes(box), &merged, &conflicts, NULL) == 0 &&
			strstr(merged.data, "\"h\":1,\"x\":2}") && !strstr(merged.data, "\"b\":1"),
		"20,000 names");
}

int main(void)
{
	test_form();
	test_merges();
	test_limits();
	return test_done();
}
