/* SPDX-License-Identifier: MIT */
#include "policy/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "base/fd.h"
#include "kernel/lookup.h"

/* ---- The user's own settings ---- */

/* Where a link was met, filled in on the way. */
struct trail {
	int safe[3]; /* the home, and hutch's directories: no workspace is these or above them */
	bool linked;
	char refused[PATH_MAX]; /* the directory of the link that was not followed */
};

static bool follows_own(int directory, const void *data)
{
	struct trail *trail = (struct trail *)data;
	trail->linked = true;
	for (size_t i = 0; i < sizeof trail->safe / sizeof trail->safe[0]; i++)
		if (trail->safe[i] >= 0 && lookup_is_below(trail->safe[i], directory) == 1)
			return true;
	if (lookup_is_of_others(directory))
		return true;
	lookup_path(directory, trail->refused, sizeof trail->refused);
	return false;
}

static int directory_open(const char *path)
{
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* The long way, link by link. */
static int place_walk(const struct host *host, const char *path, bool *ret_linked, struct err *e)
{
	AUTO_CLOSE int home = directory_open(host->home);
	AUTO_CLOSE int config = directory_open(host->config);
	AUTO_CLOSE int state = directory_open(host->state);
	struct trail trail = { .safe = { home, config, state } };
	int fd = lookup_through(path, follows_own, &trail, NULL);
	*ret_linked = trail.linked;
	if (fd >= 0)
		return fd;
	if (!trail.refused[0])
		return err_set(e, errno, "cannot open %s", path);
	err_set(e, 0, "%s leads through a link in %s, which a sandbox may have put there", path,
		trail.refused);
	return err_hint(e, "look where it leads (namei -l %s), and link to the place itself", path);
}

int place_own(const struct host *host, const char *path, bool *ret_linked, struct err *e)
{
	*ret_linked = false;
	int fd = lookup_plain(path, O_PATH);
	if (fd >= 0)
		return fd;
	if (errno == ENOENT)
		return err_set(e, ENOENT, "cannot open %s", path);
	return place_walk(host, path, ret_linked, e);
}

/* ---- What the user names ---- */

struct crossing {
	int workspace;
	bool crossed;
};

static bool follows_outside(int directory, const void *data)
{
	struct crossing *crossing = (struct crossing *)data;
	crossing->crossed = lookup_is_below(directory, crossing->workspace) != 0;
	return !crossing->crossed;
}

int place_named(const struct host *host, const char *path, int *ret_fd, struct err *e)
{
	struct crossing crossing = { .workspace = host->directory_fd };
	AUTO_CLOSE int directory = -1;
	AUTO_CLOSE int fd = lookup_through(path, follows_outside, &crossing, &directory);
	*ret_fd = -1;
	if (crossing.crossed) {
		err_set(e, 0,
			"%s is or goes through a symbolic link, which a sandbox may have put there",
			path);
		return err_hint(e, "name the place that it leads to, if that is what you mean");
	}
	if (fd >= 0 && lookup_is_below(directory, host->directory_fd) != 0)
		*ret_fd = take_fd(&fd);
	return 0; /* what cannot be opened is the caller's to find out */
}
