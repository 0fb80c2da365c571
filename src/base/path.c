/* SPDX-License-Identifier: MIT */
#include "base/path.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"

static bool is_dot(const char *name, size_t length)
{
	return length == 1 && name[0] == '.';
}

static bool is_dot_dot(const char *name, size_t length)
{
	return length == 2 && name[0] == '.' && name[1] == '.';
}

bool path_is_normal(const char *path)
{
	if (path[0] != '/')
		return false;
	if (path[1] == '\0')
		return true;
	for (const char *p = path; *p;) {
		const char *name = p + 1;
		size_t length = strcspn(name, "/");
		if (length == 0 || is_dot(name, length) || is_dot_dot(name, length))
			return false;
		p = name + length;
	}
	return true;
}

static void drop_last(struct text *t)
{
	while (t->length && t->data[t->length - 1] != '/')
		t->length--;
	if (t->length)
		t->length--;
	if (t->data)
		t->data[t->length] = '\0';
}

static void add_components(struct text *t, const char *path)
{
	while (*path) {
		size_t length = strcspn(path, "/");
		if (is_dot_dot(path, length)) {
			drop_last(t);
		} else if (length && !is_dot(path, length)) {
			text_add(t, "/");
			text_add_bytes(t, path, length);
		}
		path += length;
		path += strspn(path, "/");
	}
}

char *path_absolute(const char *directory, const char *path)
{
	struct text t = { 0 };
	if (path[0] != '/')
		add_components(&t, directory);
	add_components(&t, path);
	if (t.length == 0)
		text_add(&t, "/");
	return text_take(&t);
}

char *path_join(const char *directory, const char *name)
{
	const char *slash = strcmp(directory, "/") == 0 ? "" : "/";
	return memory_format("%s%s%s", directory, slash, name);
}

bool path_is_within(const char *path, const char *parent)
{
	size_t length = strlen(parent);
	if (strcmp(parent, "/") == 0)
		return true;
	return strncmp(path, parent, length) == 0 && (path[length] == '\0' || path[length] == '/');
}

const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

char *path_parent(const char *path)
{
	const char *slash = strrchr(path, '/');
	if (!slash || slash == path)
		return memory_string("/");
	return memory_slice(path, (size_t)(slash - path));
}
