/* SPDX-License-Identifier: MIT */
/* Each numbered rule of src/plan/check.c, broken alone. */
#include <stdlib.h>
#include <time.h>

#include "base/memory.h"
#include "plan/plan.h"
#include "tests/unit/test.h"

static const char *const layers[] = { "/lower", NULL };

static struct op *add(struct plan *plan, enum op_kind kind)
{
	return plan_add(plan, kind, "a test");
}

static struct op *add_at(struct plan *plan, enum op_kind kind, const char *target)
{
	struct op *op = add(plan, kind);
	op->target = target;
	return op;
}

static struct op *add_bind(
	struct plan *plan, const char *source, const char *target, unsigned flags)
{
	struct op *op = add_at(plan, OP_BIND, target);
	op->source = source;
	op->flags = flags;
	return op;
}

static struct op *add_named(struct plan *plan, enum op_kind kind, const char *name)
{
	struct op *op = add(plan, kind);
	op->name = name;
	return op;
}

static struct op *add_set(struct plan *plan, const char *name, const char *value)
{
	struct op *op = add_named(plan, OP_ENV_SET, name);
	op->value = value;
	return op;
}

static void add_namespaces(struct plan *plan)
{
	static const char *const names[] = { "user", "mount", "pid", "uts" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		add_named(plan, OP_NAMESPACE, names[i]);
}

/* The rule that a plan breaks; 0 when it is good, -1 when the sentence names none. Frees it. */
static int broken_rule(struct plan *plan)
{
	struct err e = { 0 };
	int rule = 0;
	if (plan_check(plan, &e) < 0) {
		const char *at = strstr(e.text, "(rule ");
		rule = at ? atoi(at + strlen("(rule ")) : -1;
		if (!strstr(e.text, "a test"))
			rule = -1;
	}
	plan_free(plan);
	return rule;
}

#define check_rule(plan, rule, name) check(broken_rule(plan) == (rule), name)

static void test_good(void)
{
	struct plan plan = { 0 };
	check_rule(&plan, 0, "an empty plan is good");

	add_namespaces(&plan);
	add(&plan, OP_IDENTITY)->uid = 1000;
	add(&plan, OP_HOSTNAME)->value = "box";
	add_at(&plan, OP_TMPFS, "/")->perms = 0755;
	add_bind(&plan, "/usr", "/usr", BIND_READ_ONLY);
	struct op *fd = add_bind(&plan, "/w", "/w", BIND_SCRATCH);
	fd->kind = OP_BIND_FD;
	fd->fd = 3;
	add_bind(&plan, "/w/.git", "/w/.git", BIND_READ_ONLY | BIND_TRY);
	struct op *overlay = add_at(&plan, OP_OVERLAY, "/o");
	overlay->layers = NULL;
	overlay->upper = "/up";
	overlay->work = "/scratch";
	const char **own = memory_alloc(2, sizeof *own); /* plan_free frees the list */
	own[0] = layers[0];
	overlay->layers = own;
	add_at(&plan, OP_PROC, "/proc")->flags = PROC_NESTING;
	add_at(&plan, OP_DEV, "/dev")->size = 4096;
	add_at(&plan, OP_DIR, "/home")->perms = 0755;
	add_at(&plan, OP_FILE, "/etc/passwd")->value = "";
	add_at(&plan, OP_SYMLINK, "/bin")->value = "usr/bin";
	add_at(&plan, OP_MASK, "/w/.env");
	add_at(&plan, OP_MASK, "/usr");
	add_at(&plan, OP_REMOUNT_RO, "/");
	add(&plan, OP_ENV_CLEAR);
	add_named(&plan, OP_ENV_KEEP, "HOME");
	add_named(&plan, OP_ENV_UNSET, "X");
	add_set(&plan, "EMPTY", "")->flags = ENV_SECRET;
	add_at(&plan, OP_CWD, "/w");
	add_named(&plan, OP_LIMIT, "tasks")->number = 5;
	add(&plan, OP_NO_USER_NAMESPACES);
	add(&plan, OP_CAPABILITIES);
	add(&plan, OP_NO_NEW_PRIVILEGES);
	add(&plan, OP_LANDLOCK)->flags = LANDLOCK_SCOPES;
	add_named(&plan, OP_SECCOMP, "base");
	add_named(&plan, OP_SECCOMP, "more");
	check_rule(&plan, 0, "a plan of every kind of operation is good");
}

static void test_phases(void)
{
	struct plan plan = { 0 };
	add_namespaces(&plan);
	add_at(&plan, OP_CWD, "/");
	add_at(&plan, OP_DIR, "/a");
	check_rule(&plan, 1, "rule 1: a mount after the environment");
}

static void test_paths(void)
{
	static const char *const bad[] = { "a", "/a/../b", "/a/", "//a", "/a/./b", "" };
	struct plan plan = { 0 };
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		add_namespaces(&plan);
		add_at(&plan, OP_DIR, bad[i]);
		check_rule(&plan, 2, "rule 2: a target that is not normal");
	}
	add_namespaces(&plan);
	add_bind(&plan, "usr", "/usr", 0);
	check_rule(&plan, 2, "rule 2: a relative source");
	add_namespaces(&plan);
	add_bind(&plan, "/a/../usr", "/usr", 0);
	check_rule(&plan, 0, "rule 2: a source need not be normal");
	const char **own = memory_alloc(2, sizeof *own);
	own[0] = "lower";
	add_namespaces(&plan);
	add_at(&plan, OP_OVERLAY, "/o")->layers = own;
	check_rule(&plan, 2, "rule 2: a relative layer");
}

static void test_covering(void)
{
	struct plan plan = { 0 };
	add_namespaces(&plan);
	add_bind(&plan, "/x", "/a/b/c", 0);
	add_at(&plan, OP_TMPFS, "/a");
	check_rule(&plan, 3, "rule 3: a tmpfs over an earlier bind");

	add_namespaces(&plan);
	add_bind(&plan, "/x", "/a/b", BIND_READ_ONLY);
	add_bind(&plan, "/", "/", BIND_READ_ONLY);
	check_rule(&plan, 3, "rule 3: the root after something in it");

	add_namespaces(&plan);
	add_at(&plan, OP_MASK, "/w/.env");
	add_bind(&plan, "/w", "/w", 0);
	check_rule(&plan, 3, "rule 3: a mask that is uncovered again");

	add_namespaces(&plan);
	add_at(&plan, OP_SYMLINK, "/run/x")->value = "y";
	add_at(&plan, OP_TMPFS, "/run");
	check_rule(&plan, 3, "rule 3: a link that is made and then hidden");

	add_namespaces(&plan);
	add_bind(&plan, "/x", "/a/b", 0);
	add_bind(&plan, "/x", "/ab", 0);
	add_bind(&plan, "/y", "/a/b", 0);
	add_bind(&plan, "/x", "/a/b/c", 0);
	add_at(&plan, OP_MASK, "/a");
	check_rule(&plan, 0, "rule 3: siblings, equal targets and masks are fine");

	plan.faithful = true;
	add_namespaces(&plan);
	add_bind(&plan, "/x", "/a/b", 0);
	add_at(&plan, OP_TMPFS, "/a");
	check_rule(&plan, 0, "rule 3: a bubblewrap command line may cover");
}

static void test_seccomp_last(void)
{
	struct plan plan = { 0 };
	add(&plan, OP_NO_NEW_PRIVILEGES);
	add_named(&plan, OP_SECCOMP, "base");
	add(&plan, OP_CAPABILITIES);
	check_rule(&plan, 4, "rule 4: something after the seccomp filter");
}

static void test_read_only_parent(void)
{
	struct plan plan = { 0 };
	add_namespaces(&plan);
	add_bind(&plan, "/x", "/a/b/c", 0);
	add_bind(&plan, "/a", "/a", BIND_READ_ONLY);
	check_rule(&plan, 5, "rule 5: a read-only parent after a writable child");

	add_namespaces(&plan);
	add_bind(&plan, "/x", "/a/b/x", BIND_READ_ONLY);
	add_bind(&plan, "/x", "/a/b/y", 0);
	add_bind(&plan, "/a", "/a", BIND_READ_ONLY);
	check_rule(&plan, 5, "rule 5: also when a read-only child came first");

	add_namespaces(&plan);
	add_bind(&plan, "/a", "/a", BIND_READ_ONLY);
	add_bind(&plan, "/x", "/a/b/c", 0);
	check_rule(&plan, 0, "rule 5: the other way round is good");
}

static void test_fields(void)
{
	struct plan plan = { 0 };
	add_namespaces(&plan);
	add_at(&plan, OP_BIND, "/a");
	check_rule(&plan, 6, "rule 6: a bind without a source");
	add_namespaces(&plan);
	add_at(&plan, OP_MASK, "/a")->source = "/b";
	check_rule(&plan, 6, "rule 6: a mask with a source");
	add_namespaces(&plan);
	add_bind(&plan, "/a", "/a", PROC_HOST);
	check_rule(&plan, 6, "rule 6: a flag of another kind");
	add_namespaces(&plan);
	add_bind(&plan, "/a", "/a", 0)->fd = 0;
	check_rule(&plan, 6, "rule 6: a descriptor where none belongs");
	add_namespaces(&plan);
	add_bind(&plan, "/a", "/a", 0)->kind = OP_BIND_FD;
	check_rule(&plan, 6, "rule 6: no descriptor where one belongs");
	add_namespaces(&plan);
	add_at(&plan, OP_DIR, "/a")->perms = 0100755;
	check_rule(&plan, 6, "rule 6: a file type among permissions");
	add_set(&plan, "A=B", "c");
	check_rule(&plan, 6, "rule 6: a variable's name with a sign in it");
	add_set(&plan, "", "c");
	check_rule(&plan, 6, "rule 6: a variable without a name");
	const char **own = memory_alloc(2, sizeof *own);
	own[0] = "/lower";
	add_namespaces(&plan);
	struct op *overlay = add_at(&plan, OP_OVERLAY, "/o");
	overlay->layers = own;
	overlay->upper = "/upper";
	check_rule(&plan, 6, "rule 6: an upper directory without a work directory");
	add_namespaces(&plan);
	add_at(&plan, OP_OVERLAY, "/o")->layers = calloc(1, sizeof *own);
	check_rule(&plan, 6, "rule 6: an overlay of nothing");
	struct err e = { 0 };
	add(&plan, OP_ENV_CLEAR)->because = NULL;
	check(plan_check(&plan, &e) < 0 && strstr(e.text, "rule 6"), "rule 6: no reason given");
	plan_free(&plan);
	add(&plan, OP_ENV_CLEAR)->kind = OP_COUNT;
	check(plan_check(&plan, &e) < 0 && strstr(e.text, "rule 6"), "rule 6: no known kind");
	plan_free(&plan);
}

static void test_environment(void)
{
	struct plan plan = { 0 };
	add_named(&plan, OP_ENV_KEEP, "HOME");
	add(&plan, OP_ENV_CLEAR);
	check_rule(&plan, 7, "rule 7: kept before it is cleared");
	add_set(&plan, "A", "b");
	add(&plan, OP_ENV_CLEAR);
	check_rule(&plan, 7, "rule 7: cleared after something is set");
	plan.faithful = true;
	add_set(&plan, "A", "b");
	add(&plan, OP_ENV_CLEAR);
	check_rule(&plan, 0, "rule 7: which a bubblewrap command line may do");
}

static void test_privileges(void)
{
	struct plan plan = { 0 };
	add_named(&plan, OP_SECCOMP, "base");
	check_rule(&plan, 8, "rule 8: seccomp without no_new_privileges");
	add(&plan, OP_LANDLOCK)->flags = LANDLOCK_SCOPES;
	add(&plan, OP_NO_NEW_PRIVILEGES);
	check_rule(&plan, 8, "rule 8: Landlock before no_new_privileges");
}

static void test_namespaces(void)
{
	struct plan plan = { 0 };
	add_named(&plan, OP_NAMESPACE, "time");
	check_rule(&plan, 9, "rule 9: an unknown namespace");
	add_named(&plan, OP_NAMESPACE, "user");
	add_named(&plan, OP_NAMESPACE, "user");
	check_rule(&plan, 9, "rule 9: the same namespace twice");
	add_named(&plan, OP_NAMESPACE, "user");
	add_at(&plan, OP_DIR, "/a");
	check_rule(&plan, 9, "rule 9: mounts without a mount namespace");
	add_named(&plan, OP_NAMESPACE, "mount");
	add(&plan, OP_HOSTNAME)->value = "box";
	check_rule(&plan, 9, "rule 9: a host name without a uts namespace");
	add_named(&plan, OP_NAMESPACE, "mount");
	add(&plan, OP_NO_USER_NAMESPACES);
	check_rule(&plan, 9, "rule 9: a ban without a user namespace");
	add_named(&plan, OP_NAMESPACE, "mount");
	add(&plan, OP_IDENTITY);
	check_rule(&plan, 9, "rule 9: an identity without a user namespace");
}

static void test_remounts(void)
{
	struct plan plan = { 0 };
	add_namespaces(&plan);
	add_at(&plan, OP_TMPFS, "/a");
	add_at(&plan, OP_REMOUNT_RO, "/a/b");
	check_rule(&plan, 10, "rule 10: nothing to remount");
	add_namespaces(&plan);
	add_at(&plan, OP_REMOUNT_RO, "/");
	add_at(&plan, OP_DIR, "/a");
	check_rule(&plan, 10, "rule 10: a directory in a tree that is read-only");
	add_namespaces(&plan);
	add_at(&plan, OP_TMPFS, "/a");
	add_at(&plan, OP_REMOUNT_RO, "/");
	add_at(&plan, OP_DIR, "/a/b");
	check_rule(&plan, 0, "rule 10: remounting is not recursive");
	add_namespaces(&plan);
	add_at(&plan, OP_TMPFS, "/a");
	add_at(&plan, OP_REMOUNT_RO, "/a");
	add_at(&plan, OP_TMPFS, "/a");
	add_at(&plan, OP_DIR, "/a/b");
	check_rule(&plan, 0, "rule 10: a new mount over it is writable");
}

static void test_single(void)
{
	struct plan plan = { 0 };
	add_at(&plan, OP_CWD, "/a");
	add_at(&plan, OP_CWD, "/b");
	check_rule(&plan, 11, "rule 11: two working directories");
}

/* Thousands of mounts are checked in a few milliseconds, not in a square of them. */
static void test_large(void)
{
	struct plan plan = { 0 };
	add_namespaces(&plan);
	for (int i = 0; i < 20000; i++)
		add_bind(&plan, "/x", plan_text(&plan, "/a/%d/b/c/%d", i % 100, i), 0);
	struct timespec from, to;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	int rule = broken_rule(&plan);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	double seconds =
		(double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
	check(rule == 0 && seconds < 1.0, "20,000 mounts are checked within a second");
}

int main(void)
{
	test_good();
	test_phases();
	test_paths();
	test_covering();
	test_seccomp_last();
	test_read_only_parent();
	test_fields();
	test_environment();
	test_privileges();
	test_namespaces();
	test_remounts();
	test_single();
	test_large();
	return test_done();
}
