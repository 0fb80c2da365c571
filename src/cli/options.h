/* SPDX-License-Identifier: MIT */
/* The command line, read by one table (options.def) for every verb. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/strings.h"
#include "policy/layers.h"

enum verb {
#define VERB(c, word, arguments, help) VERB_##c,
#include "cli/verbs.def"
#undef VERB
	VERB_COUNT,
	VERB_help,
	VERB_version,
};

struct verb_info {
	const char *word;
	const char *arguments;
	const char *help;
};

extern const struct verb_info verb_info[VERB_COUNT];

enum option_action { OPTION_SET, OPTION_FIX, OPTION_FLAG };

struct option_info {
	const char *name;
	char letter;
	const char *argument; /* NULL: takes none */
	unsigned verbs;       /* bit per enum verb */
	enum option_action action;
	enum key key;
	const char *text;
	const char *completion;
	const char *help;
};

extern const struct option_info option_info[];
extern const size_t option_count;

struct options {
	enum verb verb;
	struct layers_flag *value; /* for the topmost layer of the policy */
	size_t count;
	struct strings texts; /* what the values point to */
	struct strings flags; /* "format=json", "print" */
	struct strings
		rest; /* what is left: the command, or the verb's own arguments; a copy, since
				 init overwrites argv */
};

/* Read the arguments. What follows the command belongs to the command. Values that were given after
 * -e, where they may be secrets, are overwritten in `argv`. */
int options_parse(int argc, char **argv, struct options *ret_options, struct err *e);
void options_free(struct options *options);

/* The value of a FLAG option: "" for one without argument; NULL when it was not given. */
const char *options_flag(const struct options *options, const char *name);

/* Does an option belong to a verb? */
bool option_for_verb(const struct option_info *option, enum verb verb);

/* Text of --help for one verb, or for all (VERB_help). */
struct text;
void help_show(enum verb verb, struct text *out);
