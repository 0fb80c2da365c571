/* SPDX-License-Identifier: MIT */
#include "plan/plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

const struct op_info op_info[OP_COUNT] = {
#define OP(kind, phase, json, fields) [OP_##kind] = { json, PHASE_##phase, fields },
#include "plan/ops.def"
#undef OP
};

const char *const phase_names[] = {
	[PHASE_NAMESPACES] = "namespaces",
	[PHASE_MOUNTS] = "mounts",
	[PHASE_ENVIRONMENT] = "environment",
	[PHASE_LIMITS] = "limits",
	[PHASE_CONFINEMENT] = "confinement",
};

static const struct flag_name {
	unsigned flag;
	const char *name;
} flag_names[] = {
	{ BIND_READ_ONLY, "read_only" },
	{ BIND_DEVICES, "devices" },
	{ BIND_TRY, "try" },
	{ BIND_SCRATCH, "scratch" },
	{ PROC_HOST, "host" },
	{ PROC_NESTING, "nesting" },
	{ ENV_SECRET, "secret" },
	{ LANDLOCK_FILES, "files" },
	{ LANDLOCK_SCOPES, "scopes" },
};

void flags_each(unsigned flags, void (*emit)(const char *name, void *data), void *data)
{
	for (size_t i = 0; i < sizeof flag_names / sizeof flag_names[0]; i++)
		if (flags & flag_names[i].flag)
			emit(flag_names[i].name, data);
}

const char *plan_text(struct plan *plan, const char *format, ...)
{
	char *text = NULL;
	va_list arguments;
	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = memory_string("");
	va_end(arguments);
	strings_take(&plan->texts, text);
	return text;
}

const char *plan_copy(struct plan *plan, const char *text)
{
	strings_add(&plan->texts, text);
	return plan->texts.item[plan->texts.count - 1];
}

/* Neighbours mostly have one reason. */
static const char *because_copy(struct plan *plan, const char *because)
{
	const char *last = plan->count ? plan->op[plan->count - 1].because : NULL;
	return last && strcmp(last, because) == 0 ? last : plan_copy(plan, because);
}

struct op *plan_add(struct plan *plan, enum op_kind kind, const char *because)
{
	const char *copy = because_copy(plan, because);
	if (plan->count == plan->size) {
		plan->size = plan->size ? plan->size * 2 : 128;
		plan->op = memory_grow(plan->op, plan->size, sizeof *plan->op);
	}
	struct op *op = &plan->op[plan->count++];
	*op = (struct op){ .kind = kind, .fd = -1, .because = copy };
	return op;
}

const struct op *plan_find_target(const struct plan *plan, const char *target)
{
	for (size_t i = plan->count; i-- > 0;) {
		const struct op *op = &plan->op[i];
		if (op_info[op->kind].phase == PHASE_MOUNTS && strcmp(op->target, target) == 0)
			return op;
	}
	return NULL;
}

void plan_free(struct plan *plan)
{
	for (size_t i = 0; i < plan->count; i++)
		free((void *)plan->op[i].layers);
	free(plan->op);
	free(plan->words);
	strings_free(&plan->texts);
	*plan = (struct plan){ 0 };
}
