/* SPDX-License-Identifier: MIT */
/*
 * usage: manual OUTPUT TEMPLATE
 *
 * Run by the build: copies a manual page written in scdoc and puts, for each line "@NAME@", what
 * the program's own tables say: @verbs@, @options@, @guarantees@, @keys@, @agents@, @presets@.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "cli/options.h"
#include "policy/agent.h"
#include "policy/presets.h"

static const char *const verb_details[VERB_COUNT] = {
#define DETAILS(c, text) [VERB_##c] = text,
#include "cli/verb_details.def"
#undef DETAILS
};

static const struct {
	const char *name, *sentence;
} guarantees[] = {
#define GUARANTEE(c, name, sentence) { name, sentence },
#include "engines/guarantees.def"
#undef GUARANTEE
};

/* Text that scdoc is to take as it is; a line end of ours is one of the page's. */
static void add_plain(struct text *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\n') {
			text_add(out, text[1] == '\n' || text[-1] == '\n' ? "\n" : "++\n");
			continue;
		}
		if (strchr("*_\\<>[]|#~", *text))
			text_add(out, "\\");
		text_add_bytes(out, text, 1);
	}
}

/* Capital letter at the start, but for a word of a list ("off: nothing"), full stop at the end. */
static void add_sentence(struct text *out, const char *text)
{
	AUTO_FREE char *copy = memory_string(text);
	size_t length = strlen(copy);
	if (copy[0] >= 'a' && copy[0] <= 'z' && !strchr(":;[", copy[strcspn(copy, " :;[")]))
		copy[0] = (char)(copy[0] - 'a' + 'A');
	add_plain(out, copy);
	if (length && copy[length - 1] != '.')
		text_add(out, ".");
}

/* "[OPTION...] [--] COMMAND": what one types as it is, is not underlined. */
static void add_strong(struct text *out, const char *word)
{
	text_add(out, "*");
	for (; *word; word++) {
		if (strchr("*_\\", *word))
			text_add(out, "\\");
		text_add_bytes(out, word, 1);
	}
	text_add(out, "*");
}

static void add_option(struct text *out, const struct option_info *option, const char *indent)
{
	AUTO_FREE char *name = memory_format("--%s", option->name);
	text_add(out, indent);
	if (option->letter)
		text_format(out, "*-%c*, ", option->letter);
	add_strong(out, name);
	if (option->argument) {
		text_add(out, " ");
		add_plain(out, option->argument);
	}
	text_format(out, "\n%s\t", indent);
	add_sentence(out, option->help);
	text_add(out, "\n\n");
}

/* Options that belong to `verb`: those of runs, or its own. */
static void add_options(struct text *out, enum verb verb, bool of_runs, const char *indent)
{
	for (size_t i = 0; i < option_count; i++)
		if (option_for_verb(&option_info[i], verb) &&
			option_for_verb(&option_info[i], VERB_prompt) == of_runs)
			add_option(out, &option_info[i], indent);
}

static void verbs_section(struct text *out)
{
	for (enum verb verb = 0; verb < VERB_COUNT; verb++) {
		AUTO_FREE char *name = memory_format("hutch %s", verb_info[verb].word);
		add_strong(out, name);
		text_add(out, " ");
		add_plain(out, verb_info[verb].arguments);
		text_add(out, "\n\t");
		add_sentence(out, verb_info[verb].help);
		text_add(out, "\n\n\t");
		for (const char *p = verb_details[verb]; *p;) {
			size_t length = strcspn(p, "\n");
			AUTO_FREE char *line = memory_format("%.*s", (int)length, p);
			add_plain(out, line);
			p += length + strspn(p + length, "\n");
			text_add(out, *p ? "\n\n\t" : "\n\n");
		}
		add_options(out, verb, false, "\t");
	}
}

static void options_section(struct text *out)
{
	add_options(out, VERB_run, true, "");
}

static void guarantees_section(struct text *out)
{
	for (size_t i = 0; i < sizeof guarantees / sizeof guarantees[0]; i++) {
		add_strong(out, guarantees[i].name);
		text_add(out, "\n\t");
		add_sentence(out, guarantees[i].sentence);
		text_add(out, "\n\n");
	}
}

static void add_words(struct text *out, enum key key)
{
	bool first = true;
	for (enum word word = 0; word < WORD_COUNT; word++) {
		if (word_info[word].key != key)
			continue;
		text_add(out, first ? "" : ", ");
		add_strong(out, word_info[word].word);
		if (word_info[word].takes_text)
			text_add(out, " (or _=TEXT_ after it)");
		first = false;
	}
}

static void add_type(struct text *out, enum key key)
{
	switch (key_info[key].type) {
	case TYPE_WORD:
		text_add(out, "One of ");
		add_words(out, key);
		break;
	case TYPE_TEXT:
		text_add(out, "A string");
		break;
	case TYPE_LIST:
		text_add(out, "A list");
		break;
	case TYPE_SWITCH:
		text_add(out, "*yes* or *no*");
		break;
	case TYPE_SIZE:
		text_add(out, "A number of bytes, with K, M, G or T after it for larger units");
		break;
	case TYPE_DURATION:
		text_add(out, "A number of seconds, or with ms, s, m, h or d after it");
		break;
	case TYPE_COUNT:
		text_add(out, "A number");
		break;
	}
}

static void add_key(struct text *out, enum key key)
{
	const struct key_info *info = &key_info[key];
	add_strong(out, info->name);
	text_add(out, "\n\t");
	add_sentence(out, info->help);
	text_add(out, "\n\n\t");
	add_type(out, key);
	if (info->fallback) {
		text_add(out, "; default ");
		add_strong(out, info->fallback);
	}
	text_add(out, info->merge == MERGE_APPEND ? "; layers add to it" : "; the last layer wins");
	text_add(out, info->who == WHO_ANYONE ? "; an untrusted project may narrow it"
					      : "; only the user");
	text_add(out, ".\n\n");
}

static void keys_section(struct text *out)
{
	for (enum key key = 0; key < KEY_COUNT; key++)
		add_key(out, key);
}

static void agents_section(struct text *out)
{
	for (size_t i = 0; i < agents_builtin_count; i++) {
		text_add(out, i ? ", " : "");
		add_strong(out, agents_builtin[i].name);
	}
	text_add(out, ".\n");
}

static void presets_section(struct text *out)
{
	for (size_t i = 0; i < presets_builtin_count; i++) {
		const struct preset_value *value = presets_builtin[i].value;
		add_strong(out, presets_builtin[i].name);
		text_add(out, "\n\t");
		for (; value->key; value++) {
			AUTO_FREE char *line = memory_format("%s: %s", value->key, value->text);
			add_plain(out, line);
			text_add(out, value[1].key ? ", " : ".\n\n");
		}
	}
}

static const struct section {
	const char *line;
	void (*add)(struct text *out);
} sections[] = {
	{ "@verbs@\n", verbs_section },
	{ "@options@\n", options_section },
	{ "@guarantees@\n", guarantees_section },
	{ "@keys@\n", keys_section },
	{ "@agents@\n", agents_section },
	{ "@presets@\n", presets_section },
};

static int copy_line(const char *line, struct text *out)
{
	for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
		if (strcmp(line, sections[i].line) == 0) {
			sections[i].add(out);
			return 0;
		}
	}
	text_add(out, line);
	return line[0] == '@' ? -1 : 0;
}

int main(int argc, char **argv)
{
	AUTO_TEXT out = { 0 };
	char line[4096];
	FILE *in = argc == 3 ? fopen(argv[2], "re") : NULL;
	if (!in) {
		fprintf(stderr, "usage: manual OUTPUT TEMPLATE\n");
		return 2;
	}
	while (fgets(line, sizeof line, in)) {
		if (copy_line(line, &out) < 0) {
			fprintf(stderr, "manual: %s: there is no section %s", argv[2], line);
			fclose(in);
			return 1;
		}
	}
	fclose(in);
	FILE *file = fopen(argv[1], "we");
	if (!file || fwrite(out.data, 1, out.length, file) != out.length || fclose(file) != 0) {
		fprintf(stderr, "manual: %s: %s\n", argv[1], strerrordesc_np(errno));
		return 1;
	}
	return 0;
}
