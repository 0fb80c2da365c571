/* SPDX-License-Identifier: MIT */
/*
 * The plan for programs: one object, one operation to a line, made from op_info alone. Version 1 of
 * the form: members may be added to it, none changes its meaning. A secret's value is null.
 */
#include "plan/plan.h"

#include <inttypes.h>

enum { JSON_VERSION = 1 };

enum field_type { TYPE_STRING, TYPE_LIST, TYPE_INT, TYPE_ID, TYPE_MODE, TYPE_NUMBER, TYPE_FLAGS };

static const struct field {
	unsigned field;
	const char *name;
	enum field_type type;
	size_t offset;
} fields[] = {
	{ FIELD_NAME, "name", TYPE_STRING, offsetof(struct op, name) },
	{ FIELD_SOURCE, "source", TYPE_STRING, offsetof(struct op, source) },
	{ FIELD_TARGET, "target", TYPE_STRING, offsetof(struct op, target) },
	{ FIELD_VALUE, "value", TYPE_STRING, offsetof(struct op, value) },
	{ FIELD_LAYERS, "layers", TYPE_LIST, offsetof(struct op, layers) },
	{ FIELD_UPPER, "upper", TYPE_STRING, offsetof(struct op, upper) },
	{ FIELD_WORK, "work", TYPE_STRING, offsetof(struct op, work) },
	{ FIELD_FD, "fd", TYPE_INT, offsetof(struct op, fd) },
	{ FIELD_PERMS, "perms", TYPE_MODE, offsetof(struct op, perms) },
	{ FIELD_SIZE, "size", TYPE_NUMBER, offsetof(struct op, size) },
	{ FIELD_INODES, "inodes", TYPE_NUMBER, offsetof(struct op, inodes) },
	{ FIELD_NUMBER, "number", TYPE_NUMBER, offsetof(struct op, number) },
	{ FIELD_FLAGS, "flags", TYPE_FLAGS, offsetof(struct op, flags) },
	{ FIELD_UID, "uid", TYPE_ID, offsetof(struct op, uid) },
	{ FIELD_GID, "gid", TYPE_ID, offsetof(struct op, gid) },
};

static void add_string(struct text *out, const char *value)
{
	if (value)
		text_add_json_string(out, value);
	else
		text_add(out, "null");
}

static void add_list(struct text *out, const char *const *item)
{
	text_add(out, "[");
	for (size_t i = 0; item && item[i]; i++) {
		text_add(out, i ? ", " : "");
		text_add_json_string(out, item[i]);
	}
	text_add(out, "]");
}

static void add_flag(const char *name, void *data)
{
	struct text *out = data;
	text_add(out, out->data[out->length - 1] == '[' ? "" : ", ");
	text_add_json_string(out, name);
}

static void add_value(struct text *out, enum field_type type, const void *value)
{
	switch (type) {
	case TYPE_STRING:
		return add_string(out, *(const char *const *)value);
	case TYPE_LIST:
		return add_list(out, *(const char *const *const *)value);
	case TYPE_INT:
		return text_format(out, "%d", *(const int *)value);
	case TYPE_ID:
		return text_format(out, "%u", *(const uid_t *)value);
	case TYPE_MODE: /* octal, as people read it, hence a string */
		return text_format(out, "\"%04o\"", *(const mode_t *)value);
	case TYPE_NUMBER:
		return text_format(out, "%" PRIu64, *(const uint64_t *)value);
	case TYPE_FLAGS:
		text_add(out, "[");
		flags_each(*(const unsigned *)value, add_flag, out);
		return text_add(out, "]");
	}
}

static void add_operation(struct text *out, const struct op *op)
{
	text_add(out, "    {\"op\": ");
	text_add_json_string(out, op_info[op->kind].name);
	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
		if (!(op_info[op->kind].fields & fields[i].field))
			continue;
		text_format(out, ", \"%s\": ", fields[i].name);
		if (fields[i].field == FIELD_VALUE && (op->flags & ENV_SECRET))
			text_add(out, "null");
		else
			add_value(out, fields[i].type, (const char *)op + fields[i].offset);
	}
	text_add(out, ", \"because\": ");
	add_string(out, op->because);
	text_add(out, "}");
}

void plan_show_json(const struct plan *plan, struct text *out)
{
	text_format(out, "{\n  \"version\": %d,\n  \"command\": ", JSON_VERSION);
	add_list(out, (const char *const *)plan->command);
	text_add(out, ",\n  \"argv0\": ");
	add_string(out, plan->argv0);
	text_add(out, ",\n  \"operations\": [");
	for (size_t i = 0; i < plan->count; i++) {
		text_add(out, i ? ",\n" : "\n");
		add_operation(out, &plan->op[i]);
	}
	text_add(out, "\n  ]\n}\n");
}
