/* SPDX-License-Identifier: MIT */
#include "cli/options.h"

#include <string.h>

#include "base/memory.h"

const struct verb_info verb_info[VERB_COUNT] = {
#define VERB(c, word, arguments, help) [VERB_##c] = { word, arguments, help },
#include "cli/verbs.def"
#undef VERB
};

enum {
#define VERB(c, word, arguments, help) VERBS_##c = 1 << VERB_##c,
#include "cli/verbs.def"
#undef VERB
	VERBS_RUN = VERBS_run | VERBS_plan | VERBS_prompt,
};

const struct option_info option_info[] = {
#define OPTION(name, letter, argument, verbs, action, key, text, completion, help)                 \
	{ name, letter, argument, VERBS_##verbs, OPTION_##action, KEY_##key, text, completion,     \
		help },
#include "cli/options.def"
#undef OPTION
};
const size_t option_count = sizeof option_info / sizeof option_info[0];

bool option_for_verb(const struct option_info *option, enum verb verb)
{
	return option->verbs >> verb & 1;
}

static const struct option_info *find_long(const char *name, size_t length, enum verb verb)
{
	for (size_t i = 0; i < option_count; i++) {
		const struct option_info *option = &option_info[i];
		if (option_for_verb(option, verb) && strncmp(option->name, name, length) == 0 &&
			option->name[length] == '\0')
			return option;
	}
	return NULL;
}

static const struct option_info *find_letter(char letter, enum verb verb)
{
	for (size_t i = 0; i < option_count; i++)
		if (option_for_verb(&option_info[i], verb) && option_info[i].letter == letter)
			return &option_info[i];
	return NULL;
}

static int unknown(const char *word, enum verb verb, struct err *e)
{
	AUTO_FREE char *name = memory_slice(word, strcspn(word, "="));
	const char *nearest = NULL;
	for (size_t i = 0; name && i < option_count; i++)
		if (option_for_verb(&option_info[i], verb))
			word_nearest(name + strspn(name, "-"), option_info[i].name, &nearest);
	const char *of = verb == VERB_run ? "" : verb_info[verb].word;
	err_set(e, 0, "there is no option %s of hutch%s%s", name, *of ? " " : "", of);
	if (nearest)
		return err_hint(e, "did you mean --%s?", nearest);
	return err_hint(e, "hutch --help lists them; options of the command come after its name");
}

static void add(struct options *options, const struct option_info *option, const char *argument)
{
	if (option->action == OPTION_FLAG) {
		strings_take(&options->flags,
			memory_format("%s=%s", option->name, argument ? argument : ""));
		return;
	}
	options->value = memory_grow(options->value, options->count + 1, sizeof *options->value);
	strings_add(&options->texts, argument ? argument : option->text);
	strings_take(&options->texts, memory_format("--%s", option->name));
	options->value[options->count++] = (struct layers_flag){
		.key = option->key,
		.text = options->texts.item[options->texts.count - 2],
		.origin = options->texts.item[options->texts.count - 1],
	};
}

/* A value given to -e may be a secret; the name stays, so that ps shows what was meant. */
static void scrub(const struct option_info *option, char *argument)
{
	char *equals = option->key == KEY_ENV && option->action == OPTION_SET
			       ? strchr(argument, '=')
			       : NULL;
	if (equals)
		memset(equals + 1, '*', strlen(equals + 1));
}

/* One option at argv[0]; how many words it took, or -1. */
static int take_option(char **argv, struct options *options, struct err *e)
{
	char *word = argv[0], *attached = NULL;
	const struct option_info *option;
	if (word[1] == '-') {
		size_t length = strcspn(word + 2, "=");
		option = find_long(word + 2, length, options->verb);
		attached = word[2 + length] ? word + 2 + length + 1 : NULL;
	} else {
		option = find_letter(word[1], options->verb);
		attached = word[2] ? word + 2 : NULL;
	}
	if (!option)
		return unknown(word, options->verb, e);
	if (!option->argument) {
		if (attached)
			return err_set(e, 0, "--%s takes no argument", option->name);
		add(options, option, NULL);
		return 1;
	}
	char *argument = attached ? attached : argv[1];
	if (!argument)
		return err_set(e, 0, "--%s needs %s after it", option->name, option->argument);
	add(options, option, argument);
	scrub(option, argument);
	return attached ? 1 : 2;
}

static enum verb verb_find(const char *word)
{
	for (enum verb verb = 0; verb < VERB_COUNT; verb++)
		if (strcmp(verb_info[verb].word, word) == 0)
			return verb;
	return VERB_COUNT;
}

/* After these the first operand is a command, and what follows is its own. */
static bool takes_command(enum verb verb)
{
	return 1 << verb & VERBS_RUN;
}

/* An option of every verb at argv[0]; false when it is none. */
static bool take_common(const char *word, struct options *options)
{
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		strings_add(&options->flags, "help=");
	else if (strcmp(word, "--version") == 0)
		strings_add(&options->flags, "version=");
	else
		return false;
	return true;
}

static int take_options(char **argv, struct options *options, struct err *e)
{
	while (*argv) {
		const char *word = *argv;
		if (strcmp(word, "--") == 0) {
			argv++;
			break;
		}
		if (word[0] != '-' || !word[1]) {
			if (takes_command(options->verb))
				break;
			strings_add(&options->rest, word);
			argv++;
			continue;
		}
		int taken = take_common(word, options) ? 1 : take_option(argv, options, e);
		if (taken < 0)
			return -1;
		argv += taken;
	}
	while (*argv)
		strings_add(&options->rest, *argv++);
	return 0;
}

int options_parse(int argc, char **argv, struct options *ret_options, struct err *e)
{
	struct options *options = ret_options;
	*options = (struct options){ .verb = VERB_run };
	enum verb verb = argc > 1 ? verb_find(argv[1]) : VERB_COUNT;
	if (verb != VERB_COUNT)
		options->verb = verb;
	if (argc > 0 && take_options(argv + (verb == VERB_COUNT ? 1 : 2), options, e) < 0)
		return -1;
	if (options_flag(options, "version"))
		options->verb = VERB_version;
	return 0;
}

const char *options_flag(const struct options *options, const char *name)
{
	size_t length = strlen(name);
	for (size_t i = options->flags.count; i-- > 0;) {
		const char *flag = options->flags.item[i];
		if (strncmp(flag, name, length) == 0 && flag[length] == '=')
			return flag + length + 1;
	}
	return NULL;
}

void options_free(struct options *options)
{
	free(options->value);
	strings_free(&options->texts);
	strings_free(&options->flags);
	strings_free(&options->rest);
}
