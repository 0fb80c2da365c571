/* SPDX-License-Identifier: MIT */
/* What hutch doctor asks programs and devices rather than the kernel. */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/text.h"

struct place {
	const char *directory; /* in the state directory, ours; NULL: none could be made */
	const char *project;   /* where doctor was called; NULL: not known */
};

/* Add the first line that `name --version` prints. Found on PATH, absolute directories only and not in
 * the project; run in "/" with nothing but PATH, HOME and the C locale; ended after three seconds. */
int program_version(
	const struct place *place, const char *name, struct text *ret_line, struct err *e);

/* The nix daemon says its greeting. */
int nix_daemon_answers(struct err *e);

/* /dev/kvm can be used. */
int kvm_answers(struct err *e);

/* May standard output be coloured? */
bool stdout_is_coloured(void);

/* Add the lines of a sentence, each indented below its row. */
void doctor_add_lines(struct text *out, const char *lines);
