/* SPDX-License-Identifier: MIT */
/*
 * An agent is data: a file of share/agents, compiled into a table at build time, or one of the
 * user's own in ~/.config/hutch/agents. Paths start with "~/" or are absolute, and
 * normal. Lists end with NULL and are never NULL themselves, but for root_set.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* A file that the agent replaces by rename: copied into the private home and merged back. */
struct agent_file {
	const char *path;
	const char *initial; /* content when it does not exist yet; NULL: not created */
	const char *merge;   /* "json": three ways by key; "whole": the newer one wins */
};

/* What `drop` names is never passed, also where `environment` names it too. */
struct agent {
	const char *name;
	const char *title;
	const char *const *commands;    /* names it is started by */
	const char *const *state;       /* directories kept, made when missing; its own first */
	const struct agent_file *files; /* ends with a NULL path */
	const char *const *read_only;   /* mounted read-only where they exist, also inside state */
	const char *const *install;     /* directories to look in when not on PATH; see program.h */
	const char *const *environment; /* variables it is given with environment: scoped; NAME* */
	const char *const *drop;        /* variables that would move its state elsewhere */
	const char *const *set;         /* NAME=VALUE it needs inside */
	const char *const *hosts;       /* NAME:PORT it talks to; *.NAME for all below */
	bool refuses_root;              /* does not run as uid 0 ... */
	const char *const *root_set;    /* ... unless these NAME=VALUE are set; NULL: no such way */
	const char *own_sandbox;        /* what it brings itself, in words; NULL: nothing */
	const char *const *own_sandbox_off; /* arguments that switch that off */
};

extern const struct agent agents_builtin[];
extern const size_t agents_builtin_count;

/* The built-in agent called `name`, or the one started by command `name`; NULL if there is none. */
const struct agent *agent_find(const char *name);
const struct agent *agent_by_command(const char *command);

/*
 * The agent that the user names: CONFIG_DIRECTORY/agents/NAME.yaml when there is such a file, else
 * the built-in one. The user's own file wins, whole: that is how somebody adapts to an agent that
 * moved its state without waiting for a new hutch. It is opened only here, by that one name.
 * `config_directory` may be NULL. Fails when there is neither (the hint has the nearest name) and
 * when the file is wrong (the sentence starts with FILE:LINE:COLUMN). End with agent_free.
 */
int agent_load(const char *name, const char *config_directory, const struct agent **ret_agent,
	struct err *e);

/* The same for a command (a path is taken by its last component): the agent that it starts, loaded
 * by that agent's name, or else the user's file with the command's own name. NULL and success when
 * the command is no known agent. */
int agent_for_command(const char *command, const char *config_directory,
	const struct agent **ret_agent, struct err *e);

/* Release what agent_load gave; a built-in agent or NULL is left alone. */
void agent_free(const struct agent *agent);

/* Is `path` of the agent's state its own, so that it shows that the agent is used here? What
 * several agents share (~/.agents/skills) shows nothing. */
bool agent_owns(const struct agent *agent, const char *path);
