/* SPDX-License-Identifier: MIT */
/* One function per verb, each in verb_NAME.c. On failure -1 with a sentence; else the exit code of
 * the whole program in `ret_code`. */
#pragma once

#include "cli/options.h"

#define VERB(c, word, arguments, help)                                                             \
	int verb_##c(struct options *options, int *ret_code, struct err *e);
#include "cli/verbs.def"
#undef VERB
