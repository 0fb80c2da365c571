/* SPDX-License-Identifier: MIT */
#include "policy/ground.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/path.h"
#include "policy/links.h"

/* Where the link at `path` leads, which nothing needs to be; owned, or NULL when it is none. */
static char *link_target(const char *path)
{
	char text[PATH_MAX];
	ssize_t length = readlink(path, text, sizeof text - 1);
	if (length <= 0)
		return NULL;
	text[length] = '\0';
	AUTO_FREE char *parent = path_parent(path);
	AUTO_FREE char *real = realpath(parent, NULL);
	return path_absolute(real ? real : parent, text);
}

/* `path` without links: what is missing may be created inside later, at the end of a link too. */
static char *path_real(const char *path)
{
	AUTO_FREE char *rest = memory_string("");
	AUTO_FREE char *known = memory_string(path);
	for (unsigned links = 0;;) {
		AUTO_FREE char *real = realpath(known, NULL);
		if (real || strcmp(known, "/") == 0) {
			AUTO_FREE char *whole = memory_format("%s/%s", real ? real : "", rest);
			return path_absolute("/", whole);
		}
		char *target = links < LINKS_MOST ? link_target(known) : NULL;
		if (target) {
			free(known);
			known = target;
			links++;
			continue;
		}
		char *longer = memory_format("%s/%s", path_base(known), rest);
		char *shorter = path_parent(known);
		free(rest);
		free(known);
		rest = longer;
		known = shorter;
	}
}

static bool overlap(const char *a, const char *b)
{
	return path_is_within(a, b) || path_is_within(b, a);
}

static int directory_check(
	const char *path, const char *real, const char *directory, const char *what, struct err *e)
{
	AUTO_FREE char *real_directory = path_real(directory);
	if (!overlap(path, directory) && !overlap(real, real_directory))
		return 0;
	err_set(e, 0, "a command that may write in %s could change %s (%s)", path, what, directory);
	return err_hint(e, "give it the directory of one project instead");
}

/* People keep settings as links into a repository: each file may lie elsewhere. */
static int agents_check(const char *path, const char *real, const char *agents, struct err *e)
{
	DIR *directory = opendir(agents);
	int result = 0;
	for (struct dirent *entry; directory && result == 0 && (entry = readdir(directory));) {
		AUTO_FREE char *file = path_join(agents, entry->d_name);
		if (entry->d_name[0] != '.')
			result = directory_check(path, real, file, "your settings", e);
	}
	if (directory)
		closedir(directory);
	return result;
}

int ground_check(const struct host *host, const char *path, struct err *e)
{
	AUTO_FREE char *real = path_real(path);
	AUTO_FREE char *file = path_join(host->config, "config.yaml");
	AUTO_FREE char *agents = path_join(host->config, "agents");
	if (directory_check(path, real, host->config, "your settings", e) < 0 ||
		directory_check(path, real, file, "your settings", e) < 0 ||
		directory_check(path, real, agents, "your settings", e) < 0 ||
		agents_check(path, real, agents, e) < 0)
		return -1;
	return directory_check(path, real, host->state, "hutch's own records", e);
}
