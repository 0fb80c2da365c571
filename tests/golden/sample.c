/* SPDX-License-Identifier: MIT */
/*
 * Plans to look at: `golden-sample PLAN FORMAT [DIRECTORY]`, where PLAN is
 *   every  one operation of every kind, in every variety that a printer treats in its own way
 *   tame   what Debian's bubblewrap can do, with sources in DIRECTORY
 * and FORMAT is text, json, bwrap-MINOR or bwrap-MINOR-partial.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"

static struct op *add(struct plan *plan, enum op_kind kind, const char *because)
{
	return plan_add(plan, kind, because);
}

static struct op *add_at(
	struct plan *plan, enum op_kind kind, const char *target, const char *because)
{
	struct op *op = add(plan, kind, because);
	op->target = target;
	if (op_info[kind].fields & FIELD_PERMS)
		op->perms = 0755;
	return op;
}

static struct op *add_bind(struct plan *plan, const char *source, const char *target,
	unsigned flags, const char *because)
{
	struct op *op = add_at(plan, OP_BIND, target, because);
	op->source = source;
	op->flags = flags;
	return op;
}

static struct op *add_tmpfs(struct plan *plan, const char *target, uint64_t size, uint64_t inodes,
	mode_t perms, const char *because)
{
	struct op *op = add_at(plan, OP_TMPFS, target, because);
	op->size = size;
	op->inodes = inodes;
	op->perms = perms;
	return op;
}

static void add_file(
	struct plan *plan, const char *target, const char *content, const char *because)
{
	struct op *op = add_at(plan, OP_FILE, target, because);
	op->value = content;
	op->perms = 0644;
}

static void add_link(struct plan *plan, const char *target, const char *text, const char *because)
{
	add_at(plan, OP_SYMLINK, target, because)->value = text;
}

static void add_overlay(struct plan *plan, const char *target, unsigned count, const char *upper,
	const char *because)
{
	static const char *const names[] = { "/srv/base", "/srv/more" };
	struct op *op = add_at(plan, OP_OVERLAY, target, because);
	const char **layers = calloc(count + 1, sizeof *layers);
	for (unsigned i = 0; layers && i < count; i++)
		layers[i] = names[i];
	op->layers = layers;
	op->upper = upper;
	op->work = upper ? "/srv/scratch" : NULL;
}

static void add_data(
	struct plan *plan, enum op_kind kind, int fd, const char *target, const char *because)
{
	struct op *op = add_at(plan, kind, target, because);
	op->fd = fd;
	op->perms = 0644;
}

static void add_variable(
	struct plan *plan, const char *name, const char *value, unsigned flags, const char *because)
{
	struct op *op = add(plan, OP_ENV_SET, because);
	op->name = name;
	op->value = value;
	op->flags = flags;
}

static void add_named(struct plan *plan, enum op_kind kind, const char *name, uint64_t number,
	const char *because)
{
	struct op *op = add(plan, kind, because);
	op->name = name;
	op->number = number;
}

static void add_namespaces(struct plan *plan)
{
	static const char *const names[] = { "user", "mount", "pid", "ipc", "uts", "cgroup" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		add_named(plan, OP_NAMESPACE, names[i], 0, "engine namespace");
	struct op *identity = add(plan, OP_IDENTITY, "engine namespace");
	identity->uid = 1000;
	identity->gid = 1000;
	add(plan, OP_HOSTNAME, "config.yaml:3")->value = "box";
}

static void add_confinement(struct plan *plan)
{
	add(plan, OP_NO_USER_NAMESPACES, "built in");
	add(plan, OP_CAPABILITIES, "built in");
	add(plan, OP_NO_NEW_PRIVILEGES, "built in");
}

static void every_mounts(struct plan *plan)
{
	static const char preset[] = "preset agent";
	add_tmpfs(plan, "/", 16 << 20, 65536, 0755, "built in");
	add_bind(plan, "/usr", "/usr", BIND_READ_ONLY, preset);
	add_link(plan, "/bin", "usr/bin", preset);
	add_bind(plan, "/etc/ssl", "/etc/ssl", BIND_READ_ONLY, preset);
	add_bind(plan, "/etc/hosts", "/etc/hosts", BIND_READ_ONLY | BIND_TRY, preset);
	add_bind(plan, "/etc/alternatives", "/etc/alternatives", BIND_READ_ONLY | BIND_TRY, preset);
	add_bind(plan, "/etc/ld.so.cache", "/etc/ld.so.cache", BIND_READ_ONLY, preset);
	add_file(plan, "/etc/passwd", "u:x:1000:1000::/home/u:/bin/sh\n", preset);
	add_at(plan, OP_PROC, "/proc", preset)->flags = PROC_NESTING;
	add_at(plan, OP_DEV, "/dev", preset)->size = 64 << 10;
	add_at(plan, OP_DIR, "/var", preset);
	add_at(plan, OP_DIR, "/var/lib", preset);
	add_at(plan, OP_DIR, "/run/user", preset)->perms = 0700;
	add_tmpfs(plan, "/tmp", 512 << 20, 20000, 01777, preset);
	add_tmpfs(plan, "/mnt", 0, 0, 0755, preset);
	add_bind(plan, "/home/u/.local/state/hutch/home", "/home/u", BIND_SCRATCH, "preset agent");
	add_bind(plan, "/home/u/project", "/home/u/project", 0, "workspace live");
	add_bind(plan, "/home/u/project/.git/hooks", "/home/u/project/.git/hooks", BIND_READ_ONLY,
		"workspace live");
	add_bind(plan, "/dev/dri", "/dev/dri", BIND_DEVICES | BIND_TRY, "flag --bind");
	struct op *fd = add_bind(plan, "/srv/view", "/view", 0, "workspace view");
	fd->kind = OP_BIND_FD;
	fd->fd = 7;
	add_overlay(plan, "/layered", 2, "/srv/upper", "workspace overlay");
	add_overlay(plan, "/flat", 2, NULL, "flag --overlay");
	add_overlay(plan, "/single", 1, NULL, "flag --overlay");
	add_overlay(plan, "/scratch", 2, NULL, "--tmp-overlay");
	plan->op[plan->count - 1].kind = OP_TMP_OVERLAY;
	add_data(plan, OP_COPY_FD, 8, "/etc/group", "--file");
	add_data(plan, OP_BIND_DATA, 9, "/etc/shadow", "--ro-bind-data");
	plan->op[plan->count - 1].flags = BIND_READ_ONLY;
	add_at(plan, OP_MQUEUE, "/mqueue", "--mqueue");
	add_at(plan, OP_CHMOD, "/var/lib", "--chmod")->perms = 0700;
	add_at(plan, OP_MASK, "/home/u/project/.env", ".hutch.yaml:7");
	add_bind(plan, "/a\nb", "/od\x1b[31md", BIND_READ_ONLY, "flag --bind-ro");
	add_bind(plan, "/caf\xc3\xa9", "/caf\xc3\xa9", 0, "flag --bind");
	add_bind(plan, "/it's", "/bad\xff", 0, "flag --bind");
	add_at(plan, OP_REMOUNT_RO, "/", "built in");
}

static void every_environment(struct plan *plan)
{
	static const char *const kept[] = { "HOME", "LANG", "LC_ALL", "TERM", "COLORTERM", "EDITOR",
		"PAGER", "NO_COLOR", "HTTP_PROXY", "HTTPS_PROXY" };
	add(plan, OP_ENV_CLEAR, "environment scoped");
	for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
		add_named(plan, OP_ENV_KEEP, kept[i], 0, "environment scoped");
	add_named(plan, OP_ENV_KEEP, "ANTHROPIC_API_KEY", 0, "agent claude");
	add_named(plan, OP_ENV_UNSET, "LD_PRELOAD", 0, "built in");
	add_named(plan, OP_ENV_UNSET, "NODE_OPTIONS", 0, "built in");
	add_variable(
		plan, "PATH", "/run/hutch/bin:/usr/local/bin:/usr/bin:/bin", 0, "preset agent");
	add_variable(plan, "LONG",
		"0123456789012345678901234567890123456789012345678901234567890123456789012345678901"
		"23456789012345678\xe2\x82\xac tail",
		0, "flag -e");
	add_variable(plan, "TOKEN", "hunter2", ENV_SECRET, "flag --env-file");
	add_variable(plan, "ODD", "a'b \"c\"\n$HOME", 0, "flag -e");
	add_at(plan, OP_CWD, "/home/u/project", "workspace live");
}

static void every_end(struct plan *plan)
{
	add_named(plan, OP_LIMIT, "tasks", 4096, "flag --tasks");
	add_named(plan, OP_LIMIT, "memory", 2u << 30, "config.yaml:9");
	add_confinement(plan);
	add(plan, OP_LANDLOCK, "built in")->flags = LANDLOCK_FILES | LANDLOCK_SCOPES;
	add_named(plan, OP_SECCOMP, "base", 0, "built in");
	add(plan, OP_SECCOMP_FD, "--add-seccomp-fd")->fd = 10;
}

static void make_every(struct plan *plan)
{
	static const char *const command[] = { "claude", "--resume", "it's here", NULL };
	plan->command = (char *const *)command; /* nobody writes to it */
	plan->argv0 = "-claude";
	add_namespaces(plan);
	every_mounts(plan);
	every_environment(plan);
	every_end(plan);
}

static void make_tame(struct plan *plan, const char *directory)
{
	static const char *const command[] = { "sh", "-c", "exec sh \"$0\"", "/project/look",
		NULL };
	plan->command = (char *const *)command; /* nobody writes to it */
	add_namespaces(plan);
	add_tmpfs(plan, "/", 1 << 20, 0, 0755, "test");
	add_bind(plan, "/usr", "/usr", BIND_READ_ONLY, "test");
	add_link(plan, "/bin", "usr/bin", "test");
	add_link(plan, "/lib", "usr/lib", "test");
	add_link(plan, "/lib64", "usr/lib64", "test");
	add_bind(plan, "/nonexistent", "/nonexistent", BIND_TRY, "test");
	add_at(plan, OP_PROC, "/proc", "test");
	add_at(plan, OP_DEV, "/dev", "test");
	add_file(plan, "/etc/content", "it's \\ $HOME\n\ttwo lines, no newline at the end", "test");
	add_file(plan, "/etc/empty", "", "test");
	add_at(plan, OP_DIR, "/closed", "test")->perms = 0700;
	add_tmpfs(plan, "/tmp", 1 << 20, 0, 01777, "test");
	add_bind(plan, directory, "/project", 0, "test");
	add_bind(plan, plan_text(plan, "%s/ro", directory), "/project/ro", BIND_READ_ONLY, "test");
	add_at(plan, OP_MASK, "/project/secret", "test");
	add_at(plan, OP_MASK, "/project/secrets", "test");
	add_at(plan, OP_MASK, "/project/absent", "test");
	add_at(plan, OP_REMOUNT_RO, "/", "test");
	add(plan, OP_ENV_CLEAR, "test");
	add_named(plan, OP_ENV_KEEP, "KEPT", 0, "test");
	add_named(plan, OP_ENV_KEEP, "ABSENT", 0, "test");
	add_variable(plan, "PATH", "/usr/bin", 0, "test");
	add_variable(plan, "ODD", "a'b \"c\"\n$HOME", 0, "test");
	add_variable(plan, "TOKEN", "not this one", ENV_SECRET, "test");
	add_at(plan, OP_CWD, "/project/ro", "test");
	add_confinement(plan);
}

static int show(const struct plan *plan, const char *format, struct text *out, struct err *e)
{
	unsigned minor;
	if (strcmp(format, "text") == 0)
		return plan_show_text(plan, out), 0;
	if (strcmp(format, "json") == 0)
		return plan_show_json(plan, out), 0;
	if (sscanf(format, "bwrap-%u", &minor) != 1)
		return err_set(e, 0, "no format is called %s", format);
	return plan_show_bwrap(plan, minor, strstr(format, "-partial") != NULL, out, e);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	struct plan plan = { 0 };
	struct err e = { 0 };
	AUTO_TEXT out = { 0 };
	if (strcmp(argv[1], "tame") == 0)
		make_tame(&plan, argc > 3 ? argv[3] : "/nonexistent");
	else
		make_every(&plan);
	int result = plan_check(&plan, &e);
	if (result == 0)
		result = show(&plan, argv[2], &out, &e);
	plan_free(&plan);
	if (result < 0)
		return err_print(&e);
	fputs(out.data, stdout);
	return 0;
}
