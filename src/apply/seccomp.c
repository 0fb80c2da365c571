/* SPDX-License-Identifier: MIT */
#include "apply/seccomp.h"

#include <errno.h>
#include <string.h>

#include "kernel/seccomp.h"

const char *seccomp_name(unsigned lets)
{
	for (size_t i = 0; i < SECCOMP_VARIANTS; i++)
		if (seccomp_variants[i].lets == lets)
			return seccomp_variants[i].name;
	return seccomp_variants[0].name;
}

static const struct seccomp_variant *variant_find(const char *name, struct err *e)
{
	for (size_t i = 0; i < SECCOMP_VARIANTS; i++)
		if (strcmp(seccomp_variants[i].name, name) == 0)
			return &seccomp_variants[i];
	err_set(e, 0, "there is no seccomp filter called '%s'", name);
	return NULL;
}

const struct seccomp_program *seccomp_find(const char *name, struct err *e)
{
	const struct seccomp_variant *variant = variant_find(name, e);
	if (!variant)
		return NULL;
	const struct seccomp_program *program = &seccomp_programs[variant - seccomp_variants];
	if (program->length)
		return program;
	err_set(e, 0, "the seccomp filter '%s' is for x86_64, and this is another machine", name);
	err_hint(e, "leave out --i386");
	return NULL;
}

int seccomp_apply(const char *name, struct err *e)
{
	const struct seccomp_program *program = seccomp_find(name, e);
	if (!program)
		return -1;
	if (seccomp_install(program->filter, program->length) < 0)
		return err_set(e, errno, "cannot install the seccomp filter '%s'", name);
	return 0;
}

static void rule_show(const struct seccomp_rule *rule, struct text *out)
{
	text_format(out, "%-18s%-17s%s\n", rule->call, rule->error_name, rule->reason);
	for (const struct seccomp_test *test = rule->test;
		test < rule->test + SECCOMP_TESTS && test->kind != SECCOMP_NO_TEST; test++)
		text_format(out, "%-18s%-17s  %s %s\n", "", "",
			test == rule->test ? "when" : " and", test->text);
}

int seccomp_show(const char *name, struct text *out, struct err *e)
{
	const struct seccomp_program *program = seccomp_find(name, e);
	if (!program)
		return -1;
	const struct seccomp_variant *variant = variant_find(name, e);
	unsigned lets = variant ? variant->lets : 0;
	text_format(out, "seccomp filter '%s', %u instructions; what is not listed is allowed\n\n",
		name, program->length);
	for (size_t i = 0; i < seccomp_rules_count; i++)
		if (!(seccomp_rules[i].unless & lets))
			rule_show(&seccomp_rules[i], out);
	text_format(out, "%d and above%5s%-17s%s\n", SECCOMP_CALLS_KNOWN, "", "ENOSYS",
		"numbers newer than this table, and those of x32");
	text_format(out, "%-18s%-17s%s\n", "any", "SIGSYS",
		lets & SECCOMP_I386 ? "calls of another architecture than x86_64 and i386"
				    : "calls of another architecture, such as i386");
	return 0;
}
