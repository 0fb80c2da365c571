/* SPDX-License-Identifier: MIT */
#include "base/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Reads the leading digits. Returns what follows them, or NULL without digits or past 64 bits. */
static const char *digits_read(const char *text, uint64_t *ret_number)
{
	uint64_t number = 0;
	if (*text < '0' || *text > '9')
		return NULL;
	for (; *text >= '0' && *text <= '9'; text++)
		if (__builtin_mul_overflow(number, 10u, &number) ||
			__builtin_add_overflow(number, (uint64_t)(*text - '0'), &number))
			return NULL;
	*ret_number = number;
	return text;
}

int number_parse(const char *text, const char *what, uint64_t least, uint64_t most,
	uint64_t *ret_number, struct err *e)
{
	uint64_t number;
	const char *rest = digits_read(text, &number);
	if (!rest || *rest || number < least || number > most)
		return err_set(e, 0,
			"%s must be a number from %" PRIu64 " to %" PRIu64 ", not '%s'", what,
			least, most, text);
	*ret_number = number;
	return 0;
}

struct unit {
	const char *name;
	uint64_t factor;
};

static int scaled_parse(const char *text, const struct unit *unit, uint64_t *ret_number)
{
	uint64_t number;
	const char *rest = digits_read(text, &number);
	if (!rest)
		return -1;
	for (; unit->name; unit++)
		if (strcmp(rest, unit->name) == 0)
			return __builtin_mul_overflow(number, unit->factor, ret_number) ? -1 : 0;
	return -1;
}

int size_parse(const char *text, uint64_t *ret_bytes, struct err *e)
{
	static const struct unit units[] = { { "", 1 }, { "K", 1u << 10 }, { "M", 1u << 20 },
		{ "G", 1u << 30 }, { "T", (uint64_t)1 << 40 }, { NULL, 0 } };
	if (scaled_parse(text, units, ret_bytes) < 0 || *ret_bytes == 0)
		return err_set(e, 0, "'%s' is not a size; write for example 512M or 2G", text);
	return 0;
}

int duration_parse(const char *text, uint64_t *ret_milliseconds, struct err *e)
{
	static const struct unit units[] = { { "", 1000 }, { "ms", 1 }, { "s", 1000 },
		{ "m", 60000 }, { "h", 3600000 }, { "d", 86400000 }, { NULL, 0 } };
	if (scaled_parse(text, units, ret_milliseconds) < 0 || *ret_milliseconds == 0)
		return err_set(
			e, 0, "'%s' is not a duration; write for example 30s, 10m or 2h", text);
	return 0;
}

struct size_text size_show(uint64_t bytes)
{
	static const char unit[] = "\0KMGT";
	size_t i = 0;
	while (bytes && bytes % 1024 == 0 && i < 4) {
		bytes /= 1024;
		i++;
	}
	struct size_text shown;
	snprintf(shown.text, sizeof shown.text, i ? "%" PRIu64 "%c" : "%" PRIu64, bytes, unit[i]);
	return shown;
}
