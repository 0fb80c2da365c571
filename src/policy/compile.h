/* SPDX-License-Identifier: MIT */
/*
 * Policy to plan. Compiling looks at the host (what exists, where links lead) but changes nothing
 * there: `hutch plan` does the same as a run. What a run must create first is in prepare.h.
 */
#pragma once

#include "base/err.h"
#include "plan/plan.h"
#include "policy/agent.h"
#include "policy/host.h"
#include "policy/policy.h"

enum { AGENTS_MOST = 32 };

/* Where the guidance for the agent lies inside. */
#define GUIDANCE_PATH "/run/hutch/prompt"

/* The agents whose state is mounted. */
struct agents {
	const struct agent *agent[AGENTS_MOST];
	size_t count;
	const struct agent *command; /* the agent that the command is, or NULL */
	bool found; /* nobody named them: only what exists is mounted, nothing is created */
};

struct compile {
	const struct policy *policy;
	const struct host *host;
	const struct agents *agents;
	const char *home_source; /* directory on the host that becomes $HOME inside */
	char *const *command;    /* as given; ends with NULL, not empty */
	bool interactive;        /* no command was given: a shell */
};

/* Choose by `--agent`, else by what the command is, else by whose state exists. */
int agents_choose(const struct policy *policy, const struct host *host, const char *command,
	struct agents *ret_agents, struct err *e);

/* May the current directory be a workspace, and the home a home? Asked before anything is made; 0, or
 * -1 with a sentence. */
int workspace_check(const struct host *host, struct err *e);

/* Fill `ret_plan`. `ret_notes` receives sentences that the user should see once, such as a program
 * that could not be made visible. The plan borrows `compile->command` unless tools wrap it. */
int policy_compile(const struct compile *compile, struct plan *ret_plan, struct strings *ret_notes,
	struct err *e);

/* The user's own copy of the shipped flake, when the policy's tools come from it: tools are nix, none
 * is named, and the project has none. Owned by the caller; NULL otherwise. A run seeds it. */
char *tools_own_flake(const struct policy *policy, const struct host *host);
