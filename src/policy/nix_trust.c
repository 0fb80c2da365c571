/* SPDX-License-Identifier: MIT */
#include "policy/nix_trust.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/memory.h"
#include "base/strings.h"

enum { INCLUDES_MOST = 16, SETTINGS_LIMIT = 1 << 20, GROUPS_MOST = 1 << 16 };

static const char blanks[] = " \t\r";

/* ---- The settings ---- */

/* One word that `trusted-users` has. */
static bool word_trusts(const char *word, const char *user, const char *const *groups)
{
	if (strcmp(word, "*") == 0 || strcmp(word, user) == 0)
		return true;
	for (; *word == '@' && *groups; groups++)
		if (strcmp(word + 1, *groups) == 0)
			return true;
	return false;
}

/* A line, which is taken apart. Later lines take back what earlier ones say; here each counts. */
static bool line_trusts(char *line, const char *user, const char *const *groups)
{
	char *rest = NULL;
	line[strcspn(line, "#")] = '\0';
	const char *name = strtok_r(line, blanks, &rest);
	const char *equals = name ? strtok_r(NULL, blanks, &rest) : NULL;
	if (!equals || strcmp(equals, "=") != 0 ||
		(strcmp(name, "trusted-users") != 0 && strcmp(name, "extra-trusted-users") != 0))
		return false;
	for (const char *word; (word = strtok_r(NULL, blanks, &rest));)
		if (word_trusts(word, user, groups))
			return true;
	return false;
}

bool nix_settings_trust(const char *settings, const char *user, const char *const *groups)
{
	AUTO_FREE char *copy = memory_string(settings);
	char *rest = NULL;
	bool trusts = false;
	for (char *line = strtok_r(copy, "\n", &rest); line && !trusts;
		line = strtok_r(NULL, "\n", &rest))
		trusts = line_trusts(line, user, groups);
	return trusts;
}

/* ---- The files ---- */

/* Add the files that `settings`, read from `path`, include. */
static void includes_add(const char *settings, const char *path, struct strings *files)
{
	AUTO_FREE char *copy = memory_string(settings);
	char *rest = NULL;
	for (char *line = strtok_r(copy, "\n", &rest); line && files->count < INCLUDES_MOST;
		line = strtok_r(NULL, "\n", &rest)) {
		char *more = NULL;
		const char *word = strtok_r(line, blanks, &more);
		const char *file = word ? strtok_r(NULL, blanks, &more) : NULL;
		if (!file || (strcmp(word, "include") != 0 && strcmp(word, "!include") != 0))
			continue;
		const char *slash = strrchr(path, '/');
		strings_take(files,
			*file == '/' ? memory_string(file)
				     : memory_format("%.*s/%s", (int)(slash - path), path, file));
	}
}

static bool is_member(gid_t gid, char *members, const char *user, const gid_t *gids, int count)
{
	char *rest = NULL;
	for (int i = 0; i < count; i++)
		if (gids[i] == gid)
			return true;
	for (char *name = strtok_r(members, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
		if (strcmp(name, user) == 0)
			return true;
	return gid == getegid();
}

/* The names of this user's groups, ended with NULL. Like /etc/passwd, the file is read itself. */
static void groups_read(const char *user, struct strings *names)
{
	AUTO_FREE char *data = NULL;
	AUTO_FREE gid_t *gids = memory_alloc(GROUPS_MOST, sizeof *gids);
	int count = getgroups(GROUPS_MOST, gids);
	char *rest = NULL;
	if (file_read_at(AT_FDCWD, "/etc/group", SETTINGS_LIMIT, &data, NULL, NULL) < 0)
		return;
	for (char *line = strtok_r(data, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		const char *name = strsep(&line, ":");
		const char *password = strsep(&line, ":"), *gid = strsep(&line, ":");
		if (password && gid && line &&
			is_member((gid_t)strtoul(gid, NULL, 10), line, user, gids, count))
			strings_add(names, name);
	}
}

bool nix_trusts(const struct host *host)
{
	AUTO_STRINGS groups = { 0 };
	AUTO_STRINGS files = { 0 };
	static const char *const none[] = { NULL };
	if (host->uid == 0)
		return true;
	groups_read(host->user, &groups);
	strings_add(&files, "/etc/nix/nix.conf");
	for (size_t i = 0; i < files.count; i++) {
		AUTO_FREE char *settings = NULL;
		if (file_read_at(AT_FDCWD, files.item[i], SETTINGS_LIMIT, &settings, NULL, NULL) <
			0)
			continue;
		if (nix_settings_trust(settings, host->user,
			    groups.count ? (const char *const *)groups.item : none))
			return true;
		includes_add(settings, files.item[i], &files);
	}
	return false;
}
