/* SPDX-License-Identifier: MIT */
/*
 * The plan for people. A heading per phase; below it rows of a word that says what happens, what it
 * happens to, and the reason. Neighbours of the same kind and reason share a row where the single
 * one is not news: namespaces, directories, variables that are kept, read-only binds at their own
 * path.
 */
#include "plan/plan.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "plan/describe.h"

enum {
	WORD_COLUMNS = 12, /* the longest word is "read-write" */
	WHAT_COLUMNS = 64, /* rows that are longer push their reason to the right */
	VALUE_COLUMNS = 100,
};

struct row {
	struct text what;
	const char *word; /* NULL: a row that goes on */
	const char *because;
	enum op_kind kind;
	bool joins; /* the next operation of the same kind, word and reason may be put in it */
};

struct rows {
	struct row *row;
	size_t count;
};

/* How many columns UTF-8 text takes, wide characters aside. */
static size_t columns(const struct text *t)
{
	size_t count = 0;
	for (size_t i = 0; i < t->length; i++)
		count += (t->data[i] & 0xc0) != 0x80;
	return count;
}

/* --- what each operation says ---------------------------------------------------------------- */

static void add_bind(const struct op *op, struct row *row)
{
	bool same = strcmp(op->source, op->target) == 0;
	row->word = op->flags & BIND_READ_ONLY ? "read-only" : "read-write";
	row->joins = same && (op->flags & ~BIND_TRY) == BIND_READ_ONLY;
	text_add_visible(&row->what, op->target);
	if (!same) {
		text_add(&row->what, " from ");
		text_add_visible(&row->what, op->source);
	}
	if (op->flags & BIND_DEVICES)
		text_add(&row->what, ", with its devices");
	if ((op->flags & BIND_TRY) && !row->joins)
		text_add(&row->what, ", if it is there");
}

static void add_memory(const struct op *op, struct row *row)
{
	row->word = op->kind == OP_TMPFS ? "tmpfs" : "dev";
	text_add_visible(&row->what, op->target);
	text_add(&row->what, op->size ? ", at most " : "");
	text_add(&row->what, op->size ? size_show(op->size).text : "");
	if (op->inodes)
		text_format(&row->what, "%s%s files", op->size ? " and " : ", at most ",
			size_show(op->inodes).text);
	if (op->kind == OP_TMPFS && op->perms != 0755)
		text_format(&row->what, ", mode %04o", op->perms);
}

static void add_overlay(const struct op *op, struct row *row)
{
	row->word = "overlay";
	text_add_visible(&row->what, op->target);
	for (size_t i = 0; op->layers[i]; i++) {
		text_add(&row->what, i ? ", " : " over ");
		text_add_visible(&row->what, op->layers[i]);
	}
	text_add(&row->what, op->upper ? ", changes go to " : ", read-only");
	text_add_visible(&row->what, op->upper ? op->upper : "");
}

static void add_proc(const struct op *op, struct row *row)
{
	row->word = "proc";
	text_add_visible(&row->what, op->target);
	if (op->flags & PROC_HOST)
		text_add(&row->what, ", the outer one: the host's processes are listed");
	if (op->flags & PROC_NESTING)
		text_add(&row->what, ", and one buried for nested sandboxes");
}

static void add_made(const struct op *op, struct row *row)
{
	row->word = op->kind == OP_FILE ? "file" : "directory";
	row->joins = op->kind == OP_DIR && op->perms == 0755;
	text_add_visible(&row->what, op->target);
	if (op->kind == OP_FILE)
		text_format(&row->what, ", %zu bytes", strlen(op->value));
	else if (!row->joins)
		text_format(&row->what, ", mode %04o", op->perms);
}

static void add_link(const struct op *op, struct row *row)
{
	row->word = "link";
	text_add_visible(&row->what, op->target);
	text_add(&row->what, " -> ");
	text_add_visible(&row->what, op->value);
}

/* NAME=value, cut where a line would no longer be read; JSON has the whole. */
static void add_variable(const struct op *op, struct row *row)
{
	row->word = "set";
	text_add_visible(&row->what, op->name);
	if (op->flags & ENV_SECRET) {
		text_add(&row->what, " (secret)");
		return;
	}
	text_add(&row->what, "=");
	AUTO_FREE char *start = memory_slice(op->value, VALUE_COLUMNS);
	bool cut = start && op->value[strlen(start)];
	while (cut && *start && (op->value[strlen(start)] & 0xc0) == 0x80)
		start[strlen(start) - 1] = '\0'; /* not through a character */
	text_add_visible(&row->what, start ? start : "");
	text_add(&row->what, cut ? "..." : "");
}

static bool limit_is_bytes(const char *name)
{
	static const char *const in_bytes[] = { "memory", "data", "core" };
	for (size_t i = 0; i < sizeof in_bytes / sizeof in_bytes[0]; i++)
		if (strcmp(in_bytes[i], name) == 0)
			return true;
	return false;
}

static void add_limit(const struct op *op, struct row *row)
{
	row->word = "limit";
	text_add_visible(&row->what, op->name);
	if (limit_is_bytes(op->name))
		text_format(&row->what, " %s", size_show(op->number).text);
	else
		text_format(&row->what, " %" PRIu64, op->number);
}

static void add_flag_name(const char *name, void *data)
{
	struct text *what = data;
	text_add(what, what->length ? ", " : "");
	text_add(what, name);
}

static void add_landlock(const struct op *op, struct row *row)
{
	row->word = "landlock";
	flags_each(op->flags, add_flag_name, &row->what);
}

static void add_capabilities(const struct op *op, struct row *row)
{
	row->word = op->number ? "keep" : "drop";
	if (op->number)
		text_format(&row->what, "only capabilities 0x%" PRIx64, op->number);
	else
		text_add(&row->what, "all capabilities");
}

static void add_words(struct row *row, const char *word, const char *what, bool joins)
{
	row->word = word;
	row->joins = joins;
	text_add_visible(&row->what, what);
}

/* As long as there are operations: without a default, one that is forgotten stops the build. */
static void row_fill(const struct op *op, struct row *row)
{
	switch (op->kind) {
	case OP_NAMESPACE:
		return add_words(row, "new", op->name, true);
	case OP_IDENTITY:
		row->word = "identity";
		return text_format(&row->what, "uid %u, gid %u", op->uid, op->gid);
	case OP_HOSTNAME:
		return add_words(row, "host name", op->value, false);
	case OP_BIND:
	case OP_BIND_FD:
		return add_bind(op, row);
	case OP_TMPFS:
	case OP_DEV:
		return add_memory(op, row);
	case OP_OVERLAY:
		return add_overlay(op, row);
	case OP_PROC:
		return add_proc(op, row);
	case OP_DIR:
	case OP_FILE:
		return add_made(op, row);
	case OP_SYMLINK:
		return add_link(op, row);
	case OP_MASK:
		return add_words(row, "hidden", op->target, false);
	case OP_REMOUNT_RO:
		add_words(row, "read-only", op->target, false);
		return text_add(&row->what, ", from here on");
	case OP_TMP_OVERLAY:
		return add_words(row, "overlay", op->target, false);
	case OP_COPY_FD:
	case OP_BIND_DATA:
		return add_words(row, "file", op->target, false);
	case OP_MQUEUE:
		return add_words(row, "message queues", op->target, false);
	case OP_CHMOD:
		return add_words(row, "permissions", op->target, false);
	case OP_ENV_CLEAR:
		return add_words(row, "clear", "everything", false);
	case OP_ENV_KEEP:
		return add_words(row, "keep", op->name, true);
	case OP_ENV_UNSET:
		return add_words(row, "unset", op->name, true);
	case OP_ENV_SET:
		return add_variable(op, row);
	case OP_CWD:
		return add_words(row, "start in", op->target, false);
	case OP_LIMIT:
		return add_limit(op, row);
	case OP_NO_USER_NAMESPACES:
		return add_words(row, "forbid", "user namespaces", false);
	case OP_CAPABILITIES:
		return add_capabilities(op, row);
	case OP_NO_NEW_PRIVILEGES:
		return add_words(row, "forbid", "new privileges", false);
	case OP_LANDLOCK:
		return add_landlock(op, row);
	case OP_SECCOMP:
		return add_words(row, "seccomp", op->name, false);
	case OP_SECCOMP_FD:
		return add_words(row, "seccomp", "a filter of the caller's", false);
	case OP_COUNT:
		return;
	}
}

/* --- rows ------------------------------------------------------------------------------------ */

static bool row_joins(const struct row *last, const struct row *next)
{
	return last->joins && next->joins && last->kind == next->kind &&
	       strcmp(last->because, next->because) == 0 &&
	       (!last->word || strcmp(last->word, next->word) == 0);
}

static void rows_add(struct rows *rows, const struct op *op)
{
	struct row next = { .kind = op->kind, .because = op->because };
	row_fill(op, &next);
	struct row *last = rows->count ? &rows->row[rows->count - 1] : NULL;
	if (last && row_joins(last, &next)) {
		if (columns(&last->what) + 1 + columns(&next.what) <= WHAT_COLUMNS) {
			text_add(&last->what, " ");
			text_add(&last->what, next.what.data ? next.what.data : "");
			text_free(&next.what);
			return;
		}
		next.word = NULL;
	}
	rows->row[rows->count++] = next;
}

static size_t rows_width(const struct rows *rows)
{
	size_t width = 0;
	for (size_t i = 0; i < rows->count; i++) {
		size_t wide = columns(&rows->row[i].what);
		if (wide <= WHAT_COLUMNS && wide > width)
			width = wide;
	}
	return width;
}

static void rows_print(struct rows *rows, struct text *out)
{
	size_t width = rows_width(rows);
	for (size_t i = 0; i < rows->count; i++) {
		struct row *row = &rows->row[i];
		size_t wide = columns(&row->what);
		text_format(out, "  %-*s%s", WORD_COLUMNS, row->word ? row->word : "",
			row->what.data ? row->what.data : "");
		text_format(out, "%*s", (int)(wide < width ? width - wide : 0) + 2, "");
		text_add(out, row->word ? "(" : "");
		text_add_visible(out, row->word ? row->because : "");
		text_add(out, row->word ? ")" : "");
		while (out->data[out->length - 1] == ' ')
			out->data[--out->length] = '\0';
		text_add(out, "\n");
		text_free(&row->what);
	}
	rows->count = 0;
}

static void show_command(const struct plan *plan, struct text *out)
{
	if (!plan->command || !plan->command[0])
		return;
	text_add(out, "command");
	for (size_t i = 0; plan->command[i]; i++) {
		text_add(out, " ");
		text_add_bash_word(out, plan->command[i]);
	}
	if (plan->argv0) {
		text_add(out, "  (as ");
		text_add_visible(out, plan->argv0);
		text_add(out, ")");
	}
	text_add(out, "\n");
}

void plan_show_text(const struct plan *plan, struct text *out)
{
	struct rows rows = { .row = memory_alloc(plan->count, sizeof *rows.row) };
	show_command(plan, out);
	for (size_t i = 0; i < plan->count; i++) {
		enum phase phase = op_info[plan->op[i].kind].phase;
		if (i == 0 || phase != op_info[plan->op[i - 1].kind].phase) {
			rows_print(&rows, out);
			text_format(out, "%s%s\n", out->length ? "\n" : "", phase_names[phase]);
		}
		rows_add(&rows, &plan->op[i]);
	}
	rows_print(&rows, out);
	free(rows.row);
}
