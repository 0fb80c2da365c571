/* SPDX-License-Identifier: MIT */
#include "policy/ground.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/path.h"

/* `path` without links, as far as it exists: what is missing may be created inside later. */
static char *path_real(const char *path)
{
	AUTO_FREE char *rest = memory_string("");
	AUTO_FREE char *known = memory_string(path);
	for (;;) {
		AUTO_FREE char *real = realpath(known, NULL);
		if (real || strcmp(known, "/") == 0) {
			AUTO_FREE char *whole = memory_format("%s/%s", real ? real : "", rest);
			return path_absolute("/", whole);
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

int ground_check(const struct host *host, const char *path, struct err *e)
{
	AUTO_FREE char *real = path_real(path);
	if (directory_check(path, real, host->config, "your settings", e) < 0)
		return -1;
	return directory_check(path, real, host->state, "hutch's own records", e);
}
