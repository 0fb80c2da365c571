/* SPDX-License-Identifier: MIT */
#include "policy/policy.h"

#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"

const struct key_info key_info[KEY_COUNT] = {
#define KEY(c, name, type, merge, who, fallback, help)                                             \
	[KEY_##c] = { name, TYPE_##type, MERGE_##merge, WHO_##who, fallback, help },
#include "policy/keys.def"
#undef KEY
};

const struct word_info word_info[WORD_COUNT] = {
#define WORD(key, c, word, takes_text) [WORD_##key##_##c] = { KEY_##key, word, takes_text },
#include "policy/words.def"
#undef WORD
};

int key_find(const char *name, enum key *ret_key, struct err *e)
{
	const char *nearest = NULL;
	for (enum key key = 0; key < KEY_COUNT; key++) {
		if (strcmp(key_info[key].name, name) == 0) {
			*ret_key = key;
			return 0;
		}
		word_nearest(name, key_info[key].name, &nearest);
	}
	err_set(e, 0, "there is no setting '%s'", name);
	if (nearest)
		err_hint(e, "the nearest is '%s'; hutch config lists them all", nearest);
	else
		err_hint(e, "hutch config lists them all");
	return -1;
}

static bool word_find(enum key key, const char *text, enum word *ret_word)
{
	size_t length = strcspn(text, "=");
	for (enum word word = 0; word < WORD_COUNT; word++) {
		const struct word_info *info = &word_info[word];
		if (info->key == key && strncmp(info->word, text, length) == 0 &&
			info->word[length] == '\0' &&
			(text[length] == '\0' || (info->takes_text && text[length + 1]))) {
			*ret_word = word;
			return true;
		}
	}
	return false;
}

static int word_parse(enum key key, const char *text, enum word *ret_word, struct err *e)
{
	if (word_find(key, text, ret_word))
		return 0;
	AUTO_TEXT list = { 0 };
	const char *nearest = NULL;
	for (enum word word = 0; word < WORD_COUNT; word++) {
		const struct word_info *info = &word_info[word];
		if (info->key != key)
			continue;
		word_nearest(text, info->word, &nearest);
		text_format(&list, "%s%s%s", list.length ? ", " : "", info->word,
			info->takes_text ? "[=TEXT]" : "");
	}
	err_set(e, 0, "%s cannot be '%s'; it is one of: %s", key_info[key].name, text, list.data);
	if (nearest)
		err_hint(e, "did you mean '%s'?", nearest);
	return -1;
}

static int switch_parse(enum key key, const char *text, uint64_t *ret_number, struct err *e)
{
	bool yes = strcmp(text, "yes") == 0 || strcmp(text, "true") == 0;
	bool no = strcmp(text, "no") == 0 || strcmp(text, "false") == 0;
	if (!yes && !no)
		return err_set(e, 0, "%s must be yes or no, not '%s'", key_info[key].name, text);
	*ret_number = yes;
	return 0;
}

/* Read `text` as a value of `key` into `setting` (its word or number; items are untouched). */
static int value_parse(enum key key, const char *text, struct setting *setting, struct err *e)
{
	const char *name = key_info[key].name;
	switch (key_info[key].type) {
	case TYPE_WORD:
		return word_parse(key, text, &setting->word, e);
	case TYPE_SWITCH:
		return switch_parse(key, text, &setting->number, e);
	case TYPE_SIZE:
		if (size_parse(text, &setting->number, e) < 0)
			return err_prefix(e, "%s", name);
		return 0;
	case TYPE_DURATION:
		if (duration_parse(text, &setting->number, e) < 0)
			return err_prefix(e, "%s", name);
		return 0;
	case TYPE_COUNT:
		return number_parse(text, name, 1, 1u << 22, &setting->number, e);
	case TYPE_TEXT:
	case TYPE_LIST:
		return 0;
	}
	return -1;
}

int policy_check(enum key key, const char *text, struct err *e)
{
	struct setting ignored = { 0 };
	return value_parse(key, text, &ignored, e);
}

static void setting_clear(struct setting *setting)
{
	for (size_t i = 0; i < setting->count; i++) {
		free(setting->item[i].text);
		free(setting->item[i].origin);
	}
	free(setting->item);
	setting->item = NULL;
	setting->count = 0;
}

int policy_set(
	struct policy *policy, enum key key, const char *text, const char *origin, struct err *e)
{
	struct setting *setting = &policy->setting[key];
	if (value_parse(key, text, setting, e) < 0)
		return -1;
	if (key_info[key].merge == MERGE_REPLACE || *text == '\0')
		setting_clear(setting);
	if (*text == '\0' && key_info[key].type == TYPE_LIST)
		return 0;
	setting->item = memory_grow(setting->item, setting->count + 1, sizeof *setting->item);
	setting->item[setting->count++] =
		(struct item){ memory_string(text), memory_string(origin) };
	return 0;
}

bool policy_narrows(const struct policy *policy, enum key key, const char *text)
{
	const struct setting *now = &policy->setting[key];
	struct setting wanted = { 0 };
	struct err ignored;
	if (key_info[key].who != WHO_ANYONE || value_parse(key, text, &wanted, &ignored) < 0)
		return false;
	switch (key_info[key].type) {
	case TYPE_WORD:
		return wanted.word >= now->word;
	case TYPE_SIZE:
	case TYPE_DURATION:
	case TYPE_COUNT:
		return now->count == 0 || wanted.number <= now->number;
	case TYPE_LIST:
		return *text != '\0'; /* such a list only takes away; it may grow, not be reset */
	case TYPE_SWITCH:
	case TYPE_TEXT:
		return false;
	}
	return false;
}

void policy_defaults(struct policy *policy)
{
	for (enum key key = 0; key < KEY_COUNT; key++)
		if (key_info[key].fallback)
			policy_set(policy, key, key_info[key].fallback, "default", NULL);
}

void policy_free(struct policy *policy)
{
	for (enum key key = 0; key < KEY_COUNT; key++)
		setting_clear(&policy->setting[key]);
}

const char *policy_value(const struct policy *policy, enum key key)
{
	const struct setting *setting = &policy->setting[key];
	if (setting->count == 0)
		return NULL;
	const char *text = setting->item[0].text;
	if (key_info[key].type != TYPE_WORD)
		return text;
	const char *equals = strchr(text, '=');
	return equals ? equals + 1 : NULL;
}

const char *policy_origin(const struct policy *policy, enum key key)
{
	const struct setting *setting = &policy->setting[key];
	return setting->count ? setting->item[0].origin : "default";
}
