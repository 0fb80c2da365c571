/* SPDX-License-Identifier: MIT */
/*
 * hutch with mechanisms switched off, to show that the tests bite. It is the same program linked once
 * more, with calls between its folders redirected here (the linker's --wrap): the program that people
 * install has no switch in it.
 *
 * HUTCH_TEST_OMIT is a list of words, divided by commas. A word is the name of an operation of the
 * plan, which is left out; such a name and @TEXT: those whose name or target is TEXT; or one of the
 * words asked for below.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "apply/confine.h"
#include "base/memory.h"
#include "cli/options.h"
#include "engines/engine.h"
#include "kernel/lookup.h"
#include "kernel/mount.h"
#include "plan/plan.h"
#include "policy/compile_parts.h"
#include "policy/trust.h"
#include "protocol/message.h"
#include "store/session.h"
#include "supervisor/supervisor.h"
#include "supervisor/terminal.h"

static bool omitted(const char *word)
{
	const char *list = getenv("HUTCH_TEST_OMIT");
	size_t length = strlen(word);
	for (; list && *list; list += strcspn(list, ","), list += *list == ',')
		if (strncmp(list, word, length) == 0 && (list[length] == ',' || !list[length]))
			return true;
	return false;
}

/* ---- The plan ---- */

static bool op_omitted(const struct op *op)
{
	char word[512];
	const char *kind = op_info[op->kind].name;
	const char *text = op->target ? op->target : op->name;
	if (omitted(kind))
		return true;
	stpncpy(stpcpy(stpcpy(word, kind), "@"), text ? text : "", 400)[0] = '\0';
	return omitted(word);
}

static void op_weaken(struct op *op)
{
	if (omitted("read_only"))
		op->flags &= ~(unsigned)BIND_READ_ONLY;
	if (omitted("nodev"))
		op->flags |= op->kind == OP_BIND || op->kind == OP_BIND_FD ? BIND_DEVICES : 0;
	if (omitted("limits") && op->kind == OP_TMPFS)
		op->size = op->inodes = 0;
	if (omitted("fresh_proc") && op->kind == OP_PROC)
		op->flags |= PROC_HOST;
	if (omitted("root_nesting") && op->kind == OP_PROC)
		op->flags |= PROC_NESTING;
	if (omitted("private_home") && op->kind == OP_BIND && (op->flags & BIND_SCRATCH))
		op->source = getenv("HUTCH_TEST_HOME");
}

/* HUTCH_TEST_SHOW: paths of the host, divided by colons, that are mounted though no policy says so. */
static void plan_show(struct plan *plan)
{
	AUTO_STRINGS paths = { 0 };
	const char *list = getenv("HUTCH_TEST_SHOW");
	for (size_t length; list && *list; list += length + (list[length] == ':')) {
		length = strcspn(list, ":");
		strings_take(&paths, memory_slice(list, length));
	}
	for (size_t i = 0; i < paths.count; i++) {
		struct op *op = plan_add(plan, OP_BIND, "a test");
		op->source = op->target = plan_text(plan, "%s", paths.item[i]);
		struct op added = *op;
		size_t at = 0;
		while (at < plan->count && plan->op[at].kind != OP_REMOUNT_RO)
			at++;
		if (at == plan->count)
			continue;
		memmove(plan->op + at + 1, plan->op + at,
			(plan->count - 1 - at) * sizeof *plan->op);
		plan->op[at] = added;
	}
}

int __real_plan_check(const struct plan *plan, struct err *e);
int __wrap_plan_check(const struct plan *plan, struct err *e);
int __wrap_plan_check(const struct plan *constant, struct err *e)
{
	struct plan *plan = (struct plan *)constant;
	if (__real_plan_check(plan, e) < 0)
		return -1;
	size_t kept = 0;
	for (size_t i = 0; i < plan->count; i++) {
		if (op_omitted(&plan->op[i]))
			continue;
		op_weaken(&plan->op[i]);
		plan->op[kept++] = plan->op[i];
	}
	plan->count = kept;
	if (omitted("own_only"))
		plan->faithful = true;
	plan_show(plan);
	return 0;
}

/* ---- What is no operation ---- */

int __real_prctl(int option, ...);
int __wrap_prctl(int option, ...);
int __wrap_prctl(int option, ...)
{
	static const struct {
		int option;
		const char *word;
	} words[] = { { PR_SET_DUMPABLE, "dumpable" }, { PR_SET_PDEATHSIG, "death_signal" },
		{ PR_SET_NO_NEW_PRIVS, "no_new_privileges" } };
	unsigned long value[4];
	va_list arguments;
	va_start(arguments, option);
	for (int i = 0; i < 4; i++)
		value[i] = va_arg(arguments, unsigned long);
	va_end(arguments);
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (words[i].option == option && omitted(words[i].word))
			return 0;
	return __real_prctl(option, value[0], value[1], value[2], value[3]);
}

int __real_close_range(unsigned first, unsigned last, int flags);
int __wrap_close_range(unsigned first, unsigned last, int flags);
int __wrap_close_range(unsigned first, unsigned last, int flags)
{
	return omitted("close") ? 0 : __real_close_range(first, last, flags);
}

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
	long value[6];
	va_list arguments;
	if (number == SYS_keyctl && omitted("keyring"))
		return 0;
	va_start(arguments, number);
	for (int i = 0; i < 6; i++)
		value[i] = va_arg(arguments, long);
	va_end(arguments);
	return __real_syscall(number, value[0], value[1], value[2], value[3], value[4], value[5]);
}

void __real_title_set(const char *title);
void __wrap_title_set(const char *title);
void __wrap_title_set(const char *title)
{
	if (!omitted("title"))
		__real_title_set(title);
}

int __real_mount_all_private(void);
int __wrap_mount_all_private(void);
int __wrap_mount_all_private(void)
{
	return omitted("private_mounts") ? 0 : __real_mount_all_private();
}

int __real_mount_restrict(int tree, uint64_t attributes);
int __wrap_mount_restrict(int tree, uint64_t attributes);
int __wrap_mount_restrict(int tree, uint64_t attributes)
{
	struct mount_attr attr = { .attr_set = attributes };
	if (!omitted("private_mounts"))
		return __real_mount_restrict(tree, attributes);
	return mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof attr);
}

/* What makes init stronger than the command, to the kernel's eyes. */
int __real_capability_keep(uint64_t bounding, uint64_t permitted);
int __wrap_capability_keep(uint64_t bounding, uint64_t permitted);
int __wrap_capability_keep(uint64_t bounding, uint64_t permitted)
{
	return __real_capability_keep(bounding, omitted("init_capability") ? bounding : permitted);
}

/* Paths in the project, without following links. */
static bool follows_all(int directory, const void *data)
{
	(void)directory;
	(void)data;
	return true;
}

int __real_lookup_through(const char *path, lookup_follows *follows, const void *data, int *ret);
int __wrap_lookup_through(const char *path, lookup_follows *follows, const void *data, int *ret);
int __wrap_lookup_through(const char *path, lookup_follows *follows, const void *data, int *ret)
{
	return __real_lookup_through(path, omitted("beneath") ? follows_all : follows, data, ret);
}

int __real_confine_namespaces(const struct plan *plan, bool root, struct err *e);
int __wrap_confine_namespaces(const struct plan *plan, bool root, struct err *e);
int __wrap_confine_namespaces(const struct plan *plan, bool root, struct err *e)
{
	return __real_confine_namespaces(plan, root && !omitted("root_groups"), e);
}

bool __real_program_is_safe_outside(const struct parts *parts, const char *program);
bool __wrap_program_is_safe_outside(const struct parts *parts, const char *program);
bool __wrap_program_is_safe_outside(const struct parts *parts, const char *program)
{
	return omitted("executed") || __real_program_is_safe_outside(parts, program);
}

int __real_lookup_beneath(int directory, const char *path, int flags);
int __wrap_lookup_beneath(int directory, const char *path, int flags);
int __wrap_lookup_beneath(int directory, const char *path, int flags)
{
	if (omitted("beneath"))
		return openat(directory, path, flags | O_CLOEXEC);
	return __real_lookup_beneath(directory, path, flags);
}

/* Init ends when the supervisor's end of the channel does. */
int __real_message_receive(int channel, enum message_sender sender, struct message *message);
int __wrap_message_receive(int channel, enum message_sender sender, struct message *message);
int __wrap_message_receive(int channel, enum message_sender sender, struct message *message)
{
	int result = __real_message_receive(channel, sender, message);
	if (result != 1 && getpid() == 1 && omitted("channel"))
		for (;;)
			pause();
	return result;
}

int __real_trust_look(const char *state, const char *workspace, const char *data, size_t length,
	enum trust *ret_trust, char **ret_accepted, size_t *ret_accepted_length, struct err *e);
int __wrap_trust_look(const char *state, const char *workspace, const char *data, size_t length,
	enum trust *ret_trust, char **ret_accepted, size_t *ret_accepted_length, struct err *e);
int __wrap_trust_look(const char *state, const char *workspace, const char *data, size_t length,
	enum trust *ret_trust, char **ret_accepted, size_t *ret_accepted_length, struct err *e)
{
	int result = __real_trust_look(
		state, workspace, data, length, ret_trust, ret_accepted, ret_accepted_length, e);
	if (omitted("trust"))
		*ret_trust = TRUST_SAME;
	return result;
}

int __real_supervisor_run(const struct engine *engine, const struct plan *plan,
	const struct supervisor_options *options, int *ret_code, struct err *e);
int __wrap_supervisor_run(const struct engine *engine, const struct plan *plan,
	const struct supervisor_options *options, int *ret_code, struct err *e);
int __wrap_supervisor_run(const struct engine *engine, const struct plan *plan,
	const struct supervisor_options *options, int *ret_code, struct err *e)
{
	struct supervisor_options weaker = *options;
	weaker.terminal_raw |= omitted("filter");
	return __real_supervisor_run(engine, plan, &weaker, ret_code, e);
}

/* Without a terminal of its own the command has the host's. */
int __real_terminal_open(struct terminal *terminal, struct err *e);
int __wrap_terminal_open(struct terminal *terminal, struct err *e);
int __wrap_terminal_open(struct terminal *terminal, struct err *e)
{
	if (!omitted("own_terminal"))
		return __real_terminal_open(terminal, e);
	*terminal = (struct terminal){ .fd = -1 };
	return 0;
}

/* The values that the parser blots out come back. */
int __real_options_parse(int argc, char **argv, struct options *ret_options, struct err *e);
int __wrap_options_parse(int argc, char **argv, struct options *ret_options, struct err *e);
int __wrap_options_parse(int argc, char **argv, struct options *ret_options, struct err *e)
{
	AUTO_STRINGS before = { 0 };
	for (int i = 0; i < argc; i++)
		strings_add(&before, argv[i]);
	int result = __real_options_parse(argc, argv, ret_options, e);
	for (int i = 0; i < argc && omitted("scrub"); i++)
		memcpy(argv[i], before.item[i], strlen(before.item[i]));
	return result;
}

/* What the private home held stays. */
int __real_session_end(struct session *session, struct strings *ret_notes, struct err *e);
int __wrap_session_end(struct session *session, struct strings *ret_notes, struct err *e);
int __wrap_session_end(struct session *session, struct strings *ret_notes, struct err *e)
{
	return omitted("session_end") ? 0 : __real_session_end(session, ret_notes, e);
}
