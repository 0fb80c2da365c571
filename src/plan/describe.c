/* SPDX-License-Identifier: MIT */
#include "plan/describe.h"

#include <stdio.h>
#include <string.h>

#include "base/path.h"

struct op_text op_describe(const struct op *op)
{
	unsigned fields = op_info[op->kind].fields;
	const char *subject = "";
	if (fields & FIELD_TARGET)
		subject = op->target;
	else if (fields & FIELD_NAME)
		subject = op->name;
	else if (op->kind == OP_HOSTNAME)
		subject = op->value;
	if (!subject)
		subject = "";
	struct op_text shown;
	snprintf(shown.text, sizeof shown.text, "%s%s%.200s (%.200s)", op_info[op->kind].name,
		*subject ? " " : "", subject, op->because ? op->because : "unknown reason");
	return shown;
}

enum op_effect op_effect(enum op_kind kind)
{
	switch (kind) {
	case OP_BIND:
	case OP_BIND_FD:
	case OP_TMPFS:
	case OP_OVERLAY:
	case OP_PROC:
	case OP_DEV:
	case OP_TMP_OVERLAY:
	case OP_BIND_DATA:
	case OP_MQUEUE:
		return EFFECT_COVERS;
	case OP_MASK:
		return EFFECT_CONCEALS;
	case OP_DIR:
	case OP_FILE:
	case OP_SYMLINK:
	case OP_COPY_FD:
		return EFFECT_NAME;
	case OP_REMOUNT_RO:
	case OP_CHMOD:
	case OP_NAMESPACE:
	case OP_IDENTITY:
	case OP_HOSTNAME:
	case OP_ENV_CLEAR:
	case OP_ENV_KEEP:
	case OP_ENV_UNSET:
	case OP_ENV_SET:
	case OP_CWD:
	case OP_LIMIT:
	case OP_NO_USER_NAMESPACES:
	case OP_CAPABILITIES:
	case OP_NO_NEW_PRIVILEGES:
	case OP_LANDLOCK:
	case OP_SECCOMP:
	case OP_SECCOMP_FD:
	case OP_COUNT:
		return EFFECT_NONE;
	}
	return EFFECT_NONE;
}

bool op_is_writable(const struct op *op)
{
	if (op_effect(op->kind) != EFFECT_COVERS)
		return false;
	if (op->kind == OP_OVERLAY)
		return op->upper != NULL;
	return !((op_info[op->kind].fields & FIELD_FLAGS) && (op->flags & BIND_READ_ONLY));
}

const struct op *plan_cover(const struct plan *plan, size_t index, const char *target)
{
	for (size_t i = index; i-- > 0;) {
		const struct op *op = &plan->op[i];
		enum op_effect effect = op_effect(op->kind);
		if (effect == EFFECT_NONE)
			continue;
		if (effect == EFFECT_NAME ? strcmp(target, op->target) == 0
					  : path_is_within(target, op->target))
			return op;
	}
	return NULL;
}

void text_add_bash_word(struct text *t, const char *word)
{
	if (text_is_visible(word)) {
		text_add_shell_word(t, word);
		return;
	}
	text_add(t, "$'");
	for (const unsigned char *p = (const unsigned char *)word; *p; p++) {
		if (*p == '\n')
			text_add(t, "\\n");
		else if (*p == '\'' || *p == '\\')
			text_format(t, "\\%c", *p);
		else if (*p < 0x20 || *p >= 0x7f)
			text_format(t, "\\%03o", *p);
		else
			text_add_bytes(t, p, 1);
	}
	text_add(t, "'");
}
