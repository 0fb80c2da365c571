/* SPDX-License-Identifier: MIT */
/*
 * A plan is the flat list of operations that a policy, or a bubblewrap command line, compiles to.
 * Each operation is whole in itself. Carrying a plan out, checking it and printing it are readers of
 * the same array; none of them knows where the plan came from.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/strings.h"
#include "base/text.h"

enum phase {
	PHASE_NAMESPACES,
	PHASE_MOUNTS,
	PHASE_ENVIRONMENT,
	PHASE_LIMITS,
	PHASE_CONFINEMENT,
};

enum op_kind {
#define OP(kind, phase, json, fields) OP_##kind,
#include "plan/ops.def"
#undef OP
	OP_COUNT
};

/* Which members of struct op an operation uses. */
enum {
	FIELD_NAME = 1 << 0,
	FIELD_SOURCE = 1 << 1,
	FIELD_TARGET = 1 << 2,
	FIELD_VALUE = 1 << 3,
	FIELD_LAYERS = 1 << 4,
	FIELD_UPPER = 1 << 5,
	FIELD_WORK = 1 << 6,
	FIELD_FD = 1 << 7,
	FIELD_PERMS = 1 << 8,
	FIELD_SIZE = 1 << 9,
	FIELD_INODES = 1 << 10,
	FIELD_NUMBER = 1 << 11,
	FIELD_FLAGS = 1 << 12,
	FIELD_UID = 1 << 13,
	FIELD_GID = 1 << 14,
};

/* Flags. Each is printed by the name that flag_names gives it. */
enum {
	BIND_READ_ONLY = 1 << 0,
	BIND_DEVICES = 1 << 1, /* device nodes below it work */
	BIND_TRY = 1 << 2,     /* nothing happens when the source is missing */
	BIND_SCRATCH = 1 << 3, /* a directory of our own: mountpoints may be made in it */
	PROC_HOST = 1 << 4,    /* bind the outer /proc: weaker, the host's processes are listed */
	PROC_NESTING = 1 << 5, /* leave a buried unmasked proc, so that nested fresh ones work */
	ENV_SECRET = 1 << 6,   /* the value is not printed */
	LANDLOCK_FILES = 1 << 7,
	LANDLOCK_SCOPES = 1 << 8,
};

struct op {
	enum op_kind kind;
	unsigned flags;
	const char *name;          /* namespace, variable, limit or filter */
	const char *source;        /* path on the host, absolute */
	const char *target;        /* path inside, absolute and normal */
	const char *value;         /* hostname, content, link text, variable's value */
	const char *const *layers; /* OVERLAY: lowest first, ends with NULL */
	const char *upper;         /* OVERLAY: NULL for a read-only one */
	const char *work;
	int fd;          /* BIND_FD: owned by whoever made the plan */
	mode_t perms;    /* permission bits */
	uint64_t size;   /* bytes; 0: the kernel's default */
	uint64_t inodes; /* 0: the kernel's default */
	uint64_t number; /* LIMIT: the unit that the limit's name says; CAPABILITIES: mask kept */
	uid_t uid;
	gid_t gid;
	const char *because; /* "flag --bind", "FILE:LINE", "preset agent", "agent claude" */
};

struct plan {
	struct op *op;
	size_t count;
	size_t size;
	char *const *command; /* ends with NULL; borrowed, or `words` */
	const char *argv0;    /* what the command sees as its name; NULL: command[0] */
	bool faithful;        /* a bubblewrap command line: its ways, its liberties (check.c) */
	char **words;         /* a command that was made for the plan: owned; else NULL */
	struct strings texts; /* what the operations point to */
};

struct op_info {
	const char *name; /* as in JSON */
	enum phase phase;
	unsigned fields;
};

extern const struct op_info op_info[OP_COUNT];
extern const char *const phase_names[]; /* by enum phase */

/* Append an operation. The pointer is good until the next call. `because` is copied. */
struct op *plan_add(struct plan *plan, enum op_kind kind, const char *because);

/* A formatted string that lives as long as the plan. */
const char *plan_text(struct plan *plan, const char *format, ...) PRINTF(2, 3);
const char *plan_copy(struct plan *plan, const char *text); /* the same for a string as it is */

/* Is `target` (a normal path) an existing mount or directory of the plan, exactly? The last such
 * operation, or NULL. */
const struct op *plan_find_target(const struct plan *plan, const char *target);

void plan_free(struct plan *plan);

/* Check the numbered invariants (check.c). */
int plan_check(const struct plan *plan, struct err *e);

/* Names of the bits in `flags` that are set, for printers: calls `emit` once per name. */
void flags_each(unsigned flags, void (*emit)(const char *name, void *data), void *data);

/* Printers. Each appends to `out`. show_bwrap fails with a sentence that names the operation and why
 * it is there when this bubblewrap (`minor` of version 0.minor) cannot express it, unless `partial`:
 * then the operation is printed as a comment. */
void plan_show_text(const struct plan *plan, struct text *out);
void plan_show_json(const struct plan *plan, struct text *out);
int plan_show_bwrap(
	const struct plan *plan, unsigned minor, bool partial, struct text *out, struct err *e);
