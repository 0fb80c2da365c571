/* SPDX-License-Identifier: MIT */
#include "policy/nix_settings.h"

#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

/* `length` bytes that are one line. */
static bool is_private(const char *line, size_t length)
{
	static const char *const names[] = { "access-tokens", "extra-access-tokens", "netrc-file",
		"secret-key-files", "extra-secret-key-files", "include", "!include" };
	AUTO_FREE char *copy = memory_slice(line, length);
	char *name = copy + strspn(copy, " \t");
	name[strcspn(name, " \t\r=#")] = '\0';
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

char *nix_settings_public(const char *settings)
{
	struct text public = { 0 };
	for (const char *line = settings; *line;) {
		size_t length = strcspn(line, "\n");
		if (!is_private(line, length)) {
			text_add_bytes(&public, line, length);
			text_add(&public, "\n");
		}
		line += length + (line[length] == '\n');
	}
	return text_take(&public);
}
