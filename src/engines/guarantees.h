/* SPDX-License-Identifier: MIT */
/*
 * The table of guarantees: for one plan on this kernel, what enforces each, or why it is missing.
 * Answering probes the kernel (some milliseconds): it is for plan, doctor and --require only.
 */
#pragma once

#include "base/text.h"
#include "engines/engine.h"

enum guarantee {
#define GUARANTEE(c, name, sentence) GUARANTEE_##c,
#include "engines/guarantees.def"
#undef GUARANTEE
	GUARANTEE_COUNT
};

struct guarantee_info {
	const char *name;
	const char *sentence;
};

extern const struct guarantee_info guarantee_info[GUARANTEE_COUNT];

/* WEAKER: something is enforced, but not the whole sentence. A requirement is met by OK alone. */
enum standing { STANDING_OK, STANDING_WEAKER, STANDING_MISSING };
extern const char *const standing_names[]; /* "ok", "weaker", "missing" */

struct question {
	const struct engine *engine;
	const struct plan *plan;
	uint64_t timeout_ms; /* 0: none; not a part of the plan */
};

struct answer {
	enum standing standing;
	char text[256]; /* by what, or why not */
};

void guarantee_answer(
	const struct question *question, enum guarantee guarantee, struct answer *ret_answer);

/* Append the table to what plan_show_text printed. */
void guarantees_show(const struct question *question, struct text *out);

/* Add the member "guarantees" to the object that plan_show_json printed last into `out`. */
void guarantees_show_json(const struct question *question, struct text *out);

/* The guarantee called `name`; -1 with the nearest name. */
int guarantee_find(const char *name, enum guarantee *ret_guarantee, struct err *e);

/* Fail with the reason unless the plan has this guarantee here. */
int guarantee_require(const struct question *question, const char *name, struct err *e);
