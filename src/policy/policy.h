/* SPDX-License-Identifier: MIT */
/*
 * A policy is what the user wants: one value per key of keys.def, merged from layers (built-in
 * defaults, preset, /etc, user, project, flags), each remembering where it came from.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strings.h"

enum key {
#define KEY(c, name, type, merge, who, fallback, help) KEY_##c,
#include "policy/keys.def"
#undef KEY
	KEY_COUNT
};

enum key_type {
	TYPE_WORD,
	TYPE_TEXT,
	TYPE_LIST,
	TYPE_SWITCH,
	TYPE_SIZE,
	TYPE_DURATION,
	TYPE_COUNT
};
enum key_merge { MERGE_REPLACE, MERGE_APPEND };
enum key_who { WHO_ANYONE, WHO_USER };

/* The words of every WORD key in one enumeration: WORD_NETWORK_OFF and so on. */
enum word {
#define WORD(key, c, word, takes_text) WORD_##key##_##c,
#include "policy/words.def"
#undef WORD
	WORD_COUNT
};

struct key_info {
	const char *name;
	enum key_type type;
	enum key_merge merge;
	enum key_who who;
	const char *fallback; /* default, as written; NULL for none */
	const char *help;
};

struct word_info {
	enum key key;
	const char *word;
	bool takes_text;
};

extern const struct key_info key_info[KEY_COUNT];
extern const struct word_info word_info[WORD_COUNT];

/* One value and where it came from: "flag --bind", "FILE:LINE", "preset agent", "default". */
struct item {
	char *text;
	char *origin;
};

struct setting {
	struct item *item; /* one, except for lists */
	size_t count;
	enum word word;  /* WORD */
	uint64_t number; /* SIZE, DURATION, COUNT; SWITCH: 0 or 1 */
};

struct policy {
	struct setting setting[KEY_COUNT];
};

/* The key called `name`, or -1 with a sentence that names the nearest one. */
int key_find(const char *name, enum key *ret_key, struct err *e);

/* Is `text` a value that `key` can have? 0, or -1 with a sentence that begins with the key. */
int policy_check(enum key key, const char *text, struct err *e);

/* Check `text` as a value of `key` and put it into the policy. The empty string resets a list. */
int policy_set(
	struct policy *policy, enum key key, const char *text, const char *origin, struct err *e);

/* Would setting `key` to `text` take something away from what the policy allows (or change
 * nothing)? What an untrusted project file may do is exactly this. */
bool policy_narrows(const struct policy *policy, enum key key, const char *text);

/* Set every key that has a default. */
void policy_defaults(struct policy *policy);
void policy_free(struct policy *policy);

/* Accessors. A key that was never set has no items, number 0 and text NULL. */
static inline enum word policy_word(const struct policy *policy, enum key key)
{
	return policy->setting[key].word;
}
static inline uint64_t policy_number(const struct policy *policy, enum key key)
{
	return policy->setting[key].number;
}
/* The text; for a WORD with "=TEXT", what comes after the "=", or NULL. */
const char *policy_value(const struct policy *policy, enum key key);
/* Where the (first) value came from; "default" when it was never set. */
const char *policy_origin(const struct policy *policy, enum key key);
