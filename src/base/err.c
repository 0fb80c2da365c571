/* SPDX-License-Identifier: MIT */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

int err_set(struct err *e, int number, const char *format, ...)
{
	if (!e)
		return -1;
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(e->text, sizeof e->text, format, arguments);
	va_end(arguments);
	e->number = number;
	e->exit_code = EXIT_HUTCH;
	e->hint[0] = '\0';
	if (number) {
		size_t used = strlen(e->text);
		const char *why = strerrordesc_np(number);
		snprintf(
			e->text + used, sizeof e->text - used, ": %s", why ? why : "unknown error");
	}
	return -1;
}

int err_hint(struct err *e, const char *format, ...)
{
	if (!e)
		return -1;
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(e->hint, sizeof e->hint, format, arguments);
	va_end(arguments);
	return -1;
}

int err_prefix(struct err *e, const char *format, ...)
{
	if (!e)
		return -1;
	char prefix[sizeof e->text];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(prefix, sizeof prefix, format, arguments);
	va_end(arguments);

	size_t length = strnlen(prefix, sizeof prefix / 2);
	size_t kept = strnlen(e->text, sizeof e->text - length - 3);
	memmove(e->text + length + 2, e->text, kept);
	memcpy(e->text, prefix, length);
	memcpy(e->text + length, ": ", 2);
	e->text[length + 2 + kept] = '\0';
	return -1;
}

/* What acts on a terminal instead of being seen on it becomes \n, \t or \xNN: names that are put into a
 * sentence may come from a sandbox. */
static size_t escape_line(char *ret_line, size_t size, const char *text)
{
	size_t used = 0, length;
	for (const char *p = text; *p && used + 5 < size; p += length) {
		length = text_seen(p);
		memcpy(ret_line + used, p, length);
		used += length;
		if (length)
			continue;
		length = 1;
		if (*p == '\n')
			used += (size_t)sprintf(ret_line + used, "\\n");
		else if (*p == '\t')
			used += (size_t)sprintf(ret_line + used, "\\t");
		else
			used += (size_t)sprintf(ret_line + used, "\\x%02x", (unsigned char)*p);
	}
	return used;
}

/* One write, so that the lines of several processes do not mix. */
static void print_line(const char *text)
{
	char line[4 * sizeof((struct err *)0)->text + 16];
	size_t used = (size_t)sprintf(line, "hutch: ");
	used += escape_line(line + used, sizeof line - used - 1, text);
	line[used++] = '\n';
	ssize_t written = write(STDERR_FILENO, line, used);
	(void)written; /* there is no second place to complain to */
}

int err_print(const struct err *e)
{
	print_line(e->text);
	if (e->hint[0])
		print_line(e->hint);
	return e->exit_code ? e->exit_code : EXIT_HUTCH;
}

void notice(const char *format, ...)
{
	char text[2048];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	print_line(text);
}
