/* SPDX-License-Identifier: MIT */
/*
 * Where programs come from besides the host's /usr: the nix store with its daemon, the environment of
 * `nix develop`, the project's direnv. The last two wrap the command, so that it runs in them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/memory.h"
#include "base/path.h"
#include "kernel/capture.h"
#include "kernel/lookup.h"
#include "policy/compile_parts.h"
#include "policy/mirror.h"
#include "policy/nix_settings.h"
#include "policy/nix_trust.h"
#include "policy/place.h"

static const char daemon_socket[] = "/nix/var/nix/daemon-socket";

/* Links lead from the home into profiles and repositories that a sandbox may once have written: what is
 * shown because of them is what was opened (`place`), or, where that is not to be trusted (-1), only what
 * is shown anyway. */
static bool links_are_safe(struct plan *plan, size_t first, int place)
{
	struct stat wanted, found;
	for (size_t i = first; i < plan->count; i++) {
		struct op *op = &plan->op[i];
		if (op->kind != OP_BIND || path_is_within(op->source, "/nix/store"))
			continue;
		if (place < 0 || fstat(place, &wanted) < 0 || stat(op->source, &found) < 0)
			return false;
		bool same = wanted.st_dev == found.st_dev && wanted.st_ino == found.st_ino;
		if (!same && path_is_within(op->source, "/run"))
			continue; /* the directory around it, and no sandbox's to change */
		if (!same)
			return false;
		op->kind = OP_BIND_FD;
		op->fd = fcntl(place, F_DUPFD_CLOEXEC, 0); /* until the program ends */
	}
	return true;
}

static void add_linked_place(struct parts *parts, const char *path, int place,
	const struct err *why, const char *because)
{
	struct err ignored; /* a loop of links stays a loop */
	size_t first = parts->plan->count;
	mirror_add(parts->plan, path, because, &ignored);
	if (links_are_safe(parts->plan, first, place))
		return;
	parts->plan->count = first;
	strings_take(parts->notes, memory_format("%s is not shown: %s", path, why->text));
}

static void add_places(struct parts *parts, const char *const *places, const char *because)
{
	for (; *places; places++) {
		AUTO_FREE char *path = host_expand(parts->host, *places);
		AUTO_FREE char *outside = host_outside(parts->host, path);
		struct err why = { 0 };
		bool linked;
		AUTO_CLOSE int place = place_own(parts->host, outside, &linked, &why);
		if (place < 0 && why.number == ENOENT)
			continue;
		if (strcmp(path, outside) != 0)
			add_own_if_any(parts, outside, path, BIND_READ_ONLY, because);
		else if (linked)
			add_linked_place(parts, path, place, &why, because);
		else
			mirror_add(parts->plan, path, because, &why);
	}
}

static bool nix_is_asked_for(const struct parts *parts)
{
	return policy_word(parts->policy, KEY_TOOLS) == WORD_TOOLS_NIX ||
	       strcmp(policy_origin(parts->policy, KEY_NIX), "default") != 0;
}

/* The daemon fetches and builds outside, where the network is, and whom it trusts it obeys as root: where
 * there is to be no network, and where it trusts this user, it is only there for those who have asked for
 * nix. */
static bool daemon_is_there(const struct parts *parts)
{
	if (!host_has(daemon_socket) || nix_is_asked_for(parts))
		return host_has(daemon_socket);
	return policy_word(parts->policy, KEY_NETWORK) != WORD_NETWORK_OFF &&
	       !nix_trusts(parts->host);
}

static void note_trusted(struct parts *parts)
{
	if (host_has("/nix/var/nix/daemon-socket/socket") && nix_is_asked_for(parts) &&
		nix_trusts(parts->host))
		strings_add(parts->notes,
			"the nix daemon trusts you, and so obeys the command inside as it would "
			"root (--nix off)");
}

/* Settings that somebody's nix manages lie in the store, and the store leads nowhere else. */
static int settings_open(struct parts *parts, const char *path, struct err *e)
{
	bool linked;
	int fd = place_own(parts->host, path, &linked, e);
	AUTO_FREE char *real = fd < 0 ? realpath(path, NULL) : NULL;
	return real && path_is_within(real, "/nix/store") ? lookup_plain(real, O_PATH) : fd;
}

/* A copy, without the tokens that nix fetches with. */
static void add_nix_settings(struct parts *parts, const char *because)
{
	enum { LIMIT = 1 << 20 };
	static const char *const places[] = { "~/.config/nix/registry.json", NULL };
	AUTO_FREE char *path = host_expand(parts->host, "~/.config/nix/nix.conf");
	AUTO_FREE char *outside = host_outside(parts->host, path);
	AUTO_FREE char *there = path_join(parts->in->home_source, ".config/nix/nix.conf");
	AUTO_FREE char *settings = NULL;
	char again[32];
	struct stat info;
	struct err why = { 0 };
	bool kept = policy_word(parts->policy, KEY_HOME) == WORD_HOME_KEPT;
	add_places(parts, places, because);
	AUTO_CLOSE int fd = settings_open(parts, outside, &why);
	snprintf(again, sizeof again, "/proc/self/fd/%d", fd);
	if (fd < 0 && why.number != ENOENT)
		strings_take(parts->notes, memory_format("%s is not shown: %s", path, why.text));
	if (fd < 0 || (kept && lstat(there, &info) == 0) ||
		file_read_at(AT_FDCWD, again, LIMIT, &settings, NULL, NULL) < 0)
		return;
	AUTO_FREE char *public = nix_settings_public(settings);
	struct op *op = plan_add(parts->plan, OP_FILE, because);
	op->target = plan_copy(parts->plan, path);
	op->value = plan_copy(parts->plan, public);
	op->perms = 0644;
}

static void add_nix_daemon(struct parts *parts, const char *because)
{
	static const char *const places[] = { "/nix/store", "/nix/var/nix/profiles",
		"/nix/var/nix/gcroots/per-user", "/run/current-system",
		"~/.local/state/nix/profiles", "~/.nix-profile", "~/.nix-defexpr", NULL };
	add_places(parts, places, because);
	add_nix_settings(parts, because);
	/* Connecting needs no write permission on the mount. */
	if (daemon_is_there(parts))
		add_bind(parts, daemon_socket, BIND_READ_ONLY, because);
}

static void add_nix_writable(struct parts *parts, const char *because)
{
	if (host_has("/nix/store"))
		add_bind(parts, "/nix/store", 0, because);
	add_bind(parts, "/nix/var/nix", 0, because);
	if (host_has("/nix/var/nix/builds"))
		add_tmpfs(parts, "/nix/var/nix/builds", 0755, 8, because);
}

static void add_nix(struct parts *parts)
{
	const char *because = policy_origin(parts->policy, KEY_NIX);
	enum word nix = policy_word(parts->policy, KEY_NIX);
	if (nix == WORD_NIX_OFF || !host_has("/nix/var/nix"))
		return;
	note_trusted(parts);
	if (nix == WORD_NIX_WRITABLE)
		add_nix_writable(parts, because);
	else
		add_nix_daemon(parts, because);
}

/* Settings and permissions of direnv, read-only: what is allowed there runs in the user's own shell
 * outside, and so does what ~/.cache/direnv holds, which is therefore not shown at all. */
static void add_direnv(struct parts *parts)
{
	static const char *const places[] = { "~/.config/direnv", "~/.local/share/direnv/deny",
		NULL };
	add_places(parts, places, "direnv's settings");
}

/* Make `command words...` of the plan; the words of the user's own command follow, unless it is to be
 * a shell that the wrapper itself starts. */
static void wrap(struct parts *parts, const char *const *words, bool command)
{
	static const char *const run[] = { "/bin/sh", "-c", "exec \"$0\" \"$@\"" };
	size_t before = 0, after = 0, used = 0;
	while (words[before])
		before++;
	while (parts->command[after])
		after++;
	char **made = memory_alloc(before + 3 + after + 1, sizeof *made);
	for (size_t i = 0; i < before; i++)
		made[used++] = (char *)plan_copy(parts->plan, words[i]);
	/* The shell between gives 126 and 127 where the wrappers give 1. */
	for (size_t i = 0; command && i < 3; i++)
		made[used++] = (char *)run[i];
	for (size_t i = 0; command && i < after; i++)
		made[used++] = parts->command[i];
	parts->plan->words = made;
	parts->command = made;
}

char *tools_own_flake(const struct policy *policy, const struct host *host)
{
	if (policy_word(policy, KEY_TOOLS) != WORD_TOOLS_NIX || policy_value(policy, KEY_TOOLS))
		return NULL;
	AUTO_FREE char *project = path_join(host->directory, "flake.nix");
	return host_has(project) ? NULL : path_join(host->config, "flake");
}

/* The directory of the user's flake. Without a lock file the first `nix develop` writes one, which pins
 * what it found; from then on the directory is read-only inside. */
static void add_own_flake(struct parts *parts, const char *directory)
{
	AUTO_FREE char *lock = path_join(directory, "flake.lock");
	struct stat info; /* a link that leads nowhere does not keep it writable */
	add_bind(parts, directory, lstat(lock, &info) == 0 ? BIND_READ_ONLY : 0,
		"the user's own flake");
}

static int wrap_nix(struct parts *parts, struct err *e)
{
	const char *nix = NULL;
	AUTO_FREE char *own = tools_own_flake(parts->policy, parts->host);
	const char *named = policy_value(parts->policy, KEY_TOOLS);
	if (add_program(parts, "nix", NULL, "tools: nix", &nix, e) < 0)
		return -1;
	if (!nix) {
		err_set(e, 0, "tools are nix (%s), and nix is not installed here",
			policy_origin(parts->policy, KEY_TOOLS));
		return err_hint(e, "install nix, or take the host's programs with --tools host");
	}
	if (own)
		add_own_flake(parts, own);
	/* The project's own flake is named by directory: with "path:" nix would copy everything that
	 * git does not track, such as .env, into the store, where everybody can read it. */
	const char *flake = own     ? plan_text(parts->plan, "path:%s", own)
			    : named ? named
				    : parts->host->directory;
	const char *const words[] = { "nix", "--extra-experimental-features", "nix-command flakes",
		"develop", flake, parts->in->interactive ? NULL : "-c", NULL };
	wrap(parts, words, !parts->in->interactive);
	return 0;
}

static int envrc_refused(const char *path, struct err *e)
{
	err_set(e, 0, "%s is not allowed", path);
	return err_hint(
		e, "read it, then run direnv allow; or take the host's programs with --tools host");
}

/* Ask direnv, which executes nothing for that, whether the user has allowed this .envrc, and by which
 * file. Only a regular file is asked about: direnv would wait for a FIFO. */
static int envrc_status(struct parts *parts, const char *direnv, const char *path,
	struct text *status, struct err *e)
{
	static char status_word[] = "status";
	char *const arguments[] = { (char *)direnv, status_word, NULL };
	struct stat info;
	int code;
	if (stat(path, &info) < 0 || !S_ISREG(info.st_mode)) {
		err_set(e, 0, "there is no file %s, and tools are direnv (%s)", path,
			policy_origin(parts->policy, KEY_TOOLS));
		return err_hint(e, "write it and run direnv allow, or use --tools host");
	}
	if (capture_run(direnv, arguments, parts->host->variables, 5000, 65536, status, &code, e) <
		0)
		return err_prefix(e, "asking direnv about %s", path);
	return 0;
}

/* The rest of the line that begins with `label`, owned by the caller; NULL without such a line. */
static char *status_line(const struct text *status, const char *label)
{
	const char *line = status->length ? strstr(status->data, label) : NULL;
	if (!line)
		return NULL;
	line += strlen(label);
	return memory_slice(line, strcspn(line, "\n"));
}

static int add_allowed_envrc(struct parts *parts, const char *direnv, struct err *e)
{
	AUTO_FREE char *path = path_join(parts->host->directory, ".envrc");
	AUTO_TEXT status = { 0 };
	if (envrc_status(parts, direnv, path, &status, e) < 0)
		return -1;
	AUTO_FREE char *found = status_line(&status, "Found RC path ");
	AUTO_FREE char *allowed = status_line(&status, "Found RC allowed ");
	AUTO_FREE char *record = status_line(&status, "Found RC allowPath ");
	/* "true" until direnv 2.32, 0 from 2.33 on */
	bool yes = allowed && (strcmp(allowed, "true") == 0 || strcmp(allowed, "0") == 0);
	if (!found || strcmp(found, path) != 0 || !yes)
		return envrc_refused(path, e);
	/* Of the record of what is allowed, only this one file. direnv looks again, inside, before it
	 * executes. */
	if (record && host_has(record))
		add_bind_from(parts, record,
			plan_text(parts->plan, "%s/.local/share/direnv/allow/%s", parts->host->home,
				path_base(record)),
			BIND_READ_ONLY, "direnv's permission");
	return 0;
}

static int wrap_direnv(struct parts *parts, struct err *e)
{
	const char *direnv = NULL;
	if (add_program(parts, "direnv", NULL, "tools: direnv", &direnv, e) < 0)
		return -1;
	if (!direnv) {
		err_set(e, 0, "tools are direnv (%s), and direnv is not installed here",
			policy_origin(parts->policy, KEY_TOOLS));
		return err_hint(e, "install direnv, or take the host's programs with --tools host");
	}
	if (!program_is_safe_outside(parts, direnv)) {
		err_set(e, 0,
			"direnv is %s, which the project or a sandbox can change, so it is not "
			"executed outside",
			direnv);
		return err_hint(e, "have another one before it on PATH, in /usr/bin for example");
	}
	if (add_allowed_envrc(parts, direnv, e) < 0)
		return -1;
	const char *const words[] = { "direnv", "exec", parts->host->directory, NULL };
	wrap(parts, words, true);
	return 0;
}

void compile_tools(struct parts *parts)
{
	add_nix(parts);
	add_direnv(parts);
}

int compile_wrapper(struct parts *parts, struct err *e)
{
	enum word tools = policy_word(parts->policy, KEY_TOOLS);
	if (tools == WORD_TOOLS_NIX)
		return wrap_nix(parts, e);
	if (tools == WORD_TOOLS_DIRENV)
		return wrap_direnv(parts, e);
	return 0;
}

void add_nix_remote(struct parts *parts)
{
	if (policy_word(parts->policy, KEY_NIX) == WORD_NIX_OFF || !daemon_is_there(parts) ||
		!host_has("/nix/var/nix/daemon-socket/socket"))
		return;
	struct op *op = plan_add(parts->plan, OP_ENV_SET, policy_origin(parts->policy, KEY_NIX));
	op->name = "NIX_REMOTE";
	op->value = "daemon";
}
