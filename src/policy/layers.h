/* SPDX-License-Identifier: MIT */
/*
 * Where settings come from, lowest first: built-in defaults, the preset, the system's file, the
 * user's file, the project's file, flags. The preset is the one that the highest layer names; its
 * values then sit below all files.
 *
 * The project's file belongs to whoever wrote the project, the sandboxed command included. As long
 * as the user has not accepted its exact bytes (trust.h) it is parsed in a confined child and may
 * only take away; what it asks beyond that is left out and named in one notice.
 *
 * A workspace that holds the user's settings or the record of trust (ground.h) has no project's
 * file: whoever wrote there could have trusted himself.
 */
#pragma once

#include <stddef.h>

#include "base/err.h"
#include "base/strings.h"
#include "policy/config_read.h"
#include "policy/host.h"
#include "policy/policy.h"
#include "policy/trust.h"

#define PROJECT_FILE ".hutch.yaml"

/* One setting from the command line; the strings belong to the caller. */
struct layers_flag {
	enum key key;
	const char *text;
	const char *origin; /* "--bind" */
};

struct layers_request {
	const struct host *host; /* home, current directory, settings and state directories */
	const char *system_file; /* NULL: /etc/hutch/config.yaml */
	const char *workspace;   /* physical; NULL: the current directory */
	const struct layers_flag *flag;
	size_t flag_count;
};

/* Merge all layers into `ret_policy`, owned by the caller (policy_free). What the user should know
 * is added to `ret_notices`, one line each. An error in any layer fails the whole. */
int layers_load(const struct layers_request *request, struct policy *ret_policy,
	struct strings *ret_notices, struct err *e);

/* ---- For hutch trust: the same steps one by one ---- */

/* The project's file as it is at this moment. */
struct project {
	char *path;
	char *data; /* NULL: there is none */
	size_t length;
	enum trust trust;
	char *accepted; /* with TRUST_CHANGED: the bytes that were accepted */
	size_t accepted_length;
	struct config config; /* paths still as written */
};

/* Open, compare, parse. The bytes are read once; all that follows is about them. */
int project_load(const struct layers_request *request, struct project *ret_project, struct err *e);
void project_free(struct project *project);

/* Everything below the project's file, with the preset chosen as layers_load would choose it, but
 * for a preset that the project's file asks for. */
int layers_load_below(
	const struct layers_request *request, struct policy *ret_policy, struct err *e);

/* `entry` of the project's file with its paths made absolute; owned by the caller. */
int project_value(const struct layers_request *request, const struct project *project,
	const struct config_entry *entry, char **ret_text, struct err *e);
