/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/verb_bwrap.h"
#include "cli/verbs.h"
#include "kernel/process.h"
#include "kernel/title.h"

typedef int verb_function(struct options *options, int *ret_code, struct err *e);

static verb_function *const verb_functions[VERB_COUNT] = {
#define VERB(c, word, arguments, help) [VERB_##c] = verb_##c,
#include "cli/verbs.def"
#undef VERB
};

static int print_help(enum verb verb)
{
	AUTO_TEXT out = { 0 };
	help_show(verb, &out);
	return fputs(out.data, stdout) < 0 || fflush(stdout) != 0 ? EXIT_HUTCH : 0;
}

static int dispatch(struct options *options, int *ret_code, struct err *e)
{
	*ret_code = 0;
	if (options->verb == VERB_version) {
		puts("hutch " HUTCH_VERSION);
		return 0;
	}
	if (options_flag(options, "help")) {
		*ret_code = print_help(options->verb == VERB_run ? VERB_help : options->verb);
		return 0;
	}
	return verb_functions[options->verb](options, ret_code, e);
}

int main(int argc, char **argv)
{
	struct err e = { 0 };
	struct options options;
	int code = 0;
	process_guard_stdio();
	int first;
	if (bwrap_is_called(argc, argv, &first))
		return bwrap_main(argc - first, argv + first, first ? "hutch bwrap" : argv[0]);
	process_catch_limits();
	title_init(argc, argv);
	int result = options_parse(argc, argv, &options, &e);
	if (result == 0)
		result = dispatch(&options, &code, &e);
	options_free(&options);
	return result < 0 ? err_print(&e) : code;
}
