/* SPDX-License-Identifier: MIT */
#include "apply/environment.h"

#include <string.h>

#include "base/memory.h"

static bool is_variable(const char *entry, const char *name)
{
	size_t length = strlen(name);
	return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

const char *environment_get(char *const *environment, const char *name)
{
	for (; *environment; environment++)
		if (is_variable(*environment, name))
			return *environment + strlen(name) + 1;
	return NULL;
}

static void unset(struct strings *list, const char *name)
{
	size_t kept = 0;
	for (size_t i = 0; i < list->count; i++) {
		if (is_variable(list->item[i], name))
			free(list->item[i]);
		else
			list->item[kept++] = list->item[i];
	}
	list->count = kept;
	if (list->item)
		list->item[kept] = NULL;
}

static void set(struct strings *list, const char *name, const char *value)
{
	unset(list, name);
	strings_take(list, memory_format("%s=%s", name, value));
}

void apply_environment(const struct plan *plan, char *const *outer, struct strings *ret_environment)
{
	for (char *const *entry = outer; *entry; entry++)
		strings_add(ret_environment, *entry);
	for (size_t i = 0; i < plan->count; i++) {
		const struct op *op = &plan->op[i];
		const char *kept;
		if (op->kind == OP_ENV_CLEAR)
			strings_free(ret_environment);
		else if (op->kind == OP_ENV_UNSET)
			unset(ret_environment, op->name);
		else if (op->kind == OP_ENV_SET)
			set(ret_environment, op->name, op->value);
		else if (op->kind == OP_ENV_KEEP && (kept = environment_get(outer, op->name)))
			set(ret_environment, op->name, kept);
	}
	if (!ret_environment->item)
		ret_environment->item = memory_alloc(1, sizeof(char *));
}

const char *apply_directory(const struct plan *plan)
{
	for (size_t i = plan->count; i-- > 0;)
		if (plan->op[i].kind == OP_CWD)
			return plan->op[i].target;
	return "/";
}
