/* SPDX-License-Identifier: MIT */
#include "formats/yaml.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "tests/unit/test.h"

/* The tree on one line: maps {key:value,}, lists [value,], scalars as they are. */
static void show(const struct yaml *node, struct text *out)
{
	if (node->key)
		text_format(out, "%s:", node->key);
	if (node->kind == YAML_SCALAR) {
		text_add(out, node->scalar);
		return;
	}
	text_add(out, node->kind == YAML_LIST ? "[" : "{");
	for (size_t i = 0; i < node->count; i++) {
		show(&node->child[i], out);
		text_add(out, ",");
	}
	text_add(out, node->kind == YAML_LIST ? "]" : "}");
}

static char *parsed(const char *data, size_t length)
{
	struct yaml *document = NULL;
	struct err e = { 0 };
	struct text out = { 0 };
	if (yaml_parse(data, length, "F", &document, &e) < 0)
		return memory_string(e.text);
	show(document, &out);
	yaml_free(document);
	return text_take(&out);
}

static void test_values(void)
{
	static const struct {
		const char *data, *want, *name;
	} cases[] = {
		{ "", "{}", "an empty file is an empty map" },
		{ "# all commented out\n", "{}", "a comment alone is an empty map" },
		{ "---\n~\n", "{}", "null is an empty map" },
		{ "a: 1\nb: [x, \"y z\", ~, null, '~']\n", "{a:1,b:[x,y z,,,~,],}",
			"null is empty, quoted it is not" },
		{ "a: yes\nb: 0x10\nc: 1e3\n", "{a:yes,b:0x10,c:1e3,}", "values stay as written" },
		{ "a: |\n  one\n  two\n", "{a:one\ntwo\n,}", "block text" },
		{ "a:\n  - b: 1\n    c: 2\n  - d\n", "{a:[{b:1,c:2,},d,],}", "nesting" },
		{ "{\"a\":\n\t[1, true, {\"b\": \"x\\ty\"}]}", "{a:[1,true,{b:x\ty,},],}",
			"JSON, with tabs" },
		{ "a: [\n  1,\n]\nb: 2\n", "{a:[1,],b:2,}",
			"a bracket closed in the first column" },
		{ "\xef\xbb\xbf"
		  "a: \xc3\xa9\n",
			"{a:\xc3\xa9,}", "a byte order mark and UTF-8" },
		{ "'a b': 1\n", "{a b:1,}", "a quoted key" },
		{ "a: b\r\nc: d\r\n", "{a:b,c:d,}", "lines that end as on Windows" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		AUTO_FREE char *have = parsed(cases[i].data, strlen(cases[i].data));
		check_string(have, cases[i].want, cases[i].name);
	}
}

static void test_refusals(void)
{
	static const struct {
		const char *data, *want, *name;
	} cases[] = {
		{ "a: &x 1\n", "F:1:7: anchors (&NAME) are not allowed here", "anchors" },
		{ "b: *x\n", "F:1:5: aliases (*NAME) are not allowed here; write the value out",
			"aliases" },
		{ "a: !!str 1\n", "F:1:10: tags (!NAME) are not allowed here", "tags" },
		{ "a: 1\nb: 2\na: 3\n", "F:3:1: the key 'a' is already in line 1",
			"duplicate keys" },
		{ "x: {a: 1, \"a\": 2}\n", "F:1:11: the key 'a' is already in line 1",
			"duplicate keys of one line" },
		{ "a: 1\n---\nb: 2\n", "F:2:1: a second document (---) is not allowed",
			"two documents" },
		{ "? [a]\n: b\n", "F:1:3: a key must be a word, not a list or a map",
			"keys that are lists" },
		{ "a: \"x\\0y\"\n", "F:1:4: a value cannot contain the character NUL", "NUL" },
		{ "a: \xff\n", "F:1:4: not UTF-8", "broken UTF-8" },
		{ "a: \xed\xa0\x80\n", "F:1:4: not UTF-8", "a surrogate" },
		{ "a: 1\nb: \033[31m\n", "F:2:4: a control character", "control characters" },
		{ "a: b\rc\n", "F:1:5: a control character", "a carriage return alone" },
		{ "%YAML 1.1\n---\na: 1\n", "F:1:1: directives (%NAME) are not allowed here",
			"directives" },
		{ "\xef\xbb\xbf%A\n", "F:1:1: directives (%NAME) are not allowed here",
			"directives after a byte order mark" },
		{ "[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]", "F:1:17: nested too deeply", "depth" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		AUTO_FREE char *have = parsed(cases[i].data, strlen(cases[i].data));
		AUTO_FREE char *name = memory_format("refused: %s", cases[i].name);
		check_string(have, cases[i].want, name);
	}
}

/* libfyaml's own words are not ours to test, but where it points to is. */
static void test_syntax(void)
{
	static const struct {
		const char *data, *want;
	} cases[] = {
		{ "a: [1\n", "F:2:1: " },
		{ "a: b: c\n", "F:1:5: " },
		{ "a: 1\nb: \"x\n", "F:2:" },
		{ "\ta: 1\n", "F:1:1: " },
		{ "a: @x\n", "F:1:4: " },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		AUTO_FREE char *have = parsed(cases[i].data, strlen(cases[i].data));
		AUTO_FREE char *name = memory_format("syntax error %zu says where", i);
		bool right = strncmp(have, cases[i].want, strlen(cases[i].want)) == 0;
		if (!right)
			printf("# %s\n", have);
		check(right, name);
	}
}

static void test_limits(void)
{
	size_t size = YAML_LIMIT + 1;
	AUTO_FREE char *big = memory_alloc(size, 1);
	memset(big, '#', size);
	AUTO_FREE char *over = parsed(big, size);
	check_string(over, "F:1:1: larger than 1 MiB", "one byte too many");
	AUTO_FREE char *just = parsed(big, size - 1);
	check_string(just, "{}", "one MiB");

	memset(big, '\n', size);
	AUTO_FREE char *lines = parsed(big, size - 1);
	check_string(lines, "F:101:1: too many empty lines", "a MiB of empty lines");

	AUTO_TEXT keys = { 0 };
	for (unsigned i = 0; i < 100000; i++)
		text_format(&keys, "k%u: 1\n", i);
	struct yaml *document = NULL;
	struct err e = { 0 };
	check(yaml_parse(keys.data, keys.length, "F", &document, &e) == 0 &&
			document->count == 100000,
		"a hundred thousand keys");
	yaml_free(document);
}

static void test_positions(void)
{
	static const char data[] = "a:\n  - x\n  - \"y\"\nb: {c: 'd'}\n";
	struct yaml *document = NULL;
	if (yaml_parse(data, sizeof data - 1, "F", &document, NULL) < 0) {
		check(false, "positions");
		return;
	}
	const struct yaml *list = yaml_get(document, "a"), *map = yaml_get(document, "b");
	check(list && list->line == 1 && list->column == 1, "an entry is where its key is");
	check(list && list->child[1].line == 3 && list->child[1].column == 5,
		"a quoted item is where its quote is");
	check(map && yaml_get(map, "c")->line == 4 && yaml_get(map, "c")->column == 5,
		"a flow entry is where its key is");
	check(!yaml_get(document, "c") && !yaml_get(list, "x"), "what is absent is NULL");
	yaml_free(document);
	yaml_free(NULL);
}

/* Bytes that were written to stderr by a parse that fails. */
static void test_quiet(void)
{
	int ends[2];
	char byte;
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return;
	int kept = dup(STDERR_FILENO);
	dup2(ends[1], STDERR_FILENO);
	free(parsed("a: [1\nb: &", 10));
	free(parsed("a: 1\n%YAML 9.9\n", 15));
	dup2(kept, STDERR_FILENO);
	close(kept);
	close(ends[1]);
	check(read(ends[0], &byte, 1) == 0, "nothing is printed on stderr");
	close(ends[0]);
}

int main(void)
{
	test_values();
	test_refusals();
	test_syntax();
	test_limits();
	test_positions();
	test_quiet();
	return test_done();
}
