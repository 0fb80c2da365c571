/* SPDX-License-Identifier: MIT */
/* The parts of compiling, each in a file of its own, in the order in which they add to the plan. */
#pragma once

#include "policy/compile.h"
#include "policy/program.h"

/* What the parts share while one plan is made. */
struct parts {
	const struct compile *in;
	const struct policy *policy;
	const struct host *host;
	struct plan *plan;
	struct strings *notes;
	struct strings path;   /* directories to add to PATH, for programs found elsewhere */
	const char *directory; /* the workspace by the name that the shell has for it */
	uint64_t memory;       /* of this machine, bytes */
	char *const *command;  /* what is run in the end */
};

/* compile_system.c: the host's programs and settings, /proc, /dev, temporary directories */
int compile_system(struct parts *parts, struct err *e);
/* compile_tools.c: nix, direnv, and the command line that enters them */
void compile_tools(struct parts *parts);
int compile_wrapper(struct parts *parts, struct err *e);
void add_nix_remote(struct parts *parts);
/* compile_home.c: $HOME, the state of agents, their programs */
int compile_home(struct parts *parts, struct err *e);
int compile_programs(struct parts *parts, struct err *e);
/* Make the program that `command` names visible where the host has it. `ret_path` (may be NULL) is
 * what to execute, as long as the plan lives; NULL when the host has no such program. */
int add_program(struct parts *parts, const char *command, const char *const *install,
	const char *because, const char **ret_path, struct err *e);
/* May hutch itself execute `program` (absolute), outside and in the workspace? Not where the sandbox, this
 * one or another, could have written it or a link to it, nor what asks the project's files which program it
 * stands for. Only when the workspace is in the plan. */
bool program_is_safe_outside(const struct parts *parts, const char *program);
/* A place of the user's own, shown at `target` where the host has it; not worth failing for. */
void add_own_if_any(struct parts *parts, const char *place, const char *target, unsigned flags,
	const char *because);
/* compile_workspace.c: the current directory, and what the user adds or hides */
int compile_workspace(struct parts *parts, struct err *e);
int compile_binds(struct parts *parts, bool outer, struct err *e);
int compile_last(struct parts *parts, struct err *e);
/* guidance.c: the text for the agent inside */
void add_guidance(struct parts *parts);
/* compile_environment.c */
int compile_environment(struct parts *parts, struct err *e);

/* A tmpfs that may hold 1/`share` of this machine's memory. */
void add_tmpfs(
	struct parts *parts, const char *target, mode_t perms, unsigned share, const char *because);
/* A bind of the same path inside and outside. */
struct op *add_bind(struct parts *parts, const char *path, unsigned flags, const char *because);
struct op *add_bind_from(struct parts *parts, const char *source, const char *target,
	unsigned flags, const char *because);
/* Who the command is inside. */
const struct op *plan_identity(const struct parts *parts);
/* Is there anything at `path` on the host? (follows links) */
bool host_has(const char *path);
