/* SPDX-License-Identifier: MIT */
#include "policy/mirror.h"

#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/path.h"
#include "policy/links.h"
#include "policy/lists.h"

struct mirror {
	struct plan *plan;
	const char *because;
	bool followed; /* a link was met on the way */
	struct links links;
};

enum cover { COVER_NOTHING, COVER_HOST, COVER_OTHER };

/* What an operation whose target is `path` or above it makes of the host's `path`. */
static enum cover op_cover(const struct op *op, bool exact)
{
	switch (op->kind) {
	case OP_BIND:
		return strcmp(op->source, op->target) == 0 ? COVER_HOST : COVER_OTHER;
	case OP_BIND_FD:
	case OP_OVERLAY:
	case OP_PROC:
	case OP_DEV:
		return COVER_HOST;
	case OP_SYMLINK:
		return exact ? COVER_HOST : COVER_NOTHING;
	case OP_TMPFS:
	case OP_FILE:
	case OP_MASK:
		return COVER_OTHER;
	case OP_DIR:
	case OP_REMOUNT_RO:
	case OP_TMP_OVERLAY:
	case OP_COPY_FD:
	case OP_BIND_DATA:
	case OP_MQUEUE:
	case OP_CHMOD:
	case OP_SECCOMP_FD:
	case OP_NAMESPACE:
	case OP_IDENTITY:
	case OP_HOSTNAME:
	case OP_ENV_CLEAR:
	case OP_ENV_KEEP:
	case OP_ENV_UNSET:
	case OP_ENV_SET:
	case OP_CWD:
	case OP_LIMIT:
	case OP_NO_USER_NAMESPACES:
	case OP_CAPABILITIES:
	case OP_NO_NEW_PRIVILEGES:
	case OP_LANDLOCK:
	case OP_SECCOMP:
	case OP_COUNT:
		break;
	}
	return COVER_NOTHING;
}

/* path_is_within without its strlen: this runs once per entry and operation. */
static bool is_at_or_below(const char *path, const char *target, bool *ret_exact)
{
	while (*target && *target == *path) {
		target++;
		path++;
	}
	*ret_exact = *path == '\0';
	return *target == '\0' && (*path == '\0' || *path == '/' || path[-1] == '/');
}

struct covering {
	enum cover cover;
	bool exact;
	const struct op *op; /* NULL when there is none */
};

/* The last operation that decides what is at `path`: later mounts cover earlier ones. */
static struct covering plan_covering(const struct plan *plan, const char *path)
{
	for (size_t i = plan->count; i-- > 0;) {
		const struct op *op = &plan->op[i];
		bool exact;
		if (op_info[op->kind].phase != PHASE_MOUNTS || !op->target ||
			!is_at_or_below(path, op->target, &exact))
			continue;
		enum cover cover = op_cover(op, exact);
		if (cover != COVER_NOTHING)
			return (struct covering){ cover, exact, op };
	}
	return (struct covering){ COVER_NOTHING, false, NULL };
}

bool mirror_shows(const char *path, const void *plan)
{
	return plan_covering(plan, path).cover == COVER_HOST;
}

bool mirror_writes(const char *path, const void *plan)
{
	struct covering covering = plan_covering(plan, path);
	if (covering.cover != COVER_HOST)
		return false;
	const struct op *op = covering.op;
	return op->kind == OP_OVERLAY ||
	       ((op->kind == OP_BIND || op->kind == OP_BIND_FD) && !(op->flags & BIND_READ_ONLY));
}

/* Is there nothing to do for `path`: it is there already, or the plan has its own in that place? */
static bool is_settled(const struct plan *plan, const char *path)
{
	struct covering covering = plan_covering(plan, path);
	return covering.cover == COVER_HOST || (covering.cover == COVER_OTHER && covering.exact);
}

static bool is_kernel_made(const char *path)
{
	return path_is_within(path, "/proc") || path_is_within(path, "/dev") ||
	       path_is_within(path, "/sys");
}

static bool link_met(const char *link, const char *text, void *data)
{
	struct mirror *mirror = data;
	if (is_kernel_made(link))
		return false;
	mirror->followed = true;
	struct covering covering = plan_covering(mirror->plan, link);
	if (covering.cover == COVER_HOST)
		return true;
	if (covering.cover == COVER_OTHER && covering.exact)
		return false;
	struct op *op = plan_add(mirror->plan, OP_SYMLINK, mirror->because);
	op->target = plan_copy(mirror->plan, link);
	op->value = plan_copy(mirror->plan, text);
	return true;
}

/* May the directory of this file in /run be shown whole? Not /run itself, which holds the sockets
 * of everything, nor /run/user, where the user's buses and key agents listen. */
static bool run_directory_is_harmless(const char *directory)
{
	return path_is_within(directory, "/run") && strcmp(directory, "/run") != 0 &&
	       !path_is_within(directory, "/run/user") &&
	       !path_is_within(directory, "/run/docker") &&
	       !path_is_within(directory, "/run/containerd") &&
	       !path_is_within(directory, "/run/podman") &&
	       !path_is_within(directory, "/run/dbus") && strcmp(directory, "/run/systemd") != 0;
}

static void bind_add(const struct mirror *mirror, const char *path)
{
	struct op *op = plan_add(mirror->plan, OP_BIND, mirror->because);
	op->source = op->target = plan_copy(mirror->plan, path);
	op->flags = BIND_READ_ONLY | BIND_TRY;
}

/* `real` is where the walk ended. */
static void found_add(const struct mirror *mirror, const char *real)
{
	struct stat status;
	if (is_kernel_made(real) || strcmp(real, "/") == 0 || is_settled(mirror->plan, real))
		return;
	if (mirror->followed && path_is_within(real, "/run") && lstat(real, &status) == 0 &&
		!S_ISDIR(status.st_mode)) {
		AUTO_FREE char *directory = path_parent(real);
		if (run_directory_is_harmless(directory)) {
			if (!is_settled(mirror->plan, directory))
				bind_add(mirror, directory);
			return;
		}
	}
	bind_add(mirror, real);
}

static void mirror_start(struct mirror *mirror, struct plan *plan, const char *because)
{
	mirror->plan = plan;
	mirror->because = because;
	mirror->links.known = NULL;
	mirror->links.met = link_met;
	mirror->links.data = mirror;
}

static int mirror_walk(struct mirror *mirror, const char *path, struct err *e)
{
	mirror->followed = false;
	switch (links_follow(&mirror->links, path)) {
	case LINKS_FOUND:
		found_add(mirror, mirror->links.real);
		return 0;
	case LINKS_LOOP:
		err_set(e, 0, "%s (%s) cannot be shown inside: its links lead in a circle", path,
			mirror->because);
		return err_hint(e, "see where it goes with: namei -l %s", path);
	case LINKS_MISSING:
	case LINKS_STOPPED:
		return 0;
	}
	return 0;
}

int mirror_add(struct plan *plan, const char *host_path, const char *because, struct err *e)
{
	struct mirror mirror;
	if (host_path[0] != '/')
		return err_set(e, 0, "%s (%s) is not an absolute path", host_path, because);
	mirror_start(&mirror, plan, because);
	return mirror_walk(&mirror, host_path, e);
}

bool mirror_links(struct plan *plan, const char *path, const char *because)
{
	struct mirror mirror;
	mirror_start(&mirror, plan, because);
	return links_follow(&mirror.links, path) == LINKS_FOUND;
}

int host_tree_add(struct plan *plan, const char *because, struct err *e)
{
	static const char *const tree[] = { "/usr", "/bin", "/lib", "/lib32", "/lib64", "/libx32",
		"/sbin" };
	struct mirror mirror;
	mirror_start(&mirror, plan, because);
	for (size_t i = 0; i < sizeof tree / sizeof tree[0]; i++)
		if (mirror_walk(&mirror, tree[i], e) < 0)
			return -1;
	return 0;
}

static bool is_skipped(const char *const *skip, const char *name)
{
	for (; skip && *skip; skip++)
		if (strcmp(*skip, name) == 0)
			return true;
	return false;
}

void host_etc_add(struct plan *plan, const char *because, const char *const *skip)
{
	static const char *const known[] = { "/etc", NULL };
	struct mirror mirror;
	char path[256] = "/etc/";
	mirror_start(&mirror, plan, because);
	mirror.links.known = known;
	for (const char *const *name = etc_list; *name; name++) {
		size_t length = strlen(*name);
		if (is_skipped(skip, *name) || length >= sizeof path - 5)
			continue;
		memcpy(path + 5, *name, length + 1);
		/* A loop is one on the host too, and nobody asked for this name. */
		mirror_walk(&mirror, **name == '/' ? *name : path, NULL);
	}
}
