/* SPDX-License-Identifier: MIT */
/* A growing string. Start from `struct text t = {0}`; `data` is NULL or NUL-terminated. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct text {
	char *data;
	size_t length;
	size_t size;
};

void text_add(struct text *t, const char *more);
void text_add_bytes(struct text *t, const void *bytes, size_t length);
void text_format(struct text *t, const char *format, ...) PRINTF(2, 3);

/* Add `word` so that a POSIX shell reads it back as one word; plain words stay as they are. */
void text_add_shell_word(struct text *t, const char *word);

/* Add `value` so that a terminal shows it and does nothing else: control characters, marks that
 * turn the direction of writing, bytes that are not UTF-8 and the backslash become \n, \xNN or \\.
 */
void text_add_visible(struct text *t, const char *value);

/* The length of the character at `p` that a terminal shows without doing anything else; 0 for all others. */
size_t text_seen(const char *p);

/* Would text_add_visible leave `value` as it is, but for backslashes? */
bool text_is_visible(const char *value);

/* Add `value` as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD. */
void text_add_json_string(struct text *t, const char *value);

/* The string, owned by the caller (never NULL); `t` is empty afterwards. */
char *text_take(struct text *t);
void text_free(struct text *t);

#define AUTO_TEXT __attribute__((cleanup(text_free))) struct text
