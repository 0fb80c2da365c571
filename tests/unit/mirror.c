/* SPDX-License-Identifier: MIT */
#include "policy/mirror.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/path.h"
#include "base/text.h"
#include "policy/lists.h"
#include "tests/unit/test.h"

static char root[64];

static char *below(const char *path)
{
	return path_join(root, path);
}

static void directory(const char *path)
{
	AUTO_FREE char *file = below(path);
	mkdir(file, 0755);
}

static void file(const char *path)
{
	AUTO_FREE char *name = below(path);
	close(open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
}

static void point(const char *path, const char *text)
{
	AUTO_FREE char *name = below(path);
	if (symlink(text, name) < 0)
		printf("not ok - fixture: %s\n", name);
}

/* "R" for the temporary directory. */
static void add_short(struct text *t, const char *path)
{
	size_t length = strlen(root);
	bool is_below = strncmp(path, root, length) == 0;
	text_format(t, "%s%s", is_below ? "R" : "", path + (is_below ? length : 0));
}

static void show(const struct plan *plan, size_t from, struct text *t)
{
	text_add(t, "");
	for (size_t i = from; i < plan->count; i++) {
		const struct op *op = &plan->op[i];
		text_format(t, "%s%s ", i > from ? " " : "",
			op->kind == OP_BIND && (op->flags & BIND_READ_ONLY) ? "bind" : "link");
		add_short(t, op->target);
		if (op->kind == OP_SYMLINK) {
			text_add(t, "=");
			add_short(t, op->value);
		}
	}
}

static void expect_added(struct plan *plan, const char *path, const char *want, const char *name)
{
	struct err e = { 0 };
	AUTO_TEXT t = { 0 };
	AUTO_FREE char *full = below(path);
	size_t from = plan->count;
	if (mirror_add(plan, full, "test", &e) < 0)
		text_add(&t, "error ");
	show(plan, from, &t);
	check_string(t.data, want, name);
}

static void one_by_one(void)
{
	struct plan plan = { 0 };
	directory("dir");
	directory("other");
	file("dir/f");
	file("other/g");
	file("plain");
	point("link", "dir/f");
	point("absolute-text", "other");
	point("dir/out", "../other/g");
	point("chain", "chain2");
	point("chain2", "./dir/../plain");
	point("circle", "circle2");
	point("circle2", "circle");
	point("dangling", "nothing/here");
	point("up", "../../../../../../../..");
	point("proc", "/proc/self/mounts");
	expect_added(&plan, "plain", "bind R/plain", "a file");
	expect_added(&plan, "plain", "", "twice is once");
	expect_added(&plan, "absent", "", "nothing there");
	expect_added(&plan, "plain/below", "", "nothing below a file");
	expect_added(&plan, "link", "link R/link=dir/f bind R/dir/f", "a link and its file");
	expect_added(&plan, "dir", "bind R/dir", "a directory");
	expect_added(&plan, "dir/f", "", "what is in it is there");
	expect_added(&plan, "dir/out", "bind R/other/g", "a link that leads out of it");
	expect_added(&plan, "absolute-text/g", "link R/absolute-text=other",
		"a link before the last component");
	expect_added(&plan, "chain", "link R/chain=chain2 link R/chain2=./dir/../plain",
		"a chain of links");
	expect_added(&plan, "dangling", "link R/dangling=nothing/here", "a link to nothing");
	expect_added(&plan, "circle", "error link R/circle=circle2 link R/circle2=circle",
		"a loop of links");
	expect_added(&plan, "up", "link R/up=../../../../../../../..", "never the root itself");
	expect_added(&plan, "proc", "link R/proc=/proc/self/mounts", "nothing of /proc");
	expect_added(&plan, "//dir/./../other/", "bind R/other", "a path that is not normal");
	struct err e = { 0 };
	check(mirror_add(&plan, "relative", "test", &e) < 0, "a relative path is refused");
	plan_free(&plan);
}

static void what_is_there_already(void)
{
	struct plan plan = { 0 };
	AUTO_FREE char *plain = below("plain");
	AUTO_FREE char *dir = below("dir");
	AUTO_FREE char *inner = below("dir/f");
	AUTO_FREE char *beside = below("directory");
	struct op *op = plan_add(&plan, OP_TMPFS, "test");
	op->target = root;
	op = plan_add(&plan, OP_FILE, "test");
	op->target = plain;
	op->value = "";
	expect_added(&plan, "plain", "", "the plan's own file stays");
	check(!mirror_shows(plain, &plan), "which is not the host's");
	op = plan_add(&plan, OP_BIND, "test");
	op->source = "/usr";
	op->target = dir;
	check(!mirror_shows(inner, &plan), "another directory in its place is not the host's");
	expect_added(&plan, "dir/f", "bind R/dir/f", "the host's file over it");
	check(mirror_shows(inner, &plan), "which is then shown");
	check(!mirror_shows(beside, &plan), "a name that only starts the same");
	op = plan_add(&plan, OP_MASK, "test");
	op->target = inner;
	check(!mirror_shows(inner, &plan), "a mask hides it");
	expect_added(&plan, "dir/f", "", "and stays");
	plan_free(&plan);
	op = plan_add(&plan, OP_BIND, "test");
	op->source = op->target = "/";
	check(mirror_shows(inner, &plan), "everything is below /");
	plan_free(&plan);
}

/* The resolver's file in /run is replaced by rename: its directory is shown. */
static void links_into_run(void)
{
	char run[64];
	snprintf(run, sizeof run, "/run/hutch-mirror-XXXXXX");
	if (!mkdtemp(run)) {
		printf("skip - a link into /run: /run is not writable\n");
		return;
	}
	struct plan plan = { 0 };
	AUTO_FREE char *target = path_join(run, "resolv.conf");
	close(open(target, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
	point("resolv.conf", target);
	AUTO_FREE char *want = memory_format("link R/resolv.conf=%s bind %s", target, run);
	expect_added(&plan, "resolv.conf", want, "a link into /run shows the directory");
	plan_free(&plan);
	struct err e = { 0 };
	check(mirror_add(&plan, target, "test", &e) == 0 && plan.count == 1 &&
			strcmp(plan.op[0].target, target) == 0,
		"a file in /run that was named itself");
	plan_free(&plan);
	unlink(target);
	rmdir(run);
}

static bool is_above_earlier(const struct plan *plan, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (path_is_within(plan->op[i].target, plan->op[at].target))
			return true;
	return false;
}

/* On whatever host this runs: what the list names is inside as it is outside. */
static void this_host(void)
{
	struct plan plan = { 0 };
	struct err e = { 0 };
	static const char *const skip[] = { "hosts", NULL };
	static const char *const never[] = { "/etc/shadow", "/etc/gshadow", "/etc/ssh/ssh_config",
		"/etc/sudoers", "/etc/machine-id", "/etc/ssl/private", "/etc/gitconfig", "/etc",
		"/run", "/root", "/home", "/var/lib", "/etc/hosts" };
	check(host_tree_add(&plan, "built-in", &e) == 0, "the tree");
	host_etc_add(&plan, "built-in", skip);
	bool all = true, exact = true, ordered = true, closed = true;
	for (const char *const *name = etc_list; *name; name++) {
		AUTO_FREE char *path = path_absolute("/etc", *name);
		char real[PATH_MAX];
		if (strcmp(*name, "hosts") != 0 && realpath(path, real) &&
			!mirror_shows(real, &plan)) {
			all = false;
			printf("# %s is %s\n", path, real);
		}
	}
	for (size_t i = 0; i < plan.count; i++) {
		char text[PATH_MAX] = "";
		const struct op *op = &plan.op[i];
		if (op->kind == OP_SYMLINK && (readlink(op->target, text, sizeof text - 1) < 0 ||
						      strcmp(text, op->value) != 0))
			exact = false;
		if (is_above_earlier(&plan, i)) {
			ordered = false;
			printf("# %s is above an earlier mount\n", op->target);
		}
	}
	for (size_t i = 0; i < sizeof never / sizeof never[0]; i++)
		closed = closed && !mirror_shows(never[i], &plan);
	check(all, "every name of the list that this host has");
	check(exact, "links have the host's text");
	check(ordered, "no mount over an earlier one");
	check(closed, "nothing else of /etc");
	check(mirror_shows("/usr/bin/env", &plan) && mirror_shows("/bin", &plan), "programs");
	plan_free(&plan);
}

int main(void)
{
	snprintf(root, sizeof root, "/tmp/hutch-mirror-XXXXXX");
	if (!mkdtemp(root))
		return 1;
	one_by_one();
	what_is_there_already();
	links_into_run();
	this_host();
	AUTO_FREE char *remove = memory_format("rm -rf %s", root);
	return system(remove) ? 1 : test_done();
}
