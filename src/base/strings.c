/* SPDX-License-Identifier: MIT */
#include "base/strings.h"

#include <string.h>

#include "base/memory.h"

void strings_take(struct strings *list, char *value)
{
	if (list->count + 2 > list->size) {
		list->size = list->size ? list->size * 2 : 8;
		list->item = memory_grow(list->item, list->size, sizeof *list->item);
	}
	list->item[list->count++] = value;
	list->item[list->count] = NULL;
}

void strings_add(struct strings *list, const char *value)
{
	strings_take(list, memory_string(value));
}

bool strings_has(const struct strings *list, const char *value)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->item[i], value) == 0)
			return true;
	return false;
}

void strings_free(struct strings *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->item[i]);
	free(list->item);
	*list = (struct strings){ 0 };
}

static unsigned smallest(unsigned a, unsigned b, unsigned c)
{
	unsigned least = a < b ? a : b;
	return least < c ? least : c;
}

unsigned word_distance(const char *a, const char *b)
{
	enum { LONGEST = 64 };
	size_t width = strnlen(b, LONGEST);
	unsigned row[LONGEST + 1];
	for (size_t j = 0; j <= width; j++)
		row[j] = (unsigned)j;
	for (size_t i = 0; a[i] && i < LONGEST; i++) {
		unsigned diagonal = row[0];
		row[0] = (unsigned)i + 1;
		for (size_t j = 0; j < width; j++) {
			unsigned changed = diagonal + (a[i] != b[j]);
			diagonal = row[j + 1];
			row[j + 1] = smallest(changed, row[j] + 1, row[j + 1] + 1);
		}
	}
	return row[width];
}

void word_nearest(const char *word, const char *candidate, const char **best)
{
	unsigned distance = word_distance(word, candidate);
	if (distance > 1 + strlen(word) / 3)
		return;
	if (!*best || distance < word_distance(word, *best))
		*best = candidate;
}

bool word_matches(const char *name, const char *pattern)
{
	if (pattern[0] != name[0] && pattern[0] != '*')
		return false; /* most are told apart by this */
	size_t length = strlen(pattern);
	if (length && pattern[length - 1] == '*')
		return strncmp(name, pattern, length - 1) == 0;
	if (pattern[0] == '*') {
		size_t have = strlen(name);
		return have >= length - 1 && strcmp(name + have - (length - 1), pattern + 1) == 0;
	}
	return strcmp(name, pattern) == 0;
}
