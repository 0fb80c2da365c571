/* SPDX-License-Identifier: MIT */
/*
 * usage: config-schema OUTPUT
 *
 * Run by the build: writes the JSON Schema of config.yaml and .hutch.yaml from keys.def and
 * words.def, so that editors complete and check what hutch reads.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "policy/policy.h"

/* Plain words are an enumeration; those with "=TEXT" a pattern. */
static void add_words(struct text *out, enum key key)
{
	AUTO_TEXT words = { 0 }, patterns = { 0 };
	for (enum word word = 0; word < WORD_COUNT; word++) {
		if (word_info[word].key != key)
			continue;
		text_format(&words, "%s\"%s\"", words.length ? ", " : "", word_info[word].word);
		if (word_info[word].takes_text)
			text_format(&patterns, ", { \"type\": \"string\", \"pattern\": \"^%s=.\" }",
				word_info[word].word);
	}
	if (patterns.length)
		text_format(out, "\"anyOf\": [{ \"enum\": [%s] }%s]", words.data, patterns.data);
	else
		text_format(out, "\"enum\": [%s]", words.data);
}

#define SCALAR "[\"string\", \"number\", \"boolean\"]"

/* A list may be one value alone; variables may be a map. */
static void add_list(struct text *out, enum key key)
{
	text_add(out, "\"anyOf\": [{ \"type\": " SCALAR " }, "
		      "{ \"type\": \"array\", \"items\": { \"type\": " SCALAR " } }");
	if (key == KEY_ENV)
		text_add(out, ", { \"type\": \"object\", "
			      "\"additionalProperties\": { \"type\": " SCALAR " } }");
	text_add(out, "]");
}

static void add_type(struct text *out, enum key key)
{
	static const char number[] = "\"anyOf\": [{ \"type\": \"integer\", \"minimum\": 1 }, "
				     "{ \"type\": \"string\", \"pattern\": \"^[0-9]+(%s)?$\" }]";
	switch (key_info[key].type) {
	case TYPE_WORD:
		add_words(out, key);
		return;
	case TYPE_TEXT:
		text_add(out, "\"type\": [\"string\", \"number\"]");
		return;
	case TYPE_LIST:
		add_list(out, key);
		return;
	case TYPE_SWITCH:
		text_add(out, "\"enum\": [true, false, \"yes\", \"no\"]");
		return;
	case TYPE_SIZE:
		text_format(out, number, "[KMGT]");
		return;
	case TYPE_DURATION:
		text_format(out, number, "ms|[smhd]");
		return;
	case TYPE_COUNT:
		text_add(out, "\"type\": \"integer\", \"minimum\": 1, \"maximum\": 4194304");
		return;
	}
}

static void add_key(struct text *out, enum key key)
{
	text_format(out, "%s\n    \"%s\": {\n      \"description\": ", key ? "," : "",
		key_info[key].name);
	text_add_json_string(out, key_info[key].help);
	if (key_info[key].fallback && key_info[key].type != TYPE_LIST)
		text_format(out, ",\n      \"default\": \"%s\"", key_info[key].fallback);
	text_add(out, ",\n      ");
	add_type(out, key);
	text_add(out, "\n    }");
}

int main(int argc, char **argv)
{
	AUTO_TEXT out = { 0 };
	if (argc != 2) {
		fprintf(stderr, "usage: config-schema OUTPUT\n");
		return 2;
	}
	text_add(&out, "{\n  \"$schema\": \"http://json-schema.org/draft-07/schema#\",\n"
		       "  \"title\": \"hutch: config.yaml and .hutch.yaml\",\n"
		       "  \"type\": \"object\",\n  \"additionalProperties\": false,\n"
		       "  \"properties\": {");
	for (enum key key = 0; key < KEY_COUNT; key++)
		add_key(&out, key);
	text_add(&out, "\n  }\n}\n");
	FILE *file = fopen(argv[1], "we");
	if (!file || fwrite(out.data, 1, out.length, file) != out.length || fclose(file) != 0) {
		fprintf(stderr, "config-schema: %s: %s\n", argv[1], strerrordesc_np(errno));
		return 1;
	}
	return 0;
}
