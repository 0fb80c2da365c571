/* SPDX-License-Identifier: MIT */
/* What the readers of a plan know alike about its operations. */
#pragma once

#include "plan/plan.h"

/* An operation in a sentence, by value: "tmpfs /tmp (preset agent)". Never shows a value. */
struct op_text {
	char text[512];
};
struct op_text op_describe(const struct op *op);

/* What a mount operation does to what is already at its target. */
enum op_effect {
	EFFECT_NONE,    /* not a mount operation, or it changes only the mount's flags */
	EFFECT_NAME,    /* makes a directory, a file or a link */
	EFFECT_COVERS,  /* a mount: what was below the target is no longer seen */
	EFFECT_CONCEALS /* the same, and that is what it is for */
};
enum op_effect op_effect(enum op_kind kind);

/* Can the command write to what this operation puts in place? */
bool op_is_writable(const struct op *op);

/* The operation before `index` that decides what is found at `target`: the last one that mounts at
 * it or above it, or makes exactly it. NULL: the root that every sandbox begins with. */
const struct op *plan_cover(const struct plan *plan, size_t index, const char *target);

/* Add `word` so that bash reads it back as one word; what a terminal would act on is escaped with
 * $'...'. */
void text_add_bash_word(struct text *t, const char *word);
