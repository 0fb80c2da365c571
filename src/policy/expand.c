/* SPDX-License-Identifier: MIT */
#include "policy/expand.h"

#include <string.h>

#include "base/memory.h"
#include "base/path.h"
#include "base/text.h"

static bool is_home(const char *path)
{
	return path[0] == '~' && (path[1] == '\0' || path[1] == '/');
}

static char *path_expand(const char *path, const char *directory, const char *home)
{
	if (!is_home(path))
		return path_absolute(directory, path);
	AUTO_FREE char *joined = memory_format("%s/%s", home, path + 1);
	return path_absolute("/", joined);
}

/* Copy up to the colon that divides, or to the end; returns what follows the colon, or NULL. */
static const char *part_read(const char *text, char **ret_part)
{
	struct text part = { 0 };
	for (; *text && *text != ':'; text++) {
		if (text[0] == '\\' && (text[1] == ':' || text[1] == '\\'))
			text++;
		text_add_bytes(&part, text, 1);
	}
	*ret_part = text_take(&part);
	return *text ? text + 1 : NULL;
}

void bind_split(const char *text, char **ret_source, char **ret_target)
{
	const char *rest = part_read(text, ret_source);
	if (rest)
		part_read(rest, ret_target);
	else
		*ret_target = memory_string(*ret_source);
}

static void part_write(struct text *text, const char *part)
{
	for (; *part; part++) {
		if (*part == ':' || *part == '\\')
			text_add(text, "\\");
		text_add_bytes(text, part, 1);
	}
}

char *bind_join(const char *source, const char *target)
{
	struct text text = { 0 };
	part_write(&text, source);
	if (strcmp(source, target) != 0) {
		text_add(&text, ":");
		part_write(&text, target);
	}
	return text_take(&text);
}

static int bind_expand(
	const char *text, const char *directory, const char *home, char **ret_text, struct err *e)
{
	AUTO_FREE char *source = NULL;
	AUTO_FREE char *target = NULL;
	bind_split(text, &source, &target);
	if (!*source || !*target)
		return err_set(e, 0, "'%s' is not PATH or SOURCE:TARGET", text);
	AUTO_FREE char *full_source = path_expand(source, directory, home);
	AUTO_FREE char *full_target = path_expand(target, directory, home);
	*ret_text = bind_join(full_source, full_target);
	return 0;
}

/* nix=./dir#name: the part before "#" or "?" is a path when it begins like one. */
static char *flake_expand(const char *text, const char *directory, const char *home)
{
	const char *equals = strchr(text, '=');
	if (!equals || (equals[1] != '.' && !is_home(equals + 1)))
		return memory_string(text);
	const char *flake = equals + 1;
	size_t length = strcspn(flake, "#?");
	AUTO_FREE char *path = memory_format("%.*s", (int)length, flake);
	AUTO_FREE char *full = path_expand(path, directory, home);
	return memory_format("%.*s%s%s", (int)(flake - text), text, full, flake + length);
}

int value_expand(enum key key, const char *text, const char *directory, const char *home,
	char **ret_text, struct err *e)
{
	if (*text && (key == KEY_BIND || key == KEY_BIND_RO))
		return bind_expand(text, directory, home, ret_text, e);
	if (*text && (key == KEY_MASK || key == KEY_ENV_FILE))
		*ret_text = path_expand(text, directory, home);
	else if (key == KEY_TOOLS)
		*ret_text = flake_expand(text, directory, home);
	else
		*ret_text = memory_string(text);
	return 0;
}
