/* SPDX-License-Identifier: MIT */
#include "plan/read_bwrap.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/test.h"

static const struct bwrap_caller user = { .uid = 1000, .gid = 1000 };
static const struct bwrap_caller root = { .user_namespaces = true, .capabilities = 0xff };

enum { WORDS_MOST = 32 };

/* The request of the words in `line`, which a space divides. */
static int read_line(
	const struct bwrap_caller *caller, char *line, struct bwrap_request *request, struct err *e)
{
	static char *argv[WORDS_MOST];
	int argc = 0;
	for (char *word = strtok(line, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	*e = (struct err){ 0 };
	return read_bwrap(argc, argv, caller, request, e);
}

static void refused(const char *words, const char *sentence)
{
	char line[512];
	struct bwrap_request request;
	struct err e;
	snprintf(line, sizeof line, "bwrap %s", words);
	bool is = read_line(&user, line, &request, &e) < 0;
	check_string(is ? e.text : "(not refused)", sentence, words);
	bwrap_request_free(&request);
}

static size_t count(const struct plan *plan, enum op_kind kind)
{
	size_t found = 0;
	for (size_t i = 0; i < plan->count; i++)
		found += plan->op[i].kind == kind;
	return found;
}

static const struct op *find(const struct plan *plan, enum op_kind kind)
{
	for (size_t i = 0; i < plan->count; i++)
		if (plan->op[i].kind == kind)
			return &plan->op[i];
	return NULL;
}

static void test_order(void)
{
	char line[] =
		"bwrap --seccomp 9 --chdir /x --bind a b --setenv A b --tmpfs /t --unshare-pid "
		"--proc /proc --dir /d true --bind";
	struct bwrap_request request;
	struct err e;
	check(read_line(&user, line, &request, &e) == 0, "a line is read");
	check(plan_check(&request.plan, &e) == 0, "its plan breaks no rule");
	check(request.plan.faithful, "its plan is faithful");
	const struct op *bind = find(&request.plan, OP_BIND);
	check(bind && bind[1].kind == OP_TMPFS && bind[2].kind == OP_PROC && bind[3].kind == OP_DIR,
		"mounts keep their order");
	check(request.plan.op[request.plan.count - 1].kind == OP_SECCOMP_FD, "filters are last");
	check_string(request.plan.command[1], "--bind", "options end with the command");
	check(bind && bind[2].flags == 0, "a new pid namespace gets a new procfs");
	bwrap_request_free(&request);
}

static void test_who(void)
{
	char as_user[] = "bwrap true", as_root[] = "bwrap true", all[] = "bwrap --unshare-all true",
	     caps[] = "bwrap --cap-drop ALL --cap-add cap_kill true";
	struct bwrap_request request;
	struct err e;
	check(read_line(&user, as_user, &request, &e) == 0 &&
			count(&request.plan, OP_NAMESPACE) == 2,
		"an unprivileged user needs a user namespace");
	bwrap_request_free(&request);
	check(read_line(&root, as_root, &request, &e) == 0 &&
			count(&request.plan, OP_NAMESPACE) == 1 &&
			!find(&request.plan, OP_CAPABILITIES),
		"root needs none, and keeps its capabilities");
	bwrap_request_free(&request);
	check(read_line(&root, all, &request, &e) == 0 && count(&request.plan, OP_NAMESPACE) == 7,
		"--unshare-all has every namespace");
	bwrap_request_free(&request);
	check(read_line(&root, caps, &request, &e) == 0 && request.capabilities == 1 << 5,
		"capabilities are dropped and added in order");
	bwrap_request_free(&request);
}

static void test_next(void)
{
	char line[] = "bwrap --perms 0700 --size 4096 --tmpfs /a --tmpfs /b --overlay-src x "
		      "--overlay-src y --ro-overlay /o true";
	struct bwrap_request request;
	struct err e;
	check(read_line(&user, line, &request, &e) == 0 && plan_check(&request.plan, &e) == 0,
		"options for the next operation are read");
	const struct op *tmpfs = find(&request.plan, OP_TMPFS);
	check(tmpfs && tmpfs->perms == 0700 && tmpfs->size == 4096, "they hold for the next one");
	check(tmpfs && tmpfs[1].perms == 0755 && tmpfs[1].size == 0, "and for that alone");
	const struct op *overlay = find(&request.plan, OP_OVERLAY);
	check(overlay && strcmp(overlay->layers[1], "y") == 0 && !overlay->layers[2],
		"an overlay takes the layers before it");
	bwrap_request_free(&request);
}

static void test_args(void)
{
	static const char words[] =
		"--dir\0/a\0--unshare-net\0--tmpfs\0/t"; /* and no NUL at the end */
	char line[64];
	struct bwrap_request request;
	struct err e;
	int ends[2];
	if (pipe(ends) < 0)
		return;
	check(write(ends[1], words, sizeof words - 1) == sizeof words - 1, "words are written");
	close(ends[1]);
	snprintf(line, sizeof line, "bwrap --args %d true", ends[0]);
	check(read_line(&user, line, &request, &e) == 0 && find(&request.plan, OP_DIR) &&
			find(&request.plan, OP_TMPFS),
		"--args reads more options");
	bwrap_request_free(&request);
	close(ends[0]);
}

static void test_many(void)
{
	enum { MANY = 9001 };
	static char *argv[MANY + 2];
	struct bwrap_request request;
	struct err e = { 0 };
	for (size_t i = 0; i <= MANY; i++)
		argv[i] = (char *)"--unshare-ipc";
	check(read_bwrap(MANY + 1, argv, &user, &request, &e) < 0, "9,001 words are too many");
	bwrap_request_free(&request);
	argv[MANY - 1] = (char *)"true";
	check(read_bwrap(MANY, argv, &user, &request, &e) == 0, "9,000 are not");
	bwrap_request_free(&request);
}

static void test_tasks(void)
{
	char nothing[] = "bwrap", version[] = "bwrap --version --nope",
	     help[] = "bwrap --dir x --help";
	struct bwrap_request request;
	struct err e;
	check(read_line(&user, nothing, &request, &e) == 0 && request.task == BWRAP_USAGE,
		"without a command usage is shown");
	bwrap_request_free(&request);
	check(read_line(&user, version, &request, &e) == 0 && request.task == BWRAP_VERSION,
		"--version ends the reading");
	bwrap_request_free(&request);
	check(read_line(&user, help, &request, &e) == 0 && request.task == BWRAP_HELP,
		"--help is seen anywhere");
	bwrap_request_free(&request);
}

static void test_refusals(void)
{
	static const struct {
		const char *words, *sentence;
	} lines[] = {
		{ "--nope", "Unknown option --nope" },
		{ "--bind x", "--bind takes two arguments" },
		{ "--overlay a b", "--overlay takes three arguments" },
		{ "--ro-bind-fd 3", "--bind-fd takes two arguments" },
		{ "--perms 0700 --bind a b true",
			"--perms must be followed by an option that creates a file" },
		{ "--size 1 --dir x true", "--size must be followed by --tmpfs" },
		{ "--size 0 --tmpfs x true", "--size takes a non-zero number of bytes" },
		{ "--chmod 99 x true", "--chmod takes an octal argument <= 07777" },
		{ "--file 99999999999 x true", "Invalid fd: 99999999999" },
		{ "--uid 4294967296 true", "Invalid uid: 4294967296" },
		{ "--uid 4294967295 true", "Invalid uid: 4294967295" },
		{ "--gid -1 true", "Invalid gid: -1" },
		{ "--cap-add nope true", "unknown cap: nope" },
		{ "--cap-add 64 true", "unknown cap: 64" },
		{ "--setenv A=B c true", "setenv failed" },
		{ "--hostname x true", "Specifying --hostname requires --unshare-uts" },
		{ "--as-pid-1 true", "Specifying --as-pid-1 requires --unshare-pid" },
		{ "--disable-userns true", "--disable-userns requires --unshare-user" },
		{ "--userns 3 --unshare-user true", "--userns not compatible --unshare-user" },
		{ "--ro-overlay /x true", "--ro-overlay requires at least two --overlay-src" },
		{ "--exec-label x true", "labeling not supported on this system" },
	};
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
		refused(lines[i].words, lines[i].sentence);
}

int main(void)
{
	test_order();
	test_who();
	test_next();
	test_args();
	test_many();
	test_tasks();
	test_refusals();
	return test_done();
}
