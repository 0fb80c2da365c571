/* SPDX-License-Identifier: MIT */
/* What run, plan and prompt have in common: from the command line to a plan. */
#pragma once

#include "cli/options.h"
#include "engines/guarantees.h"
#include "policy/compile.h"

struct request {
	struct host host;
	struct policy policy;
	struct agents agents;
	struct plan plan;
	struct strings notes;
	char *const *command;
	bool interactive; /* no command was given: a shell, as the preset has it */
};

/* Read the host, the layers and the agents. Without a command the preset `shell` has bash; any other
 * takes `fallback`, or fails when that is NULL. */
int request_read(
	struct options *options, char *const *fallback, struct request *ret_request, struct err *e);

/* Compile and check. `home_source` is the host's directory for $HOME; NULL: a placeholder, for
 * showing. */
int request_compile(struct request *request, const char *home_source, struct err *e);

/* The guarantees of the compiled plan: the question that guarantees_show answers, and a failure with
 * the reason when one that the policy requires is missing. Probes the kernel only if there is any. */
struct question request_question(const struct request *request);
int request_require(const struct request *request, struct err *e);

void request_free(struct request *request);

#define AUTO_REQUEST __attribute__((cleanup(request_free))) struct request
