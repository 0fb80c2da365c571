/* SPDX-License-Identifier: MIT */
/*
 * Where programs come from besides the host's /usr: the nix store with its daemon, the environment of
 * `nix develop`, the project's direnv. The last two wrap the command, so that it runs in them.
 */
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/path.h"
#include "policy/compile_parts.h"
#include "policy/mirror.h"

static void add_set(struct parts *parts, const char *name, const char *value, const char *because)
{
	struct op *op = plan_add(parts->plan, OP_ENV_SET, because);
	op->name = name;
	op->value = value;
}

/* The user's own nix: settings and profile, where they exist. */
static int add_nix_user(struct parts *parts, const char *because, struct err *e)
{
	static const char *const places[] = { "~/.config/nix", "~/.local/state/nix/profiles",
		"~/.nix-profile", "~/.nix-defexpr", NULL };
	for (const char *const *place = places; *place; place++) {
		AUTO_FREE char *path = host_expand(parts->host, *place);
		if (mirror_add(parts->plan, path, because, e) < 0)
			return -1;
	}
	return 0;
}

static int add_nix_daemon(struct parts *parts, const char *because, struct err *e)
{
	static const char *const places[] = { "/nix/store", "/nix/var/nix/profiles",
		"/nix/var/nix/gcroots/per-user", "/run/current-system", NULL };
	for (const char *const *place = places; *place; place++)
		if (mirror_add(parts->plan, *place, because, e) < 0)
			return -1;
	if (host_has("/nix/var/nix/daemon-socket"))
		add_bind(parts, "/nix/var/nix/daemon-socket", BIND_READ_ONLY, because);
	return add_nix_user(parts, because, e);
}

static void add_nix_writable(struct parts *parts, const char *because)
{
	add_bind(parts, "/nix/store", 0, because);
	add_bind(parts, "/nix/var/nix", 0, because);
	if (host_has("/nix/var/nix/builds"))
		add_tmpfs(parts, "/nix/var/nix/builds", 0755, 8, because);
}

static int add_nix(struct parts *parts, struct err *e)
{
	const char *because = policy_origin(parts->policy, KEY_NIX);
	enum word nix = policy_word(parts->policy, KEY_NIX);
	if (nix == WORD_NIX_OFF || !host_has("/nix/store"))
		return 0;
	if (nix == WORD_NIX_WRITABLE)
		add_nix_writable(parts, because);
	else if (add_nix_daemon(parts, because, e) < 0)
		return -1;
	return 0;
}

int compile_tools(struct parts *parts, struct err *e)
{
	(void)add_set;
	return add_nix(parts, e);
}
