/* SPDX-License-Identifier: MIT */
/* A growing list of owned strings; `item` is NULL or ends with a NULL, as argv does. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct strings {
	char **item;
	size_t count;
	size_t size;
};

void strings_add(struct strings *list, const char *value); /* copies */
void strings_take(struct strings *list, char *value);      /* owns */
bool strings_has(const struct strings *list, const char *value);
void strings_free(struct strings *list);

#define AUTO_STRINGS __attribute__((cleanup(strings_free))) struct strings

/* The number of single-character edits between two words; what "did you mean" is decided by. */
unsigned word_distance(const char *a, const char *b);

/* Keep in `*best` the nearer of it and `candidate` to `word`; `*best` starts as NULL. A candidate
 * that shares too little with the word is never taken. */
void word_nearest(const char *word, const char *candidate, const char **best);

/* Shell-style match of NAME against PATTERN, where only a trailing or leading `*` is special. */
bool word_matches(const char *name, const char *pattern);
