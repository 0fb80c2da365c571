/* SPDX-License-Identifier: MIT */
/*
 * Bubblewrap's command line, for programs that call bubblewrap. Not a verb like the others: it is
 * told by the program's name too, has options and sentences of its own, and reads no configuration.
 */
#include "cli/verb_bwrap.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "apply/seccomp.h"
#include "base/fd.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/text.h"
#include "cli/verbs.h"
#include "engines/direct.h"
#include "kernel/capability.h"
#include "plan/read_bwrap.h"

enum { EXIT_BWRAP = 1 };

bool bwrap_is_called(int argc, char **argv, int *ret_first)
{
	*ret_first = 0;
	if (argc > 0 && strcmp(path_base(argv[0]), "bwrap") == 0)
		return true;
	*ret_first = 1;
	return argc > 1 && strcmp(argv[1], "bwrap") == 0;
}

static void say(const struct bwrap_request *request, int level, const char *sentence)
{
	AUTO_TEXT line = { 0 };
	if (request->level_prefix)
		text_format(&line, "<%d>", level);
	text_format(&line, "bwrap: %s\n", sentence);
	(void)fd_write_all(STDERR_FILENO, line.data, line.length);
}

static int failed(const struct bwrap_request *request, const struct err *e)
{
	say(request, LOG_ERR, e->text);
	if (e->hint[0])
		say(request, LOG_INFO, e->hint);
	return EXIT_BWRAP;
}

static bool system_has_user_namespaces(void)
{
	char first;
	AUTO_CLOSE int fd =
		open("/proc/sys/user/max_user_namespaces", O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (faccessat(AT_FDCWD, "/proc/self/ns/user", F_OK, 0) < 0)
		return false;
	return fd < 0 || read(fd, &first, 1) != 1 || first != '0';
}

static struct bwrap_caller caller_find(void)
{
	struct bwrap_caller caller = { .uid = getuid(), .gid = getgid() };
	if (caller.uid == 0) {
		caller.user_namespaces = system_has_user_namespaces();
		capability_permitted(&caller.capabilities);
	}
	return caller;
}

/* What bubblewrap does not do, for whoever wants the command line and our fences: the filter, and no
 * signals and abstract sockets beyond the sandbox. The plan's order wants them before given filters. */
static void harden(struct plan *plan)
{
	size_t filters = 0;
	while (filters < plan->count && plan->op[plan->count - 1 - filters].kind == OP_SECCOMP_FD)
		filters++;
	struct op *saved = memory_alloc(filters, sizeof *saved);
	plan->count -= filters;
	if (filters)
		memcpy(saved, plan->op + plan->count, filters * sizeof *saved);
	plan_add(plan, OP_LANDLOCK, "HUTCH_BWRAP_HARDEN")->flags = LANDLOCK_SCOPES;
	plan_add(plan, OP_SECCOMP, "HUTCH_BWRAP_HARDEN")->name = seccomp_name(0);
	for (size_t i = 0; i < filters; i++)
		plan_add(plan, OP_SECCOMP_FD, saved[i].because)->fd = saved[i].fd;
	free(saved);
}

static int run(struct bwrap_request *request)
{
	struct err e = { 0 };
	int code = EXIT_BWRAP;
	const char *wish = getenv("HUTCH_BWRAP_HARDEN");
	bool hard = wish && strcmp(wish, "1") == 0;
	if (hard)
		harden(&request->plan);
	if (plan_check(&request->plan, &e) < 0 || direct_run(request, hard, &code, &e) < 0)
		return failed(request, &e);
	return code;
}

static int usage(FILE *out, const char *name, int code)
{
	AUTO_TEXT lines = { 0 };
	bwrap_help_add(&lines);
	fprintf(out, "usage: %s [OPTIONS...] [--] COMMAND [ARGS...]\n\n%s", name, lines.data);
	return fflush(out) == 0 ? code : EXIT_BWRAP;
}

static int perform(struct bwrap_request *request, const char *name)
{
	switch (request->task) {
	case BWRAP_RUN:
		return run(request);
	case BWRAP_HELP:
		return usage(stdout, name, 0);
	case BWRAP_VERSION:
		puts("bubblewrap 0.11.0 (hutch " HUTCH_VERSION ")");
		return fflush(stdout) == 0 ? 0 : EXIT_BWRAP;
	case BWRAP_USAGE:
		return usage(stderr, name, EXIT_BWRAP);
	}
	return EXIT_BWRAP;
}

/* Its words are taken before anything of them is read as options of hutch: see main.c. */
int verb_bwrap(struct options *options, int *ret_code, struct err *e)
{
	(void)options;
	(void)ret_code;
	return err_set(e, 0, "bwrap has to be the first word");
}

int bwrap_main(int argc, char **argv, const char *name)
{
	struct err e = { 0 };
	struct bwrap_request request;
	struct bwrap_caller caller = caller_find();
	int result = read_bwrap(argc, argv, &caller, &request, &e);
	for (size_t i = 0; i < request.warnings.count; i++)
		say(&request, LOG_WARNING, request.warnings.item[i]);
	int code = result < 0 ? failed(&request, &e) : perform(&request, name);
	bwrap_request_free(&request);
	return code;
}
