/* SPDX-License-Identifier: MIT */
#include "base/text.h"
#include "cli/options.h"

static void verbs_show(struct text *out)
{
	text_add(out, "usage: hutch [OPTION...] [--] COMMAND [ARGUMENT...]\n"
		      "       hutch VERB [OPTION...] [ARGUMENT...]\n\n"
		      "Run an AI coding agent, or any command, in a sandbox: it gets the current\n"
		      "directory and its own state, and nothing else of your machine.\n\n"
		      "  hutch claude            the agent, in this project\n"
		      "  hutch -- bash           a shell, to look around\n"
		      "  hutch plan claude       what it would see and be able to do\n\n"
		      "verbs:\n");
	for (enum verb verb = 0; verb < VERB_COUNT; verb++)
		text_format(out, "  %-12s %s\n", verb_info[verb].word, verb_info[verb].help);
}

static void option_show(const struct option_info *option, struct text *out)
{
	AUTO_TEXT left = { 0 };
	if (option->letter)
		text_format(&left, "-%c, ", option->letter);
	text_format(&left, "--%s", option->name);
	if (option->argument)
		text_format(&left, " %s", option->argument);
	text_format(out, "  %-26s%s%s\n", left.data, left.length > 25 ? "\n                            " : "",
		option->help);
}

void help_show(enum verb verb, struct text *out)
{
	bool all = verb == VERB_help || verb == VERB_run;
	if (all)
		verbs_show(out);
	else
		text_format(out, "usage: hutch %s %s\n\n%s\n", verb_info[verb].word,
			verb_info[verb].arguments, verb_info[verb].help);
	bool first = true;
	for (size_t i = 0; i < option_count; i++) {
		if (!option_for_verb(&option_info[i], all ? VERB_run : verb))
			continue;
		if (first)
			text_add(out, all ? "\noptions of run, plan and prompt:\n" : "\noptions:\n");
		first = false;
		option_show(&option_info[i], out);
	}
	text_add(out, "\nmore: hutch VERB --help, man hutch\n");
}
