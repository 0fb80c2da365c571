/* SPDX-License-Identifier: MIT */
/* The text that tells an agent where it is. It is made from the plan, so that it cannot say what is
 * not so, and lies inside at /run/hutch/prompt, where `hutch prompt` finds it. */
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "policy/compile_parts.h"

static bool is_mount(const struct op *op)
{
	return op->kind == OP_BIND || op->kind == OP_BIND_FD;
}

static bool is_agent_state(const struct op *op)
{
	return is_mount(op) && !(op->flags & BIND_READ_ONLY) &&
	       strncmp(op->because, "agent ", 6) == 0;
}

/* A name may hold anything, a newline and what looks like another instruction, too. */
static void place_show(struct text *out, const char *path, const char *what)
{
	text_add(out, "- ");
	text_add_visible(out, path);
	text_format(out, " (%s)\n", what);
}

/* Files that are copied in before the run, and merged back after it unless the home lasts. */
static void files_show(const struct parts *parts, struct text *out)
{
	const struct agents *agents = parts->in->agents;
	bool kept = policy_word(parts->policy, KEY_HOME) == WORD_HOME_KEPT;
	for (size_t i = 0; i < agents->count; i++)
		for (const struct agent_file *file = agents->agent[i]->files; file && file->path;
			file++) {
			AUTO_FREE char *path = host_expand(parts->host, file->path);
			place_show(out, path,
				kept ? "your own state, kept in this home"
				     : "your own state, merged back at the end");
		}
}

static void asked_show(struct text *out, const struct op *op)
{
	AUTO_TEXT what = { 0 };
	text_add(&what, "asked for by ");
	text_add_visible(&what, op->because);
	text_add(&what, ", kept");
	place_show(out, op->target, what.data);
}

static void memory_show(const struct plan *plan, struct text *out)
{
	for (size_t i = 0; i < plan->count; i++) {
		const struct op *op = &plan->op[i];
		if (op->kind != OP_TMPFS || strcmp(op->target, "/") == 0)
			continue;
		AUTO_FREE char *what = memory_format(
			"memory, at most %s, gone at the end", size_show(op->size).text);
		place_show(out, op->target, what);
	}
}

static void writable_show(const struct parts *parts, struct text *out)
{
	const struct plan *plan = parts->plan;
	text_add(out, "You can write to:\n");
	place_show(out, parts->host->directory, "the project; changes are real and kept");
	for (size_t i = 0; i < plan->count; i++)
		if (is_agent_state(&plan->op[i]))
			place_show(out, plan->op[i].target, "your own state, kept");
	files_show(parts, out);
	for (size_t i = 0; i < plan->count; i++) {
		const struct op *op = &plan->op[i];
		if (is_mount(op) && !(op->flags & (BIND_READ_ONLY | BIND_SCRATCH)) &&
			!is_agent_state(op) && strcmp(op->target, parts->host->directory) != 0)
			asked_show(out, op);
	}
	bool kept = policy_word(parts->policy, KEY_HOME) == WORD_HOME_KEPT;
	place_show(out, parts->host->home,
		kept ? "a home of this sandbox, kept for the next run"
		     : "a home of this sandbox, thrown away at the end");
	memory_show(plan, out);
}

static void tools_show(const struct parts *parts, struct text *out)
{
	text_add(out,
		"\nPrograms: the host's /usr is here, read-only; nothing gives more privileges (no "
		"sudo), and system packages cannot be installed.\n");
	if (!plan_find_target(parts->plan, "/nix/var/nix/daemon-socket") &&
		!plan_find_target(parts->plan, "/nix/var/nix"))
		return;
	text_add(out,
		"Nix is here: `nix shell nixpkgs#NAME` tries a tool; to keep it, add it to the "
		"devShell in flake.nix and run `nix develop`.\n"
		"With an .envrc that says `use flake`, `direnv reload` takes the change over, "
		"once the user has allowed it on the host with `direnv allow`.\n");
}

void add_guidance(struct parts *parts)
{
	AUTO_TEXT text = { 0 };
	struct text *out = &text;
	text_add(out,
		"You run in a sandbox made by hutch. It holds the project and your own state; "
		"the user's other files, keys and processes are not here, so do not look for "
		"them or work around their absence: say what you need instead.\n\n");
	writable_show(parts, out);
	text_add(out, "Everything else is read-only or absent.\n\nNetwork: ");
	text_add(out, policy_word(parts->policy, KEY_NETWORK) == WORD_NETWORK_HOST
			      ? "the same as the user's machine, local services included.\n"
			      : "none but the sandbox's own loopback device.\n");
	tools_show(parts, out);
	text_add(out,
		"\nGit: commits work and carry the user's name; there are no credentials, so the "
		"user pushes from outside.\n"
		"No agent of SSH or GPG, no desktop, no Docker can be reached.\n"
		"`hutch prompt` prints this text again.\n");
	struct op *op = plan_add(parts->plan, OP_FILE, "built-in");
	op->target = GUIDANCE_PATH;
	op->value = plan_copy(parts->plan, text.data);
	op->perms = 0444;
}
