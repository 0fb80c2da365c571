/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/path.h"
#include "policy/compile_parts.h"
#include "policy/expand.h"
#include "policy/ground.h"
#include "policy/mirror.h"
#include "policy/place.h"

/* The kernel's own trees: to a real root a writable /proc/sys is the host's, and what of the host's /proc
 * is mounted anywhere lists its processes. */
static bool is_kernel_tree(const char *path)
{
	return path_is_within(path, "/proc") || path_is_within(path, "/sys") ||
	       (path_is_within(path, "/dev") && !path_is_within(path, "/dev/shm"));
}

/* Directories that no workspace can be, since every sandbox has its own in their place. */
static int place_check(const char *directory, struct err *e)
{
	static const char *const own[] = { "/etc", "/run", "/var", NULL };
	if (is_kernel_tree(directory)) {
		err_set(e, 0, "%s belongs to the kernel, and cannot be a workspace", directory);
		return err_hint(e, "cd into a project directory and run hutch there");
	}
	for (const char *const *place = own; *place; place++) {
		if (strcmp(directory, *place) != 0)
			continue;
		err_set(e, 0, "every sandbox has a %s of its own, so it cannot be the workspace",
			directory);
		return err_hint(e, "cd into a directory below it and run hutch there");
	}
	return 0;
}

int workspace_check(const struct host *host, struct err *e)
{
	const char *directory = host->directory;
	AUTO_FREE char *real = realpath(host->home, NULL); /* as the current directory is */
	const char *home = real ? real : host->home;
	if (strcmp(home, "/") == 0) {
		err_set(e, 0, "the home directory is /, and a private one would hide everything");
		return err_hint(e, "set HOME to a directory of your own");
	}
	if (!path_is_within(home, directory))
		return place_check(directory, e) < 0 ? -1 : ground_check(host, directory, e);
	const char *what = strcmp(directory, "/") == 0    ? "the whole file system"
			   : strcmp(directory, home) == 0 ? "your whole home directory"
							  : "a directory that holds your home";
	err_set(e, 0, "%s is %s, and the workspace would be all of it", directory, what);
	return err_hint(e, "cd into a project directory below it (mkdir one) and run hutch there");
}

/* The shell may have come here through a link, and calls the directory by that name. Then the name is
 * there inside as well: owned by the caller, else NULL. */
static char *workspace_alias(struct parts *parts)
{
	const char *name = host_variable(parts->host, "PWD");
	struct stat named, real;
	if (!name || !path_is_normal(name) || strcmp(name, parts->host->directory) == 0 ||
		stat(name, &named) < 0 || fstat(parts->host->directory_fd, &real) < 0 ||
		named.st_dev != real.st_dev || named.st_ino != real.st_ino)
		return NULL;
	return mirror_links(parts->plan, name, "workspace") ? memory_string(name) : NULL;
}

int compile_workspace(struct parts *parts, struct err *e)
{
	if (workspace_check(parts->host, e) < 0)
		return -1;
	struct op *op =
		plan_add(parts->plan, OP_BIND_FD, policy_origin(parts->policy, KEY_WORKSPACE));
	op->source = op->target = plan_copy(parts->plan, parts->host->directory);
	op->fd = parts->host->directory_fd;
	AUTO_FREE char *alias = workspace_alias(parts);
	parts->directory = plan_copy(parts->plan, alias ? alias : parts->host->directory);
	return 0;
}

/* "PATH" or "SOURCE:TARGET"; layers.c made them absolute. */
static int add_extra(
	struct parts *parts, const struct item *item, unsigned flags, bool outer, struct err *e)
{
	AUTO_FREE char *source_text = NULL;
	AUTO_FREE char *target_text = NULL;
	bind_split(item->text, &source_text, &target_text);
	AUTO_FREE char *source = path_absolute(parts->host->directory, source_text);
	AUTO_FREE char *target = path_absolute(parts->host->directory, target_text);
	bool holds = path_is_within(parts->host->home, target) ||
		     path_is_within(parts->host->directory, target);
	if (holds != outer)
		return 0;
	if (!(flags & BIND_READ_ONLY) && ground_check(parts->host, source, e) < 0)
		return err_prefix(e, "%s", item->origin);
	struct stat info;
	if (stat(source, &info) < 0) {
		err_set(e, errno, "%s: cannot mount %s", item->origin, source);
		return errno == ENOENT ? err_hint(e, "create it, or leave it out") : -1;
	}
	if (path_is_within(target, "/proc") || strcmp(target, "/dev") == 0) {
		err_set(e, 0, "%s: '%s' would be mounted over the sandbox's own %s", item->origin,
			item->text, target);
		return strcmp(target, "/dev") == 0
			       ? err_hint(e, "mount what you need below /dev by its own path")
			       : err_hint(e, "--proc host shows the host's processes");
	}
	if (!(flags & BIND_READ_ONLY) && path_is_within(source, "/proc"))
		return err_set(e, 0, "%s: %s is the kernel's, and can be mounted read-only only",
			item->origin, source);
	if (strcmp(target, "/") == 0)
		return err_set(e, 0, "%s: '%s' would be mounted over the whole sandbox",
			item->origin, item->text);
	/* What a user names in the workspace may be a link by now that the last command planted, to have
	 * any directory of the host mounted. Init sees that what is opened here still is the same. */
	int place = -1;
	if (place_named(parts->host, source, &place, e) < 0)
		return err_prefix(e, "%s", item->origin);
	struct op *op = add_bind(parts, source, flags, item->origin);
	op->target = plan_copy(parts->plan, target);
	if (place >= 0) {
		op->kind = OP_BIND_FD;
		op->fd = place; /* until the program ends */
	}
	return 0;
}

/* What holds the home or the workspace comes before them (`outer`), everything else after. */
int compile_binds(struct parts *parts, bool outer, struct err *e)
{
	static const struct {
		enum key key;
		unsigned flags;
	} kinds[] = { { KEY_BIND, 0 }, { KEY_BIND_RO, BIND_READ_ONLY } };
	for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
		const struct setting *setting = &parts->policy->setting[kinds[k].key];
		for (size_t i = 0; i < setting->count; i++)
			if (add_extra(parts, &setting->item[i], kinds[k].flags, outer, e) < 0)
				return -1;
	}
	return 0;
}

static int add_masks(struct parts *parts, struct err *e)
{
	const struct setting *masks = &parts->policy->setting[KEY_MASK];
	for (size_t i = 0; i < masks->count; i++) {
		AUTO_FREE char *text = host_expand(parts->host, masks->item[i].text);
		AUTO_FREE char *target = path_absolute(parts->host->directory, text);
		if (strcmp(target, "/") == 0)
			return err_set(e, 0, "%s: '%s' is the whole sandbox, and cannot be hidden",
				masks->item[i].origin, masks->item[i].text);
		plan_add(parts->plan, OP_MASK, masks->item[i].origin)->target =
			plan_copy(parts->plan, target);
	}
	return 0;
}

int compile_last(struct parts *parts, struct err *e)
{
	if (add_masks(parts, e) < 0)
		return -1;
	if (parts->host->program) {
		struct op *op = add_bind(parts, parts->host->program, BIND_READ_ONLY, "built-in");
		op->target = "/run/hutch/bin/hutch";
		/* Under that name it takes bubblewrap's command line. */
		op = plan_add(parts->plan, OP_SYMLINK, "built-in");
		op->target = "/run/hutch/bin/bwrap";
		op->value = "hutch";
	}
	add_guidance(parts);
	return 0;
}
