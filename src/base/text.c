/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

static void text_reserve(struct text *t, size_t more)
{
	size_t need = t->length + more + 1;
	if (need <= t->size)
		return;
	size_t size = t->size ? t->size * 2 : 64;
	t->size = size < need ? need : size;
	t->data = memory_grow(t->data, t->size, 1);
}

void text_add_bytes(struct text *t, const void *bytes, size_t length)
{
	text_reserve(t, length);
	memcpy(t->data + t->length, bytes, length);
	t->length += length;
	t->data[t->length] = '\0';
}

void text_add(struct text *t, const char *more)
{
	text_add_bytes(t, more, strlen(more));
}

void text_format(struct text *t, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	va_list again;
	va_copy(again, arguments);
	int length = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	text_reserve(t, (size_t)length);
	vsnprintf(t->data + t->length, (size_t)length + 1, format, again);
	va_end(again);
	t->length += (size_t)length;
}

void text_add_shell_word(struct text *t, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_@%+=:,./-";
	if (*word && word[strspn(word, plain)] == '\0') {
		text_add(t, word);
		return;
	}
	text_add(t, "'");
	for (; *word; word++) {
		if (*word == '\'')
			text_add(t, "'\\''");
		else
			text_add_bytes(t, word, 1);
	}
	text_add(t, "'");
}

/* Length of the well-formed UTF-8 sequence at `p` (which ends in NUL), or 0. */
static size_t utf8_length(const unsigned char *p)
{
	if (p[0] < 0x80)
		return 1;
	size_t length = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	if (p[0] < 0xc2 || p[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < length; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	bool overlong = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xf0 && p[1] < 0x90);
	bool surrogate = p[0] == 0xed && p[1] > 0x9f;
	bool too_large = p[0] == 0xf4 && p[1] > 0x8f;
	return overlong || surrogate || too_large ? 0 : length;
}

/* Is this well-formed sequence one that acts on a terminal instead of being seen on it? */
static bool utf8_acts(const unsigned char *p, size_t length)
{
	if (length == 1)
		return *p < 0x20 || *p == 0x7f;
	if (length == 2)
		return p[0] == 0xc2 && p[1] < 0xa0;
	if (length != 3 || p[0] != 0xe2)
		return false;
	unsigned low = (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu); /* of U+2000 to U+2FFF */
	return low == 0x0e || low == 0x0f || (low >= 0x28 && low <= 0x2e) ||
	       (low >= 0x66 && low <= 0x69);
}

/* The code point of a well-formed sequence of up to three bytes. */
static unsigned utf8_short(const unsigned char *p, size_t length)
{
	if (length == 1)
		return *p;
	if (length == 2)
		return (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu);
	return (p[0] & 0x0fu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
}

size_t text_seen(const char *p)
{
	size_t length = utf8_length((const unsigned char *)p);
	return length && !utf8_acts((const unsigned char *)p, length) ? length : 0;
}

bool text_is_visible(const char *value)
{
	for (const unsigned char *p = (const unsigned char *)value; *p;) {
		size_t length = utf8_length(p);
		if (length == 0 || utf8_acts(p, length))
			return false;
		p += length;
	}
	return true;
}

void text_add_visible(struct text *t, const char *value)
{
	for (const unsigned char *p = (const unsigned char *)value; *p;) {
		size_t length = utf8_length(p);
		bool seen = length && !utf8_acts(p, length);
		length = length ? length : 1;
		if (*p == '\\')
			text_add(t, "\\\\");
		else if (seen)
			text_add_bytes(t, p, length);
		else if (*p == '\n')
			text_add(t, "\\n");
		else
			for (size_t i = 0; i < length; i++)
				text_format(t, "\\x%02x", p[i]);
		p += length;
	}
}

void text_add_json_string(struct text *t, const char *value)
{
	text_add(t, "\"");
	for (const unsigned char *p = (const unsigned char *)value; *p;) {
		size_t length = utf8_length(p);
		if (length == 0)
			text_add(t, "\xef\xbf\xbd");
		else if (*p == '"' || *p == '\\')
			text_format(t, "\\%c", *p);
		else if (*p == '\n')
			text_add(t, "\\n");
		else if (utf8_acts(p, length))
			text_format(t, "\\u%04x", utf8_short(p, length));
		else
			text_add_bytes(t, p, length);
		p += length ? length : 1;
	}
	text_add(t, "\"");
}

char *text_take(struct text *t)
{
	text_reserve(t, 0);
	t->data[t->length] = '\0';
	char *data = t->data;
	*t = (struct text){ 0 };
	return data;
}

void text_free(struct text *t)
{
	free(t->data);
	*t = (struct text){ 0 };
}
