/* SPDX-License-Identifier: MIT */
/*
 * Theory. One function per guarantee, and each looks at the plan first: what the plan does not ask
 * for is missing, whatever the kernel could do. Then it asks the kernel by doing. These functions
 * must never say more than apply/ and the engine carry out; when an operation gains or loses an
 * effect, its sentence here changes with it.
 */
#include "engines/guarantees.h"

#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/path.h"
#include "base/strings.h"
#include "engines/probe.h"
#include "kernel/landlock.h"
#include "kernel/scope.h"
#include "plan/describe.h"

const struct guarantee_info guarantee_info[GUARANTEE_COUNT] = {
#define GUARANTEE(c, name, sentence) [GUARANTEE_##c] = { name, sentence },
#include "engines/guarantees.def"
#undef GUARANTEE
};

const char *const standing_names[] = { "ok", "weaker", "missing" };

PRINTF(3, 4)
static void say(struct answer *answer, enum standing standing, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(answer->text, sizeof answer->text, format, arguments);
	va_end(arguments);
	answer->standing = standing;
}

/* --- what the plan has ----------------------------------------------------------------------- */

/* The last operation of a kind, with this name unless NULL. */
static const struct op *find(const struct plan *plan, enum op_kind kind, const char *name)
{
	for (size_t i = plan->count; i-- > 0;)
		if (plan->op[i].kind == kind && (!name || strcmp(plan->op[i].name, name) == 0))
			return &plan->op[i];
	return NULL;
}

static bool has_namespace(const struct plan *plan, const char *name)
{
	return find(plan, OP_NAMESPACE, name) != NULL;
}

static bool keeps_capability(const struct plan *plan, int capability)
{
	const struct op *op = find(plan, OP_CAPABILITIES, NULL);
	return !op || (op->number >> capability & 1);
}

static bool binds_root(const struct plan *plan)
{
	for (size_t i = 0; i < plan->count; i++)
		if ((plan->op[i].kind == OP_BIND || plan->op[i].kind == OP_BIND_FD) &&
			strcmp(plan->op[i].source, "/") == 0)
			return true;
	return false;
}

/* What is found at `target` once all is mounted. */
static const struct op *found_at(const struct plan *plan, const char *target)
{
	return plan_cover(plan, plan->count, target);
}

/* --- files ----------------------------------------------------------------------------------- */

static void answer_hidden_files(const struct question *question, struct answer *answer)
{
	if (!has_namespace(question->plan, "mount"))
		say(answer, STANDING_MISSING, "no mount namespace");
	else if (binds_root(question->plan))
		say(answer, STANDING_MISSING, "the plan mounts the host's whole root");
	else
		say(answer, STANDING_OK, "mount namespace with a root of its own");
}

/* With the first ABI there are none (apply/landlock.h). */
static bool has_file_rules(const struct plan *plan)
{
	const struct op *landlock = find(plan, OP_LANDLOCK, NULL);
	return landlock && (landlock->flags & LANDLOCK_FILES) && landlock_abi() >= 2;
}

static void answer_read_only_files(const struct question *question, struct answer *answer)
{
	if (!has_namespace(question->plan, "mount"))
		say(answer, STANDING_MISSING, "no mount namespace");
	else if (keeps_capability(question->plan, CAP_SYS_ADMIN))
		say(answer, STANDING_MISSING,
			"the command keeps CAP_SYS_ADMIN and can mount it writable again");
	else
		say(answer, STANDING_OK,
			"read-only mounts, without the capability to change them%s",
			has_file_rules(question->plan) ? "; Landlock as a second fence" : "");
}

/* Is there a mask in a directory that host programs work in at the same time? */
static const struct op *mask_in_live_tree(const struct plan *plan)
{
	for (size_t i = 0; i < plan->count; i++) {
		const struct op *cover = plan->op[i].kind == OP_MASK
						 ? plan_cover(plan, i, plan->op[i].target)
						 : NULL;
		if (cover && (cover->kind == OP_BIND || cover->kind == OP_BIND_FD))
			return &plan->op[i];
	}
	return NULL;
}

static void answer_deny_inside_allow(const struct question *question, struct answer *answer)
{
	const struct op *mask = mask_in_live_tree(question->plan);
	if (!has_namespace(question->plan, "mount"))
		say(answer, STANDING_MISSING, "no mount namespace");
	else if (keeps_capability(question->plan, CAP_SYS_ADMIN))
		say(answer, STANDING_MISSING, "the command keeps CAP_SYS_ADMIN and can unmount");
	else if (mask)
		say(answer, STANDING_WEAKER,
			"masks, each until a host program replaces or renames that name");
	else
		say(answer, STANDING_OK, "mounts over the hidden paths");
}

static void answer_absent_names(const struct question *question, struct answer *answer)
{
	const struct op *cwd = find(question->plan, OP_CWD, NULL);
	const struct op *place = cwd ? found_at(question->plan, cwd->target) : NULL;
	if (place && !op_is_writable(place))
		say(answer, STANDING_OK, "the workspace is read-only");
	else
		say(answer, STANDING_MISSING,
			"a mount cannot cover what does not exist, and the workspace is the live "
			"one");
}

static void answer_private_tmp(const struct question *question, struct answer *answer)
{
	static const char *const places[] = { "/tmp", "/var/tmp" };
	for (size_t i = 0; i < 2; i++) {
		const struct op *op = found_at(question->plan, places[i]);
		if (op && op->kind != OP_TMPFS && op_is_writable(op))
			return say(answer, STANDING_MISSING, "%s is mounted from elsewhere",
				places[i]);
	}
	if (!has_namespace(question->plan, "mount"))
		return say(answer, STANDING_MISSING, "no mount namespace");
	say(answer, STANDING_OK, "a tmpfs each, gone at the end");
}

/* --- processes ------------------------------------------------------------------------------- */

/* A bind that shows the outer /proc, or a part of it, wherever that is. */
static const struct op *binds_proc(const struct plan *plan)
{
	for (size_t i = 0; i < plan->count; i++) {
		const struct op *op = &plan->op[i];
		if (op->kind != OP_BIND && op->kind != OP_BIND_FD)
			continue;
		bool root = strcmp(op->source, "/") == 0;
		if (!root && !path_is_within(op->source, "/proc"))
			continue;
		AUTO_FREE char *place = path_join(op->target, root ? "proc" : "");
		AUTO_FREE char *normal = path_absolute("/", place);
		if (found_at(plan, normal) == op)
			return op;
	}
	return NULL;
}

static void answer_hidden_processes(const struct question *question, struct answer *answer)
{
	const struct op *proc = find(question->plan, OP_PROC, NULL);
	const struct op *shown = binds_proc(question->plan);
	if (!has_namespace(question->plan, "pid"))
		say(answer, STANDING_MISSING, "no process namespace");
	else if (proc && (proc->flags & PROC_HOST))
		say(answer, STANDING_MISSING, "%s: the outer /proc is mounted and lists them",
			proc->because);
	else if (shown)
		say(answer, STANDING_MISSING, "%s: the host's /proc is shown at or below %s",
			shown->because, shown->target);
	else
		say(answer, STANDING_OK, "process namespace with a /proc of its own");
}

static void answer_signals(const struct question *question, struct answer *answer)
{
	const struct op *landlock = find(question->plan, OP_LANDLOCK, NULL);
	struct err why = { 0 };
	bool fenced =
		landlock && (landlock->flags & LANDLOCK_SCOPES) && probe_abstract_scope(&why) == 0;
	if (has_namespace(question->plan, "pid"))
		say(answer, STANDING_OK, "process namespace%s",
			fenced ? "; Landlock scope as a second fence" : "");
	else if (fenced)
		say(answer, STANDING_OK, "Landlock scope");
	else
		say(answer, STANDING_MISSING, "no process namespace");
}

static void answer_nested_namespaces(const struct question *question, struct answer *answer)
{
	if (find(question->plan, OP_NO_USER_NAMESPACES, NULL))
		say(answer, STANDING_OK, "max_user_namespaces is 0 in the sandbox's own%s",
			find(question->plan, OP_SECCOMP, NULL) ? "; seccomp filter" : "");
	else
		say(answer, STANDING_MISSING, "the plan allows nesting");
}

static void answer_kernel_surface(const struct question *question, struct answer *answer)
{
	struct err why = { 0 };
	const struct op *filter = find(question->plan, OP_SECCOMP, NULL);
	if (!filter)
		say(answer, STANDING_MISSING,
			"no seccomp filter in the plan; capabilities are dropped all the same");
	else if (probe_seccomp(&why) < 0)
		say(answer, STANDING_MISSING, "%.200s", why.text);
	else if (!find(question->plan, OP_NO_USER_NAMESPACES, NULL))
		say(answer, STANDING_WEAKER,
			"seccomp filter '%.80s': the calls for namespaces and mounts pass, and with "
			"them much of the kernel",
			filter->name);
	else
		say(answer, STANDING_OK, "seccomp filter '%.80s'", filter->name);
}

static void answer_terminal_injection(const struct question *question, struct answer *answer)
{
	if (question->plan->faithful)
		say(answer, STANDING_MISSING,
			"a bubblewrap command line says itself whether the terminal is shared");
	else
		say(answer, STANDING_OK, "a pseudo-terminal of the sandbox's own");
}

/* --- sockets and network --------------------------------------------------------------------- */

static void answer_abstract_sockets(const struct question *question, struct answer *answer)
{
	struct err why = { 0 };
	const struct op *landlock = find(question->plan, OP_LANDLOCK, NULL);
	if (has_namespace(question->plan, "net"))
		say(answer, STANDING_OK, "network namespace");
	else if (!landlock || !(landlock->flags & LANDLOCK_SCOPES))
		say(answer, STANDING_MISSING,
			"no network namespace and no Landlock scope in the plan");
	else if (probe_abstract_scope(&why) < 0)
		say(answer, STANDING_MISSING, "%.200s", why.text);
	else
		say(answer, STANDING_OK, "Landlock scope");
}

static void answer_path_sockets(const struct question *question, struct answer *answer)
{
	if (!has_namespace(question->plan, "mount") || binds_root(question->plan))
		say(answer, STANDING_MISSING, "the host's sockets are all there");
	else
		say(answer, STANDING_OK,
			"mount namespace (a read-only mount does not stop connecting)");
}

/* Whoever reaches the daemon of nix has it fetch from anywhere, and build with the network. */
static bool shows_nix_daemon(const struct plan *plan)
{
	static const char path[] = "/nix/var/nix/daemon-socket/socket";
	const struct op *op = found_at(plan, path);
	return op && (op->kind == OP_BIND || op->kind == OP_BIND_FD) && access(path, F_OK) == 0;
}

static void answer_network(const struct question *question, struct answer *answer, const char *why)
{
	if (has_namespace(question->plan, "net") && shows_nix_daemon(question->plan))
		say(answer, STANDING_WEAKER,
			"network namespace, but the nix daemon fetches and builds outside");
	else if (has_namespace(question->plan, "net"))
		say(answer, STANDING_OK,
			"network namespace with nothing but a loopback of its own");
	else
		say(answer, STANDING_MISSING, "%s", why);
}

static void answer_tcp_ports(const struct question *question, struct answer *answer)
{
	answer_network(question, answer, "the network is the host's");
}

static void answer_tcp_names(const struct question *question, struct answer *answer)
{
	answer_network(question, answer, "the network is the host's");
}

static void answer_udp(const struct question *question, struct answer *answer)
{
	answer_network(question, answer, "the network is the host's");
}

static void answer_host_loopback(const struct question *question, struct answer *answer)
{
	answer_network(question, answer, "the network is the host's, its 127.0.0.1 included");
}

/* --- limits ---------------------------------------------------------------------------------- */

/* In the order in which the supervisor decides (supervisor/memory.c). */
static void answer_memory(const struct question *question, struct answer *answer)
{
	int version;
	if (!find(question->plan, OP_LIMIT, "memory"))
		say(answer, STANDING_MISSING, "not limited; --memory does");
	else if (scope_is_reachable())
		say(answer, STANDING_OK, "memory control group, a scope of the user's systemd");
	else if (probe_cgroup(true, &version, NULL) == 0)
		say(answer, STANDING_OK, "memory control group (v%d)", version);
	else
		say(answer, STANDING_WEAKER,
			"sampled; memfd and shared memory not counted (no control group here; "
			"RLIMIT_DATA for each process)");
}

static void answer_tasks(const struct question *question, struct answer *answer)
{
	int version;
	struct err why = { 0 };
	if (!find(question->plan, OP_LIMIT, "tasks"))
		say(answer, STANDING_MISSING, "not limited; --tasks does");
	else if (probe_cgroup(false, &version, NULL) == 0)
		say(answer, STANDING_OK, "pids control group (v%d)", version);
	else if (probe_task_limit(&why) == 0)
		say(answer, STANDING_OK, "RLIMIT_NPROC inside the user namespace");
	else
		say(answer, STANDING_MISSING, "no pids control group can be made, and %.150s",
			why.text);
}

static void answer_time(const struct question *question, struct answer *answer)
{
	if (question->timeout_ms)
		say(answer, STANDING_OK, "the supervisor's clock and init's own");
	else
		say(answer, STANDING_MISSING, "not limited; --timeout does");
}

/* --- the table ------------------------------------------------------------------------------- */

static void (*const answers[GUARANTEE_COUNT])(const struct question *, struct answer *) = {
#define GUARANTEE(c, name, sentence) [GUARANTEE_##c] = answer_##c,
#include "engines/guarantees.def"
#undef GUARANTEE
};

void guarantee_answer(
	const struct question *question, enum guarantee guarantee, struct answer *ret_answer)
{
	answers[guarantee](question, ret_answer);
}

void guarantees_show(const struct question *question, struct text *out)
{
	text_format(out, "%sguarantees\n", out->length ? "\n" : "");
	for (size_t i = 0; i < GUARANTEE_COUNT; i++) {
		struct answer answer;
		guarantee_answer(question, (enum guarantee)i, &answer);
		text_format(out, "  %-20s%-9s", guarantee_info[i].name,
			standing_names[answer.standing]);
		text_add_visible(out, answer.text);
		text_add(out, "\n");
	}
}

void guarantees_show_json(const struct question *question, struct text *out)
{
	static const char end[] = "\n}\n";
	size_t length = sizeof end - 1;
	if (out->length < length || strcmp(out->data + out->length - length, end) != 0)
		return;
	out->length -= length;
	out->data[out->length] = '\0';
	text_add(out, ",\n  \"guarantees\": [");
	for (size_t i = 0; i < GUARANTEE_COUNT; i++) {
		struct answer answer;
		guarantee_answer(question, (enum guarantee)i, &answer);
		text_format(out,
			"%s\n    {\"name\": \"%s\", \"standing\": \"%s\", \"by\": ", i ? "," : "",
			guarantee_info[i].name, standing_names[answer.standing]);
		text_add_json_string(out, answer.text);
		text_add(out, "}");
	}
	text_add(out, "\n  ]\n}\n");
}

int guarantee_find(const char *name, enum guarantee *ret_guarantee, struct err *e)
{
	const char *nearest = NULL;
	for (size_t i = 0; i < GUARANTEE_COUNT; i++) {
		if (strcmp(guarantee_info[i].name, name) == 0) {
			*ret_guarantee = (enum guarantee)i;
			return 0;
		}
		word_nearest(name, guarantee_info[i].name, &nearest);
	}
	err_set(e, 0, "there is no guarantee called '%s'", name);
	if (nearest)
		return err_hint(e, "did you mean '%s'?", nearest);
	return err_hint(e, "hutch plan lists them");
}

int guarantee_require(const struct question *question, const char *name, struct err *e)
{
	enum guarantee guarantee = 0;
	struct answer answer;
	if (guarantee_find(name, &guarantee, e) < 0)
		return -1;
	guarantee_answer(question, guarantee, &answer);
	if (answer.standing == STANDING_OK)
		return 0;
	err_set(e, 0, "the guarantee %s is required and %s: %s", name,
		answer.standing == STANDING_WEAKER ? "only weaker here" : "missing here",
		answer.text);
	return err_hint(e,
		"%s says: %s; hutch plan shows what this run has, hutch doctor what this "
		"machine can do",
		name, guarantee_info[guarantee].sentence);
}
