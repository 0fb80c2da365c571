/* SPDX-License-Identifier: MIT */
/*
 * Theory. Whoever makes plans makes mistakes; whoever carries them out should not have to think.
 * Each rule below is one function, and a plan that breaks one is refused before anything is
 * started, with a sentence that names the operation, its reason and the rule's number.
 *
 *  1  Phases come in order: namespaces, mounts, environment, limits, confinement.
 *  2  Every target is absolute and normal (no "..", no empty or "." component); every source, layer,
 *     upper and work directory is absolute.
 *  3  Nothing that an earlier operation put in place is covered by a later mount above it. Masks
 *     may: concealing is their purpose. At equal targets the later operation wins, as the user's
 *     words do.
 *  4  Confinement ends with the seccomp filter: only further filters follow one.
 *  5  A read-only parent comes before its writable children.
 *  6  An operation has every field that its kind needs and none that it does not use; its flags are
 *     those of its kind; names are names.
 *  7  The environment is cleared before anything is set in it, and variables are kept only after
 *     that.
 *  8  no_new_privileges comes before Landlock and seccomp, which the kernel refuses without it.
 *  9  What changes something of the host unless unshared comes with its namespace: mounts with
 *     mount, identity and the ban of user namespaces with user, the host name with uts. Each
 *     namespace once.
 * 10  A tree is made read-only after everything in it is made, and there is a mount to remount.
 * 11  What sets one single thing stands once in a plan.
 *
 * 3, 5, 7 (its first half) and 10 hold for plans that are made by policy. A `faithful` plan, which
 * is somebody's bubblewrap command line, may cover and clear what it likes: it says what it means. Its
 * paths are as they were given (2): from the sandbox's root, and from the caller's directory.
 */
#include "plan/plan.h"

#include <string.h>

#include "base/memory.h"
#include "base/path.h"
#include "plan/describe.h"

static int broken(struct err *e, unsigned rule, const struct op *op, const char *what)
{
	return err_set(e, 0, "%s %s (rule %u of plans)", op_describe(op).text, what, rule);
}

/* --- 6: fields ------------------------------------------------------------------------------- */

static unsigned flags_allowed(enum op_kind kind)
{
	switch (kind) {
	case OP_BIND:
	case OP_BIND_FD:
		return BIND_READ_ONLY | BIND_DEVICES | BIND_TRY | BIND_SCRATCH;
	case OP_PROC:
		return PROC_HOST | PROC_NESTING;
	case OP_BIND_DATA:
		return BIND_READ_ONLY;
	case OP_ENV_SET:
		return ENV_SECRET;
	case OP_LANDLOCK:
		return LANDLOCK_FILES | LANDLOCK_SCOPES;
	case OP_NAMESPACE:
	case OP_IDENTITY:
	case OP_HOSTNAME:
	case OP_TMPFS:
	case OP_OVERLAY:
	case OP_DEV:
	case OP_DIR:
	case OP_FILE:
	case OP_SYMLINK:
	case OP_MASK:
	case OP_REMOUNT_RO:
	case OP_TMP_OVERLAY:
	case OP_COPY_FD:
	case OP_MQUEUE:
	case OP_CHMOD:
	case OP_ENV_CLEAR:
	case OP_ENV_KEEP:
	case OP_ENV_UNSET:
	case OP_CWD:
	case OP_LIMIT:
	case OP_NO_USER_NAMESPACES:
	case OP_CAPABILITIES:
	case OP_NO_NEW_PRIVILEGES:
	case OP_SECCOMP:
	case OP_SECCOMP_FD:
	case OP_COUNT:
		return 0;
	}
	return 0;
}

/* Fields that an operation may leave empty although its kind has them: numbers have a zero that
 * means something, and an overlay without a place for changes is a read-only one. */
static const unsigned optional_fields = FIELD_UPPER | FIELD_WORK | FIELD_PERMS | FIELD_SIZE |
					FIELD_INODES | FIELD_NUMBER | FIELD_FLAGS | FIELD_UID |
					FIELD_GID;

static unsigned fields_filled(const struct op *op)
{
	return (op->name ? FIELD_NAME : 0u) | (op->source ? FIELD_SOURCE : 0u) |
	       (op->target ? FIELD_TARGET : 0u) | (op->value ? FIELD_VALUE : 0u) |
	       (op->layers ? FIELD_LAYERS : 0u) | (op->upper ? FIELD_UPPER : 0u) |
	       (op->work ? FIELD_WORK : 0u) | (op->fd >= 0 ? FIELD_FD : 0u) |
	       (op->perms ? FIELD_PERMS : 0u) | (op->size ? FIELD_SIZE : 0u) |
	       (op->inodes ? FIELD_INODES : 0u) | (op->number ? FIELD_NUMBER : 0u) |
	       (op->flags ? FIELD_FLAGS : 0u) | (op->uid ? FIELD_UID : 0u) |
	       (op->gid ? FIELD_GID : 0u);
}

static bool name_is_good(const struct op *op)
{
	bool variable = op_info[op->kind].phase == PHASE_ENVIRONMENT;
	return *op->name && !(variable && strchr(op->name, '='));
}

static int check_fields(const struct plan *plan, struct err *e)
{
	for (size_t i = 0; i < plan->count; i++) {
		const struct op *op = &plan->op[i];
		if ((unsigned)op->kind >= OP_COUNT)
			return err_set(
				e, 0, "operation %zu is of no known kind (rule 6 of plans)", i);
		unsigned used = op_info[op->kind].fields, filled = fields_filled(op);
		if (!op->because || !*op->because)
			return broken(e, 6, op, "does not say why it is there");
		if (used & ~optional_fields & ~filled)
			return broken(e, 6, op, "lacks a field that it needs");
		if (filled & ~used)
			return broken(e, 6, op, "has a field that it does not use");
		if (op->flags & ~flags_allowed(op->kind))
			return broken(e, 6, op, "has a flag of another kind of operation");
		if (!op->upper != !op->work)
			return broken(e, 6, op, "needs both an upper and a work directory");
		if (op->perms & ~07777u)
			return broken(e, 6, op, "has more than permission bits as permissions");
		if (op->layers && !op->layers[0])
			return broken(e, 6, op, "lacks layers");
		if (op->name && !name_is_good(op))
			return broken(e, 6, op, "has a name that is none");
	}
	return 0;
}

/* --- 1, 2 ------------------------------------------------------------------------------------ */

static int check_phases(const struct plan *plan, struct err *e)
{
	for (size_t i = 1; i < plan->count; i++)
		if (op_info[plan->op[i].kind].phase < op_info[plan->op[i - 1].kind].phase)
			return broken(e, 1, &plan->op[i], "comes after a later phase has begun");
	return 0;
}

static bool is_relative(const char *path)
{
	return path && *path != '/';
}

static int check_paths(const struct plan *plan, struct err *e)
{
	for (size_t i = 0; i < plan->count; i++) {
		const struct op *op = &plan->op[i];
		if (op->target && !plan->faithful && !path_is_normal(op->target))
			return broken(
				e, 2, op, "has a target that is not an absolute, normal path");
		bool relative =
			is_relative(op->source) || is_relative(op->upper) || is_relative(op->work);
		for (size_t j = 0; op->layers && op->layers[j]; j++)
			relative |= is_relative(op->layers[j]);
		if (relative && !plan->faithful)
			return broken(e, 2, op, "has a source that is not an absolute path");
	}
	return 0;
}

/* --- 3, 5: what covers what ------------------------------------------------------------------ */

/* For every directory above some target: who put the first thing, and the first writable thing,
 * below it. A hash table, so that a plan of thousands of mounts is checked in the time of one. */
struct above {
	const char *path; /* `length` bytes of some target; NULL: the slot is free */
	size_t length;
	const struct op *first;
	const struct op *first_writable;
};

struct above_table {
	struct above *slot;
	size_t size; /* a power of two */
};

static struct above *above_find(const struct above_table *table, const char *path, size_t length)
{
	size_t hash = 14695981039346656037u; /* FNV-1a */
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)path[i]) * 1099511628211u;
	for (;; hash++) {
		struct above *slot = &table->slot[hash & (table->size - 1)];
		if (!slot->path || (slot->length == length && !memcmp(slot->path, path, length)))
			return slot;
	}
}

/* Note `op` for each directory above its target. What is noted for a directory is noted for those
 * above it, so the walk ends at the first that has nothing to learn. */
static void above_note(struct above_table *table, const struct op *op)
{
	bool writable = op_is_writable(op);
	for (size_t length = strlen(op->target); length > 1;) {
		while (op->target[length - 1] != '/')
			length--;
		length = length > 1 ? length - 1 : 1; /* without the slash, but for the root */
		struct above *slot = above_find(table, op->target, length);
		if (slot->path && (!writable || slot->first_writable))
			return;
		slot->path = op->target;
		slot->length = length;
		slot->first = slot->first ? slot->first : op;
		slot->first_writable = slot->first_writable ? slot->first_writable
				       : writable           ? op
							    : NULL;
	}
}

static void above_start(struct above_table *table, const struct plan *plan)
{
	size_t most = 1;
	for (size_t i = 0; i < plan->count; i++)
		for (const char *p = plan->op[i].target; p && *p; p++)
			most += *p == '/';
	for (table->size = 16; table->size < 2 * most; table->size *= 2)
		;
	table->slot = memory_alloc(table->size, sizeof *table->slot);
}

static int check_covered(const struct above_table *table, const struct op *op, struct err *e)
{
	if (op_effect(op->kind) != EFFECT_COVERS)
		return 0;
	const struct above *slot = above_find(table, op->target, strlen(op->target));
	if (!slot->path)
		return 0;
	bool hides_writable = !op_is_writable(op) && slot->first_writable;
	const struct op *hidden = hides_writable ? slot->first_writable : slot->first;
	err_set(e, 0, "%s would hide %s (rule %d of plans)", op_describe(op).text,
		op_describe(hidden).text, hides_writable ? 5 : 3);
	return err_hint(
		e, "give %s before what lies below it, or mount only a part of it", op->target);
}

static int check_covering(const struct plan *plan, struct err *e)
{
	if (plan->faithful)
		return 0;
	struct above_table table;
	above_start(&table, plan);
	int result = 0;
	for (size_t i = 0; i < plan->count && result == 0; i++) {
		const struct op *op = &plan->op[i];
		result = check_covered(&table, op, e);
		if (op_effect(op->kind) != EFFECT_NONE)
			above_note(&table, op);
	}
	free(table.slot);
	return result;
}

/* --- 4, 7, 8 --------------------------------------------------------------------------------- */

static bool is_filter(const struct op *op)
{
	return op->kind == OP_SECCOMP || op->kind == OP_SECCOMP_FD;
}

static int check_seccomp_last(const struct plan *plan, struct err *e)
{
	for (size_t i = 1; i < plan->count; i++)
		if (is_filter(&plan->op[i - 1]) && !is_filter(&plan->op[i]))
			return broken(e, 4, &plan->op[i], "comes after the seccomp filter");
	return 0;
}

static int check_environment(const struct plan *plan, struct err *e)
{
	bool cleared = false, changed = false;
	for (size_t i = 0; i < plan->count; i++) {
		const struct op *op = &plan->op[i];
		if (op->kind == OP_ENV_CLEAR && changed && !plan->faithful)
			return broken(e, 7, op, "would drop what was set before it");
		if (op->kind == OP_ENV_KEEP && !cleared)
			return broken(e, 7, op, "keeps a variable that nothing has cleared");
		cleared |= op->kind == OP_ENV_CLEAR;
		changed |= op->kind == OP_ENV_SET || op->kind == OP_ENV_UNSET;
	}
	return 0;
}

static int check_privileges(const struct plan *plan, struct err *e)
{
	bool given_up = false;
	for (size_t i = 0; i < plan->count; i++) {
		const struct op *op = &plan->op[i];
		given_up |= op->kind == OP_NO_NEW_PRIVILEGES;
		if (!given_up && (op->kind == OP_LANDLOCK || is_filter(op)))
			return broken(e, 8, op, "comes without no_new_privileges before it");
	}
	return 0;
}

/* --- 9: namespaces --------------------------------------------------------------------------- */

static const char *const namespaces[] = { "user", "mount", "pid", "ipc", "uts", "cgroup", "net" };

static unsigned namespace_bit(const char *name)
{
	for (size_t i = 0; i < sizeof namespaces / sizeof namespaces[0]; i++)
		if (strcmp(namespaces[i], name) == 0)
			return 1u << i;
	return 0;
}

static const char *namespace_needed(enum op_kind kind)
{
	if (op_info[kind].phase == PHASE_MOUNTS)
		return "mount";
	if (kind == OP_HOSTNAME)
		return "uts";
	return kind == OP_IDENTITY || kind == OP_NO_USER_NAMESPACES ? "user" : NULL;
}

static int check_namespaces(const struct plan *plan, struct err *e)
{
	unsigned unshared = 0;
	for (size_t i = 0; i < plan->count; i++) {
		const struct op *op = &plan->op[i];
		if (op->kind != OP_NAMESPACE)
			continue;
		unsigned bit = namespace_bit(op->name);
		if (!bit)
			return broken(e, 9, op, "is no namespace that is known");
		if (unshared & bit)
			return broken(e, 9, op, "is there twice");
		unshared |= bit;
	}
	for (size_t i = 0; i < plan->count; i++) {
		const struct op *op = &plan->op[i];
		const char *needed = namespace_needed(op->kind);
		if (needed && !(unshared & namespace_bit(needed)))
			return err_set(e, 0,
				"%s needs a %s namespace, else it would act on the host (rule 9 of "
				"plans)",
				op_describe(op).text, needed);
	}
	return 0;
}

/* --- 10, 11 ---------------------------------------------------------------------------------- */

static int check_remounts(const struct plan *plan, struct err *e)
{
	for (size_t i = 0, sealed = 0; i < plan->count && !plan->faithful; i++) {
		const struct op *op = &plan->op[i];
		if (op->kind == OP_REMOUNT_RO) {
			const struct op *mount = plan_cover(plan, i, op->target);
			if (strcmp(mount ? mount->target : "/", op->target) != 0)
				return broken(e, 10, op, "has no mount to make read-only");
			sealed++;
		}
		if (!sealed || op_effect(op->kind) != EFFECT_NAME)
			continue;
		const struct op *mount = plan_cover(plan, i, op->target);
		const char *root = mount ? mount->target : "/";
		for (size_t j = 0; j < i; j++)
			if (plan->op[j].kind == OP_REMOUNT_RO && &plan->op[j] > mount &&
				strcmp(plan->op[j].target, root) == 0)
				return broken(
					e, 10, op, "lies in a tree that is read-only by then");
	}
	return 0;
}

static bool stands_once(enum op_kind kind)
{
	switch (kind) {
	case OP_IDENTITY:
	case OP_HOSTNAME:
	case OP_CWD:
	case OP_NO_USER_NAMESPACES:
	case OP_CAPABILITIES:
	case OP_NO_NEW_PRIVILEGES:
	case OP_LANDLOCK:
		return true;
	case OP_NAMESPACE: /* rule 9 */
	case OP_BIND:
	case OP_BIND_FD:
	case OP_TMPFS:
	case OP_OVERLAY:
	case OP_PROC:
	case OP_DEV:
	case OP_DIR:
	case OP_FILE:
	case OP_SYMLINK:
	case OP_MASK:
	case OP_REMOUNT_RO:
	case OP_TMP_OVERLAY:
	case OP_COPY_FD:
	case OP_BIND_DATA:
	case OP_MQUEUE:
	case OP_CHMOD:
	case OP_ENV_CLEAR:
	case OP_ENV_KEEP:
	case OP_ENV_UNSET:
	case OP_ENV_SET:
	case OP_LIMIT:
	case OP_SECCOMP:
	case OP_SECCOMP_FD:
	case OP_COUNT:
		return false;
	}
	return false;
}

static int check_single(const struct plan *plan, struct err *e)
{
	bool seen[OP_COUNT] = { false };
	for (size_t i = 0; i < plan->count; i++) {
		const struct op *op = &plan->op[i];
		if (seen[op->kind] && stands_once(op->kind))
			return broken(e, 11, op, "is there twice");
		seen[op->kind] = true;
	}
	return 0;
}

int plan_check(const struct plan *plan, struct err *e)
{
	/* Fields first: the other rules trust them. */
	static int (*const rules[])(const struct plan *, struct err *) = { check_fields,
		check_phases, check_paths, check_covering, check_seccomp_last, check_environment,
		check_privileges, check_namespaces, check_remounts, check_single };
	for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
		if (rules[i](plan, e) < 0)
			return -1;
	return 0;
}
