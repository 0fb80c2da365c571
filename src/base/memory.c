/* SPDX-License-Identifier: MIT */
#include "base/memory.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static void *checked(void *pointer)
{
	if (!pointer) {
		notice("out of memory");
		_Exit(EXIT_HUTCH);
	}
	return pointer;
}

void *memory_alloc(size_t count, size_t size)
{
	return checked(calloc(count ? count : 1, size));
}

void *memory_grow(void *old, size_t count, size_t size)
{
	return checked(reallocarray(old, count, size));
}

char *memory_string(const char *text)
{
	return checked(strdup(text));
}

char *memory_slice(const char *text, size_t length)
{
	return checked(strndup(text, length));
}

char *memory_format(const char *format, ...)
{
	char *text = NULL;
	va_list arguments;
	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	return checked(text);
}
