/* SPDX-License-Identifier: MIT */
/*
 * The seccomp filters that a plan can name. seccomp.def says what they refuse and why; the build
 * makes a program of it for each variant (tools/seccomp-table.c), so that a run only installs one.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"

struct sock_filter;

/* System calls from this number on were not there when seccomp.def was last gone through. Numbers
 * are the same on all architectures here. 467 is open_tree_attr of Linux 6.17, which seccomp.def
 * would have to refuse. */
enum { SECCOMP_CALLS_KNOWN = 467 };

/* What a variant lets through. */
enum {
	SECCOMP_NESTING = 1 << 0, /* namespaces and mounts */
	SECCOMP_I386 = 1 << 1,    /* 32-bit programs, on x86_64 */
};

struct seccomp_variant {
	const char *name;
	unsigned lets;
};

enum { SECCOMP_VARIANTS = 4 };
extern const struct seccomp_variant seccomp_variants[SECCOMP_VARIANTS];

/* One condition on one argument. */
struct seccomp_test {
	enum seccomp_test_kind {
		SECCOMP_NO_TEST,
		SECCOMP_IS,    /* equal to `value` */
		SECCOMP_NOT,   /* not equal to `value` */
		SECCOMP_ANY,   /* some bit of `mask` set */
		SECCOMP_FIELD, /* equal to `value` under `mask` */
		SECCOMP_GIVEN, /* not 0, in all 64 bits */
	} kind;
	unsigned argument;
	uint32_t mask;
	uint32_t value;
	const char *text; /* as the table has it */
};

enum { SECCOMP_TESTS = 4 };

struct seccomp_rule {
	const char *call;
	int error;
	const char *error_name;
	unsigned unless; /* holds in variants that let none of these through */
	const char *reason;
	struct seccomp_test test[SECCOMP_TESTS];
};

extern const struct seccomp_rule seccomp_rules[];
extern const size_t seccomp_rules_count;

/* A program by enum order of seccomp_variants; no length where the machine cannot have the variant. */
struct seccomp_program {
	const struct sock_filter *filter;
	unsigned short length;
};

extern const struct seccomp_program seccomp_programs[SECCOMP_VARIANTS];

/* The name of the variant that lets exactly `lets` through. */
const char *seccomp_name(unsigned lets);

/* The program called `name`; NULL and a sentence when there is none, here or at all. */
const struct seccomp_program *seccomp_find(const char *name, struct err *e);

/* Install the filter called `name` on the calling thread and all that it starts. Nothing is
 * allocated. Needs no_new_privs. */
int seccomp_apply(const char *name, struct err *e);

/* The table of a variant, for people. */
int seccomp_show(const char *name, struct text *out, struct err *e);
