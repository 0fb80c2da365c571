/* SPDX-License-Identifier: MIT */
/*
 * From a YAML document to a struct agent. One table names every key; reading, releasing, the
 * build's generator of tables and `hutch agents NAME` are all readers of it.
 */
#pragma once

#include "formats/yaml.h"
#include "policy/agent.h"

enum agent_kind {
	AGENT_NAME,        /* one word */
	AGENT_TEXT,        /* one line */
	AGENT_SWITCH,      /* yes or no */
	AGENT_FILES,       /* maps of path, initial, merge */
	AGENT_COMMANDS,    /* this kind and those below are lists of strings */
	AGENT_PATHS,       /* normal paths below ~/ or / */
	AGENT_PATTERNS,    /* the same, one component of which may be * */
	AGENT_VARIABLES,   /* NAME or NAME* */
	AGENT_ASSIGNMENTS, /* NAME=VALUE */
	AGENT_HOSTS,       /* NAME:PORT */
	AGENT_ARGUMENTS,   /* anything that is not empty */
};

struct agent_field {
	const char *key;
	enum agent_kind kind;
	size_t offset; /* in struct agent */
	bool required;
	bool optional_list; /* NULL, not an empty list, when the key is absent */
};

extern const struct agent_field agent_fields[];
extern const size_t agent_fields_count;

/* The member of `agent` that `field` names, by type. */
static inline const char *agent_text(const struct agent *agent, const struct agent_field *field)
{
	return *(const char *const *)((const char *)agent + field->offset);
}
static inline const char *const *agent_list(
	const struct agent *agent, const struct agent_field *field)
{
	return *(const char *const *const *)((const char *)agent + field->offset);
}
static inline const struct agent_file *agent_files(
	const struct agent *agent, const struct agent_field *field)
{
	return *(const struct agent_file *const *)((const char *)agent + field->offset);
}
static inline bool agent_switch(const struct agent *agent, const struct agent_field *field)
{
	return *(const bool *)((const char *)agent + field->offset);
}

/* May an agent (and so its file) have this name? */
bool agent_name_is_valid(const char *name);

/* Read `document`, which came from `file`; it must be called `name` unless that is NULL. The result
 * is owned by the caller: agent_release. Sentences start with FILE:LINE:COLUMN. */
int agent_read(const struct yaml *document, const char *file, const char *name,
	struct agent **ret_agent, struct err *e);

/* Free what agent_read made; NULL is fine. */
void agent_release(struct agent *agent);
