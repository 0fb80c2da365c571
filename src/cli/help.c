/* SPDX-License-Identifier: MIT */
/* --help, made from verbs.def, verb_details.def and options.def; for a terminal of 80 columns. */
#include <string.h>

#include "base/text.h"
#include "cli/options.h"

enum { WIDTH = 79, VERB_COLUMN = 15, OPTION_COLUMN = 29 };

static const char *const verb_details[VERB_COUNT] = {
#define DETAILS(c, text) [VERB_##c] = text,
#include "cli/verb_details.def"
#undef DETAILS
};

/* Add the words of one line, broken so that every line starts at `column`. `at`: how far the
 * current line has got, which is less than `column` or a line that is empty yet. */
static void add_line(struct text *out, const char *line, size_t length, size_t column, size_t at)
{
	const char *end = line + length;
	bool first = true;
	while (line < end) {
		size_t word = strcspn(line, " \n");
		if (!first && at + 1 + word > WIDTH) {
			text_add(out, "\n");
			at = 0;
			first = true;
		}
		size_t gap = first ? column - at : 1;
		text_format(out, "%*s", (int)gap, "");
		text_add_bytes(out, line, word);
		at += gap + word;
		first = false;
		line += word + strspn(line + word, " ");
	}
	text_add(out, "\n");
}

static void add_wrapped(struct text *out, const char *words)
{
	for (;;) {
		size_t length = strcspn(words, "\n");
		add_line(out, words, length, 0, 0);
		if (!words[length])
			return;
		words += length + 1;
	}
}

/* NAME and what it means beside it; below it, where the name is too long. */
static void add_row(struct text *out, const char *name, const char *meaning, size_t column)
{
	size_t at = 2 + strlen(name);
	text_format(out, "  %s", name);
	if (at >= column) {
		text_add(out, "\n");
		at = 0;
	}
	add_line(out, meaning, strlen(meaning), column, at);
}

static void add_option(struct text *out, const struct option_info *option)
{
	AUTO_TEXT name = { 0 };
	if (option->letter)
		text_format(&name, "-%c, ", option->letter);
	else
		text_add(&name, "    ");
	text_format(&name, "--%s%s%s", option->name, option->argument ? " " : "",
		option->argument ? option->argument : "");
	add_row(out, name.data, option->help, OPTION_COLUMN);
}

/* The options of `verb`: those that make a plan, or those that do not. */
static void add_options(struct text *out, enum verb verb, bool of_runs, const char *title)
{
	bool first = true;
	for (size_t i = 0; i < option_count; i++) {
		const struct option_info *option = &option_info[i];
		if (!option_for_verb(option, verb) ||
			of_runs != option_for_verb(option, VERB_prompt))
			continue;
		if (first)
			text_format(out, "\n%s:\n", title);
		first = false;
		add_option(out, option);
	}
}

static void add_start(struct text *out)
{
	text_add(out,
		"usage: hutch [OPTION...] [--] COMMAND [ARGUMENT...]\n"
		"       hutch VERB [OPTION...] [ARGUMENT...]\n\n"
		"Run an AI coding agent, or any command, in a sandbox: it gets the current\n"
		"directory and its own state, and of the rest of your files only programs.\n\n"
		"  hutch claude            the agent, in this project\n"
		"  hutch -- bash           a shell, to look around\n"
		"  hutch plan claude       what it would see and be able to do\n\n"
		"verbs:\n");
	for (enum verb verb = 0; verb < VERB_COUNT; verb++)
		add_row(out, verb_info[verb].word, verb_info[verb].help, VERB_COLUMN);
}

static void add_verb(struct text *out, enum verb verb)
{
	text_format(out, "usage: hutch %s %s\n\n", verb_info[verb].word, verb_info[verb].arguments);
	add_wrapped(out, verb_info[verb].help);
	text_add(out, "\n");
	add_wrapped(out, verb_details[verb]);
}

void help_show(enum verb verb, struct text *out)
{
	bool all = verb >= VERB_COUNT;
	if (all)
		add_start(out);
	else
		add_verb(out, verb);
	add_options(out, all ? VERB_run : verb, true, "options of run, plan and prompt");
	add_options(out, all ? VERB_run : verb, false, all ? "other options" : "options");
	if (!all) {
		text_add(out, "\nmore: hutch --help, man hutch\n");
		return;
	}
	add_row(out, "-h, --help", "this text; after a verb, about that verb", OPTION_COLUMN);
	add_row(out, "    --version", "print the version", OPTION_COLUMN);
	text_add(out, "\n");
	add_wrapped(out, verb_details[VERB_run]);
	text_add(out, "\nmore: hutch VERB --help, man hutch, man hutch-config, man hutch-agents\n");
}
