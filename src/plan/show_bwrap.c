/* SPDX-License-Identifier: MIT */
/*
 * The plan as a bubblewrap command line for bash: one option to a line, to be pasted as it is.
 *
 * Theory. Options are collected in order; comments cannot stand between continued lines, so what
 * bubblewrap cannot express goes before the command. File contents and empty masks arrive through
 * descriptors that the line itself opens. What bubblewrap does without being asked (its own mount
 * namespace, no_new_privs) needs no words. Values that are kept from the outer environment, and
 * secrets, are expanded by the shell, so that they are not in the text.
 *
 * Which version understands which option is in the table below.
 */
#include "plan/plan.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/path.h"
#include "plan/describe.h"

/* Options that came after 0.4, and the minor version they came with. */
static const struct option_since {
	const char *option;
	unsigned minor;
} options_since[] = {
	{ "--clearenv", 5 },
	{ "--perms", 5 },
	{ "--size", 7 },
	{ "--disable-userns", 8 },
	{ "--argv0", 9 },
	{ "--overlay", 11 },
};

enum { FIRST_FD = 11 }; /* bash keeps 10 for itself, and 3 to 9 are likely to be taken */

struct bwrap {
	const struct plan *plan;
	unsigned minor;
	bool partial;
	int next_fd;
	struct text notes;   /* comment lines, before the command */
	struct text options; /* "  --option words \\\n" */
	struct err *e;
};

static void note(struct bwrap *b, const char *kind, const struct op *op, const char *what)
{
	text_format(&b->notes, "# %s: ", kind);
	text_add_visible(&b->notes, op_describe(op).text);
	text_format(&b->notes, ": %s\n", what);
}

/* Something of `op` is lost: fails, or notes it and goes on. */
static int lose(struct bwrap *b, const struct op *op, const char *what)
{
	if (b->partial) {
		note(b, "not expressible", op, what);
		return 0;
	}
	err_set(b->e, 0, "%s cannot be expressed for bubblewrap 0.%u: %s", op_describe(op).text,
		b->minor, what);
	return err_hint(b->e, "the text and JSON formats show the whole plan");
}

static bool knows(const struct bwrap *b, const char *option)
{
	for (size_t i = 0; i < sizeof options_since / sizeof options_since[0]; i++)
		if (strcmp(options_since[i].option, option) == 0)
			return b->minor >= options_since[i].minor;
	return true;
}

/* --- words ----------------------------------------------------------------------------------- */

static void start(struct bwrap *b)
{
	text_add(&b->options, "  ");
}

static void word(struct bwrap *b, const char *text)
{
	if (b->options.data[b->options.length - 1] != ' ')
		text_add(&b->options, " ");
	text_add_bash_word(&b->options, text);
}

static void end(struct bwrap *b)
{
	text_add(&b->options, " \\\n");
}

/* A whole line of up to three words. */
static int line(struct bwrap *b, const char *option, const char *first, const char *second)
{
	start(b);
	word(b, option);
	if (first)
		word(b, first);
	if (second)
		word(b, second);
	end(b);
	return 0;
}

/* --perms MODE at the start of a line, for the option that follows. */
static void perms(struct bwrap *b, mode_t mode)
{
	char octal[16];
	snprintf(octal, sizeof octal, "%04o", mode);
	word(b, "--perms");
	word(b, octal);
}

/* OPTION FD TARGET, with the descriptor opened on the same line by `redirection`. */
static void data_option(struct bwrap *b, const char *option, const char *target)
{
	char number[16];
	snprintf(number, sizeof number, "%d", b->next_fd);
	word(b, option);
	word(b, number);
	word(b, target);
	text_format(&b->options, " %d<", b->next_fd++);
}

/* --- namespaces ------------------------------------------------------------------------------ */

static int show_namespace(struct bwrap *b, const struct op *op)
{
	static const char *const expressible[] = { "user", "pid", "ipc", "uts", "cgroup", "net" };
	if (strcmp(op->name, "mount") == 0)
		return 0; /* bubblewrap always makes one */
	for (size_t i = 0; i < sizeof expressible / sizeof expressible[0]; i++) {
		if (strcmp(expressible[i], op->name) != 0)
			continue;
		AUTO_FREE char *option = memory_format("--unshare-%s", op->name);
		return line(b, option, NULL, NULL);
	}
	return lose(b, op, "there is no such option");
}

static int show_identity(struct bwrap *b, const struct op *op)
{
	char number[16];
	snprintf(number, sizeof number, "%u", op->uid);
	line(b, "--uid", number, NULL);
	snprintf(number, sizeof number, "%u", op->gid);
	return line(b, "--gid", number, NULL);
}

/* --- mounts ---------------------------------------------------------------------------------- */

static int show_empty(struct bwrap *b, const char *target)
{
	start(b);
	if (knows(b, "--perms"))
		perms(b, 0700);
	word(b, "--tmpfs");
	word(b, target);
	end(b);
	return 0;
}

static int show_bind(struct bwrap *b, const struct op *op)
{
	bool read_only = op->flags & BIND_READ_ONLY, devices = op->flags & BIND_DEVICES;
	if (read_only && devices)
		return lose(b, op, "a bind with devices is never read-only there");
	if ((op->flags & BIND_SCRATCH) && access(op->source, F_OK) < 0) {
		int lost = lose(b, op, "it is made for each run; an empty tmpfs stands in for it");
		return lost < 0 ? -1 : show_empty(b, op->target);
	}
	AUTO_FREE char *option = memory_format("--%sbind%s",
		read_only ? "ro-"
		: devices ? "dev-"
			  : "",
		op->flags & BIND_TRY ? "-try" : "");
	return line(b, option, op->source, op->target);
}

static int show_tmpfs(struct bwrap *b, const struct op *op)
{
	if (op->inodes && lose(b, op, "its number of files cannot be limited") < 0)
		return -1;
	if (op->size && !knows(b, "--size") && lose(b, op, "its size cannot be limited") < 0)
		return -1;
	if (op->perms != 0755 && !knows(b, "--perms"))
		return lose(b, op, "its permissions cannot be set");
	start(b);
	if (op->perms != 0755)
		perms(b, op->perms);
	if (op->size && knows(b, "--size")) {
		char bytes[24];
		snprintf(bytes, sizeof bytes, "%" PRIu64, op->size);
		word(b, "--size");
		word(b, bytes);
	}
	word(b, "--tmpfs");
	word(b, op->target);
	end(b);
	return 0;
}

static int show_overlay(struct bwrap *b, const struct op *op)
{
	if (!op->upper && !op->layers[1]) /* which --ro-overlay refuses, and which is just a bind */
		return line(b, "--ro-bind", op->layers[0], op->target);
	if (!knows(b, "--overlay"))
		return lose(b, op, "overlays came with 0.11");
	for (size_t i = 0; op->layers[i]; i++)
		line(b, "--overlay-src", op->layers[i], NULL);
	if (!op->upper)
		return line(b, "--ro-overlay", op->target, NULL);
	start(b);
	word(b, "--overlay");
	word(b, op->upper);
	word(b, op->work);
	word(b, op->target);
	end(b);
	return 0;
}

static int show_tmp_overlay(struct bwrap *b, const struct op *op)
{
	if (!knows(b, "--overlay"))
		return lose(b, op, "overlays came with 0.11");
	for (size_t i = 0; op->layers[i]; i++)
		line(b, "--overlay-src", op->layers[i], NULL);
	return line(b, "--tmp-overlay", op->target, NULL);
}

/* What a caller's descriptor holds: its number is the caller's too. */
static int show_data(struct bwrap *b, const struct op *op)
{
	char number[16];
	snprintf(number, sizeof number, "%d", op->fd);
	if (!knows(b, "--perms"))
		return lose(b, op, "its permissions cannot be set");
	start(b);
	perms(b, op->perms);
	word(b, op->kind == OP_COPY_FD       ? "--file"
		: op->flags & BIND_READ_ONLY ? "--ro-bind-data"
					     : "--bind-data");
	word(b, number);
	word(b, op->target);
	end(b);
	return 0;
}

static int show_chmod(struct bwrap *b, const struct op *op)
{
	char octal[16];
	snprintf(octal, sizeof octal, "%04o", op->perms);
	if (!knows(b, "--perms"))
		return lose(b, op, "permissions cannot be changed");
	return line(b, "--chmod", octal, op->target);
}

static int show_filter(struct bwrap *b, const struct op *op)
{
	char number[16];
	snprintf(number, sizeof number, "%d", op->fd);
	return line(b, "--add-seccomp-fd", number, NULL);
}

static int show_proc(struct bwrap *b, const struct op *op)
{
	if ((op->flags & PROC_NESTING) &&
		lose(b, op, "nothing is prepared for nested sandboxes") < 0)
		return -1;
	if (!(op->flags & PROC_HOST))
		return line(b, "--proc", op->target, NULL);
	if (lose(b, op, "the outer /proc would be there whole; it is read-only instead") < 0)
		return -1;
	return line(b, "--ro-bind", "/proc", op->target);
}

static int show_dev(struct bwrap *b, const struct op *op)
{
	if (op->size && lose(b, op, "its size cannot be limited") < 0)
		return -1;
	return line(b, "--dev", op->target, NULL);
}

static int show_made(struct bwrap *b, const struct op *op)
{
	mode_t usual = op->kind == OP_DIR ? 0755 : 0666;
	if (op->perms != usual && !knows(b, "--perms"))
		return lose(b, op, "its permissions cannot be set");
	start(b);
	if (op->perms != usual)
		perms(b, op->perms);
	if (op->kind == OP_DIR) {
		word(b, "--dir");
		word(b, op->target);
	} else {
		data_option(b, "--file", op->target);
		text_add(&b->options, " <(printf %s ");
		text_add_bash_word(&b->options, op->value);
		text_add(&b->options, ")");
	}
	end(b);
	return 0;
}

enum found { FOUND_NOTHING, FOUND_DIRECTORY, FOUND_FILE };

/* What is at `target` when the operation `index` is reached, as far as it can be told from here. */
static enum found target_find(const struct plan *plan, size_t index, const char *target)
{
	for (size_t i = 0; i < index; i++) /* mountpoints in it, so it was made for them */
		if (op_effect(plan->op[i].kind) != EFFECT_NONE &&
			strcmp(plan->op[i].target, target) != 0 &&
			path_is_within(plan->op[i].target, target))
			return FOUND_DIRECTORY;
	const struct op *cover = plan_cover(plan, index, target);
	if (!cover)
		return FOUND_NOTHING;
	if (cover->kind == OP_BIND || cover->kind == OP_BIND_FD) {
		const char *below = target + (cover->target[1] ? strlen(cover->target) : 0);
		const char *top = cover->source[1] ? cover->source : "";
		AUTO_FREE char *path = memory_format("%s%s", top, below);
		struct stat info;
		if (stat(*path ? path : "/", &info) < 0)
			return FOUND_NOTHING;
		return S_ISDIR(info.st_mode) ? FOUND_DIRECTORY : FOUND_FILE;
	}
	if (strcmp(cover->target, target) != 0)
		return FOUND_NOTHING;
	return cover->kind == OP_FILE ? FOUND_FILE : FOUND_DIRECTORY;
}

static int show_mask(struct bwrap *b, const struct op *op)
{
	enum found found = target_find(b->plan, (size_t)(op - b->plan->op), op->target);
	if (found == FOUND_NOTHING) { /* as when the plan runs; bubblewrap would create it */
		note(b, "left out", op, "there is nothing to hide");
		return 0;
	}
	if (!knows(b, "--perms"))
		return lose(b, op, "its permissions cannot be set");
	start(b);
	perms(b, found == FOUND_DIRECTORY ? 0555 : 0444);
	if (found == FOUND_DIRECTORY) {
		word(b, "--tmpfs");
		word(b, op->target);
		end(b);
		return line(b, "--remount-ro", op->target, NULL);
	}
	data_option(b, "--ro-bind-data", op->target);
	text_add(&b->options, "/dev/null");
	end(b);
	return 0;
}

/* --- environment ----------------------------------------------------------------------------- */

static bool is_shell_name(const char *name)
{
	if (!isalpha((unsigned char)*name) && *name != '_')
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && *name != '_')
			return false;
	return true;
}

static int show_keep(struct bwrap *b, const struct op *op)
{
	if (!is_shell_name(op->name))
		return lose(b, op, "the shell cannot expand such a name");
	text_format(&b->options, "  ${%s+--setenv %s \"$%s\"} \\\n", op->name, op->name, op->name);
	return 0;
}

static int show_set(struct bwrap *b, const struct op *op)
{
	if (!(op->flags & ENV_SECRET)) {
		start(b);
		word(b, "--setenv");
		word(b, op->name);
		word(b, op->value);
		end(b);
		return 0;
	}
	if (!is_shell_name(op->name))
		return lose(b, op, "its value is secret, and the shell cannot expand such a name");
	text_format(&b->options,
		"  --setenv %s \"${%s?is a secret that is not printed here}\" \\\n", op->name,
		op->name);
	return 0;
}

static int show_clear(struct bwrap *b, const struct op *op)
{
	if (!knows(b, "--clearenv"))
		return lose(b, op, "--clearenv came with 0.5");
	return line(b, "--clearenv", NULL, NULL);
}

/* --- confinement ----------------------------------------------------------------------------- */

static int show_capabilities(struct bwrap *b, const struct op *op)
{
	line(b, "--cap-drop", "ALL", NULL);
	for (unsigned i = 0; i < 64; i++) {
		char number[16];
		snprintf(number, sizeof number, "%u", i);
		if (op->number >> i & 1)
			line(b, "--cap-add", number, NULL);
	}
	return 0;
}

static int show_no_user_namespaces(struct bwrap *b, const struct op *op)
{
	if (!knows(b, "--disable-userns"))
		return lose(b, op, "--disable-userns came with 0.8");
	return line(b, "--disable-userns", NULL, NULL);
}

/* --- the whole ------------------------------------------------------------------------------- */

/* As long as there are operations: without a default, one that is forgotten stops the build. */
static int show_operation(struct bwrap *b, const struct op *op)
{
	switch (op->kind) {
	case OP_NAMESPACE:
		return show_namespace(b, op);
	case OP_IDENTITY:
		return show_identity(b, op);
	case OP_HOSTNAME:
		return line(b, "--hostname", op->value, NULL);
	case OP_BIND:
	case OP_BIND_FD: /* of the path that the descriptor was opened by */
		return show_bind(b, op);
	case OP_TMPFS:
		return show_tmpfs(b, op);
	case OP_OVERLAY:
		return show_overlay(b, op);
	case OP_PROC:
		return show_proc(b, op);
	case OP_DEV:
		return show_dev(b, op);
	case OP_DIR:
	case OP_FILE:
		return show_made(b, op);
	case OP_SYMLINK:
		return line(b, "--symlink", op->value, op->target);
	case OP_MASK:
		return show_mask(b, op);
	case OP_REMOUNT_RO:
		return line(b, "--remount-ro", op->target, NULL);
	case OP_TMP_OVERLAY:
		return show_tmp_overlay(b, op);
	case OP_COPY_FD:
	case OP_BIND_DATA:
		return show_data(b, op);
	case OP_MQUEUE:
		return line(b, "--mqueue", op->target, NULL);
	case OP_CHMOD:
		return show_chmod(b, op);
	case OP_SECCOMP_FD:
		return show_filter(b, op);
	case OP_ENV_CLEAR:
		return show_clear(b, op);
	case OP_ENV_KEEP:
		return show_keep(b, op);
	case OP_ENV_UNSET:
		return line(b, "--unsetenv", op->name, NULL);
	case OP_ENV_SET:
		return show_set(b, op);
	case OP_CWD:
		return line(b, "--chdir", op->target, NULL);
	case OP_LIMIT:
		return lose(b, op, "bubblewrap sets no limits");
	case OP_NO_USER_NAMESPACES:
		return show_no_user_namespaces(b, op);
	case OP_CAPABILITIES:
		return show_capabilities(b, op);
	case OP_NO_NEW_PRIVILEGES:
		return 0; /* bubblewrap always sets it */
	case OP_LANDLOCK:
		return lose(b, op, "bubblewrap does not use Landlock");
	case OP_SECCOMP:
		return lose(b, op, "a filter can only be passed as a compiled program");
	case OP_COUNT:
		return 0;
	}
	return 0;
}

static int show_argv0(struct bwrap *b)
{
	if (!b->plan->argv0)
		return 0;
	if (knows(b, "--argv0"))
		return line(b, "--argv0", b->plan->argv0, NULL);
	if (!b->partial)
		return err_set(b->e, 0, "another argv[0] came to bubblewrap with 0.9");
	text_add(&b->notes, "# not expressible: another argv[0] came with 0.9\n");
	return 0;
}

static int show_all(struct bwrap *b)
{
	/* As in every sandbox of ours: it ends with what started it, and it has no hold on the
	 * terminal that it runs in. */
	line(b, "--die-with-parent", NULL, NULL);
	line(b, "--new-session", NULL, NULL);
	for (size_t i = 0; i < b->plan->count; i++)
		if (show_operation(b, &b->plan->op[i]) < 0)
			return -1;
	return show_argv0(b);
}

int plan_show_bwrap(
	const struct plan *plan, unsigned minor, bool partial, struct text *out, struct err *e)
{
	struct bwrap b = {
		.plan = plan, .minor = minor, .partial = partial, .next_fd = FIRST_FD, .e = e
	};
	int result = show_all(&b);
	if (result == 0) {
		text_add(out, b.notes.data ? b.notes.data : "");
		text_add(out, "bwrap \\\n");
		text_add(out, b.options.data);
		text_add(out, "  --");
		for (size_t i = 0; plan->command && plan->command[i]; i++) {
			text_add(out, " ");
			text_add_bash_word(out, plan->command[i]);
		}
		text_add(out, "\n");
	}
	text_free(&b.notes);
	text_free(&b.options);
	return result;
}
