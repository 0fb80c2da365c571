/* SPDX-License-Identifier: MIT */
#include "supervisor/home.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/memory.h"
#include "base/path.h"
#include "store/state.h"
#include "supervisor/seed.h"

/* mkdir -p, private. Fails when something else than a directory is there. */
static int directory_ensure(const char *path, struct err *e)
{
	struct stat info;
	if (stat(path, &info) == 0) {
		if (S_ISDIR(info.st_mode))
			return 0;
		err_set(e, 0, "%s should be a directory and is not", path);
		return err_hint(e, "move it away, or run with --agent none");
	}
	if (errno == ENOENT && mkdir(path, 0700) == 0)
		return 0;
	if (errno != ENOENT)
		return err_set(e, errno, "cannot make the state directory %s", path);
	AUTO_FREE char *parent = path_parent(path);
	if (strcmp(parent, path) == 0 || directory_ensure(parent, e) < 0)
		return -1;
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return err_set(e, errno, "cannot make the state directory %s", path);
	return 0;
}

/* Where on the host the state is that a profile has at `path`; owned by the caller. */
static char *state_place(const struct host *host, const char *path)
{
	AUTO_FREE char *inside = host_expand(host, path);
	return host_outside(host, inside);
}

/* Before anything is made: what is in the way of one place must not leave the others behind. */
static int state_check(const struct agent *agent, const struct host *host, struct err *e)
{
	for (const char *const *path = agent->state; path && *path; path++) {
		AUTO_FREE char *full = state_place(host, *path);
		struct stat info;
		if (stat(full, &info) < 0 || S_ISDIR(info.st_mode))
			continue;
		err_set(e, 0, "agent %s: %s should be a directory and is not", agent->name, full);
		return err_hint(e, "move it away, or run with --agent none");
	}
	for (const struct agent_file *file = agent->files; file && file->path; file++) {
		AUTO_FREE char *full = state_place(host, file->path);
		struct stat info;
		if (stat(full, &info) < 0 || S_ISREG(info.st_mode))
			continue;
		err_set(e, 0, "agent %s: %s is not a regular file", agent->name, full);
		return err_hint(e, "an agent keeps its state there; move what is in the way");
	}
	return 0;
}

/* A home that lasts has files of its own, which begin as the host's. */
static int kept_file(const struct session *session, const char *home, const char *full,
	const char *below, const char *initial, struct err *e)
{
	AUTO_FREE char *data = NULL;
	size_t length = 0;
	if (state_read(session, full, initial, &data, &length, e) < 0)
		return -1;
	return data ? seed_file(home, below, data, length, e) : 0;
}

static int files_prepare(const struct agent *agent, bool create, const struct host *host,
	struct home *home, struct err *e)
{
	for (const struct agent_file *file = agent->files; file && file->path; file++) {
		AUTO_FREE char *inside = host_expand(host, file->path);
		AUTO_FREE char *full = state_place(host, file->path);
		if (!path_is_within(inside, host->home))
			return err_set(
				e, 0, "agent %s: %s is not below the home", agent->name, inside);
		const char *below = inside + strlen(host->home) + 1;
		const char *initial = create ? file->initial : NULL;
		bool kept = strcmp(home->source, home->session.home) != 0;
		if ((kept ? kept_file(&home->session, home->source, full, below, initial, e)
			  : state_add(&home->session, full, below, initial, file->merge, e)) < 0)
			return err_prefix(e, "agent %s", agent->name);
	}
	return 0;
}

static int state_prepare(const struct agent *agent, bool create, const struct host *host,
	struct home *home, struct err *e)
{
	if (files_prepare(agent, create, host, home, e) < 0)
		return -1;
	for (const char *const *path = create ? agent->state : NULL; path && *path; path++) {
		AUTO_FREE char *full = state_place(host, *path);
		if (directory_ensure(full, e) < 0)
			return err_prefix(e, "agent %s", agent->name);
	}
	return 0;
}

/* A home that lasts: <state>/homes/NAME, seeded when it is new. */
static int kept_prepare(
	const struct policy *policy, const struct host *host, char **ret_source, struct err *e)
{
	const char *name = policy_value(policy, KEY_HOME);
	if (!name)
		name = "default";
	if (strchr(name, '/') || name[0] == '.')
		return err_set(e, 0, "'%s' cannot be the name of a home", name);
	AUTO_FREE char *path = memory_format("%s/homes/%s", host->state, name);
	if (directory_ensure(path, e) < 0 || seed_home(path, e) < 0)
		return -1;
	*ret_source = take_pointer(path);
	return 0;
}

static int flake_prepare(const struct policy *policy, const struct host *host, struct err *e)
{
	AUTO_FREE char *flake = tools_own_flake(policy, host);
	if (!flake)
		return 0;
	return directory_ensure(flake, e) < 0 ? -1 : seed_flake(flake, e);
}

int home_prepare(const struct policy *policy, const struct host *host, const struct agents *agents,
	struct home *ret_home, struct strings *ret_notes, struct err *e)
{
	*ret_home = (struct home){ 0 };
	for (size_t i = 0; i < agents->count; i++)
		if (state_check(agents->agent[i], host, e) < 0)
			return -1;
	if (session_sweep(ret_notes, NULL, e) < 0 || session_create(&ret_home->session, e) < 0)
		return -1;
	ret_home->session.recycled = true;
	int result = 0;
	if (policy_word(policy, KEY_HOME) == WORD_HOME_KEPT)
		result = kept_prepare(policy, host, &ret_home->source, e);
	else
		ret_home->source = memory_string(ret_home->session.home);
	if (result == 0)
		result = flake_prepare(policy, host, e);
	for (size_t i = 0; result == 0 && i < agents->count; i++)
		result = state_prepare(agents->agent[i], !agents->found, host, ret_home, e);
	if (result < 0)
		home_finish(ret_home, ret_notes, NULL);
	return result;
}

int home_finish(struct home *home, struct strings *ret_notes, struct err *e)
{
	free(home->source);
	home->source = NULL;
	return session_end(&home->session, ret_notes, e);
}
