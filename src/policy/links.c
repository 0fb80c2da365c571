/* SPDX-License-Identifier: MIT */
#include "policy/links.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"

/* `real` has no links. */
struct walk {
	char *real;
	size_t length;
	unsigned followed;
};

static void walk_up(struct walk *walk)
{
	while (walk->length && walk->real[walk->length - 1] != '/')
		walk->length--;
	if (walk->length)
		walk->length--;
	walk->real[walk->length] = '\0';
}

/* Take one component off `rest`; 0 at the end, -1 when the path becomes too long. */
static int walk_down(struct walk *walk, const char **rest, bool *ret_added)
{
	const char *name = *rest + strspn(*rest, "/");
	size_t length = strcspn(name, "/");
	*rest = name + length;
	*ret_added = false;
	if (length == 0)
		return 0;
	if (length == 1 && name[0] == '.')
		return 1;
	if (length == 2 && name[0] == '.' && name[1] == '.') {
		walk_up(walk);
		return 1;
	}
	if (walk->length + 1 + length >= PATH_MAX)
		return -1;
	walk->real[walk->length++] = '/';
	memcpy(walk->real + walk->length, name, length);
	walk->length += length;
	walk->real[walk->length] = '\0';
	*ret_added = true;
	return 1;
}

static bool is_known(const struct links *links, const char *real)
{
	for (const char *const *known = links->known; known && *known; known++)
		if (path_is_within(*known, real))
			return true;
	return false;
}

/* The link at the end of `real` says `text`: go on from there, with `rest` after it. */
static int walk_jump(struct links *links, struct walk *walk, size_t text_length, const char *rest)
{
	size_t rest_length = strlen(rest);
	if (++walk->followed > LINKS_MOST || text_length + 1 + rest_length >= sizeof links->rest)
		return -1;
	memmove(links->rest + text_length + 1, rest, rest_length + 1);
	memcpy(links->rest, links->text, text_length);
	links->rest[text_length] = '/';
	if (links->text[0] == '/')
		walk->real[walk->length = 0] = '\0';
	else
		walk_up(walk);
	return 0;
}

enum links_end links_follow(struct links *links, const char *path)
{
	struct walk walk = { .real = links->real };
	const char *rest = path;
	bool added = false;
	int more = 0;
	walk.real[0] = '\0';
	while ((more = walk_down(&walk, &rest, &added)) > 0) {
		if (!added || is_known(links, walk.real))
			continue;
		ssize_t length = readlink(walk.real, links->text, sizeof links->text - 1);
		if (length < 0 && errno == EINVAL)
			continue;
		if (length < 0)
			return errno == ENAMETOOLONG ? LINKS_LOOP : LINKS_MISSING;
		links->text[length] = '\0';
		if (links->met && !links->met(walk.real, links->text, links->data))
			return LINKS_STOPPED;
		if (walk_jump(links, &walk, (size_t)length, rest) < 0)
			return LINKS_LOOP;
		rest = links->rest;
	}
	if (walk.length == 0)
		memcpy(walk.real, "/", 2);
	return more < 0 ? LINKS_LOOP : LINKS_FOUND;
}
