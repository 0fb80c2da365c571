/* SPDX-License-Identifier: MIT */
/*
 * Make the seccomp programs of every variant for one architecture: seccomp-table OUTPUT FAMILY.
 *
 * libseccomp knows the numbers of the calls on each architecture, checks the architecture, and makes
 * a balanced tree over the numbers, which is faster than a chain and cheaper for the kernel to look
 * through when it is installed. What it cannot express is added around its program:
 *
 *	numbers that the table does not know	before it; x32 calls are among them
 *	libseccomp's tree			a call with tests returns "trace N" there ...
 *	tests on arguments			... which becomes a jump to its own block behind
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "apply/seccomp.h"

enum { PROGRAM_MOST = BPF_MAXINSNS, PENDING_MOST = 16 };

struct program {
	struct sock_filter code[PROGRAM_MOST];
	size_t length;
};

static _Noreturn void fail(const char *what, const char *detail)
{
	fprintf(stderr, "seccomp-table: %s: %s\n", what, detail);
	exit(1);
}

static void check(int result, const char *what)
{
	if (result < 0)
		fail(what, strerror(-result));
}

static void emit(struct program *program, struct sock_filter instruction)
{
	if (program->length == PROGRAM_MOST)
		fail("program", "too long");
	program->code[program->length++] = instruction;
}

static void emit_return(struct program *program, uint32_t value)
{
	emit(program, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, value));
}

/* ---- Arguments ---- */

/* A test jumps when it fails: always to the end of its rule, which is not known yet. */
struct pending {
	size_t at[PENDING_MOST];
	size_t count;
};

static void emit_jump(
	struct program *program, unsigned code, uint32_t value, bool when, struct pending *pending)
{
	pending->at[pending->count++] = program->length;
	emit(program,
		(struct sock_filter){ (uint16_t)(BPF_JMP | code | BPF_K), when, !when, value });
}

/* Both halves are little-endian on every machine that is meant here. */
static void emit_load(struct program *program, unsigned argument, bool high)
{
	uint32_t offset = (uint32_t)offsetof(struct seccomp_data, args) + argument * 8 + high * 4u;
	emit(program, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset));
}

static void emit_test(
	struct program *program, const struct seccomp_test *test, struct pending *pending)
{
	emit_load(program, test->argument, false);
	switch (test->kind) {
	case SECCOMP_IS:
		return emit_jump(program, BPF_JEQ, test->value, false, pending);
	case SECCOMP_NOT:
		return emit_jump(program, BPF_JEQ, test->value, true, pending);
	case SECCOMP_ANY:
		return emit_jump(program, BPF_JSET, test->mask, false, pending);
	case SECCOMP_FIELD:
		emit(program, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, test->mask));
		return emit_jump(program, BPF_JEQ, test->value, false, pending);
	case SECCOMP_GIVEN: /* either half; over the load and the second test if it is the low one */
		emit(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 2));
		emit_load(program, test->argument, true);
		return emit_jump(program, BPF_JEQ, 0, true, pending);
	case SECCOMP_NO_TEST:
		break;
	}
	fail("test", "of no kind");
}

/* In `emit_jump`, jt and jf hold whether the jump of that side is pending (1) or falls through. */
static void settle(struct program *program, const struct pending *pending)
{
	for (size_t i = 0; i < pending->count; i++) {
		struct sock_filter *jump = &program->code[pending->at[i]];
		size_t distance = program->length - pending->at[i] - 1;
		if (distance > 255)
			fail("rule", "too long for one jump");
		*(jump->jt ? &jump->jt : &jump->jf) = (uint8_t)distance;
	}
}

static void emit_rule(struct program *program, const struct seccomp_rule *rule)
{
	struct pending pending = { .count = 0 };
	for (size_t i = 0; i < SECCOMP_TESTS && rule->test[i].kind != SECCOMP_NO_TEST; i++)
		emit_test(program, &rule->test[i], &pending);
	emit_return(program, SECCOMP_RET_ERRNO | (uint32_t)rule->error);
	settle(program, &pending);
}

/* ---- Numbers ---- */

static bool holds(const struct seccomp_rule *rule, unsigned lets)
{
	return !(rule->unless & lets);
}

/* The first rule of a call speaks for the call; later ones are found from it. */
static bool is_first(size_t index, unsigned lets)
{
	for (size_t i = 0; i < index; i++)
		if (holds(&seccomp_rules[i], lets) &&
			strcmp(seccomp_rules[i].call, seccomp_rules[index].call) == 0)
			return false;
	return holds(&seccomp_rules[index], lets);
}

static void add_call(scmp_filter_ctx context, size_t index)
{
	const struct seccomp_rule *rule = &seccomp_rules[index];
	int number = seccomp_syscall_resolve_name(rule->call);
	if (number == __NR_SCMP_ERROR)
		fail(rule->call, "this libseccomp does not know the call");
	uint32_t action = rule->test[0].kind == SECCOMP_NO_TEST
				  ? SCMP_ACT_ERRNO((uint32_t)rule->error)
				  : SCMP_ACT_TRACE((uint32_t)index);
	check(seccomp_rule_add(context, action, number, 0), rule->call);
}

static scmp_filter_ctx context_make(uint32_t architecture, unsigned lets)
{
	scmp_filter_ctx context = seccomp_init(SCMP_ACT_ALLOW);
	if (!context)
		fail("context", "no memory");
	if (architecture != seccomp_arch_native()) {
		check(seccomp_arch_add(context, architecture), "architecture");
		check(seccomp_arch_remove(context, SCMP_ARCH_NATIVE), "native architecture");
	}
	if (lets & SECCOMP_I386)
		check(seccomp_arch_add(context, SCMP_ARCH_X86), "i386");
	check(seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS),
		"action for other architectures");
	check(seccomp_attr_set(context, SCMP_FLTATR_CTL_OPTIMIZE, 2), "tree");
	for (size_t i = 0; i < seccomp_rules_count; i++)
		if (is_first(i, lets))
			add_call(context, i);
	return context;
}

static void context_export(scmp_filter_ctx context, struct program *program)
{
	int fd = memfd_create("program", MFD_CLOEXEC);
	struct sock_filter code[PROGRAM_MOST];
	check(seccomp_export_bpf(context, fd), "export");
	ssize_t size = pread(fd, code, sizeof code, 0);
	if (size <= 0 || (size_t)size % sizeof code[0])
		fail("export", "cannot read it back");
	for (size_t i = 0; i < (size_t)size / sizeof code[0]; i++)
		emit(program, code[i]);
	close(fd);
}

/* A tracer inside makes a call a no-op by giving it the number -1. */
static void emit_ceiling(struct program *program)
{
	const struct sock_filter ceiling[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, SECCOMP_CALLS_KNOWN, 0, 2),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, UINT32_MAX, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
	};
	for (size_t i = 0; i < sizeof ceiling / sizeof ceiling[0]; i++)
		emit(program, ceiling[i]);
}

/* Let the tree go on to the tests of a call. */
static void emit_call(struct program *program, size_t tree_end, size_t index, unsigned lets)
{
	const uint32_t mark = SECCOMP_RET_TRACE | (uint32_t)index;
	for (size_t i = 0; i < tree_end; i++)
		if (program->code[i].code == (BPF_RET | BPF_K) && program->code[i].k == mark)
			program->code[i] = (struct sock_filter)BPF_STMT(
				BPF_JMP | BPF_JA, (uint32_t)(program->length - i - 1));
	for (size_t i = index; i < seccomp_rules_count; i++)
		if (holds(&seccomp_rules[i], lets) &&
			strcmp(seccomp_rules[i].call, seccomp_rules[index].call) == 0)
			emit_rule(program, &seccomp_rules[i]);
	emit_return(program, SECCOMP_RET_ALLOW);
}

static void program_make(struct program *program, uint32_t architecture, unsigned lets)
{
	scmp_filter_ctx context = context_make(architecture, lets);
	program->length = 0;
	emit_ceiling(program);
	context_export(context, program);
	seccomp_release(context);
	size_t tree_end = program->length;
	for (size_t i = 0; i < seccomp_rules_count; i++)
		if (is_first(i, lets) && seccomp_rules[i].test[0].kind != SECCOMP_NO_TEST)
			emit_call(program, tree_end, i, lets);
}

/* ---- C ---- */

static void program_write(FILE *out, const struct program *program, size_t index)
{
	fprintf(out, "static const struct sock_filter program_%zu[] = {\n", index);
	for (size_t i = 0; i < program->length; i++) {
		const struct sock_filter *one = &program->code[i];
		fprintf(out, "\t{ 0x%02x, %u, %u, 0x%08x },\n", one->code, one->jt, one->jf,
			one->k);
	}
	fprintf(out, "};\n\n");
}

static uint32_t architecture_find(const char *family)
{
	if (strcmp(family, "x86_64") == 0)
		return SCMP_ARCH_X86_64;
	if (strcmp(family, "aarch64") == 0)
		return SCMP_ARCH_AARCH64;
	fail(family, "no seccomp filter has been thought through for this processor");
}

int main(int argc, char **argv)
{
	if (argc != 3)
		fail("usage", "seccomp-table OUTPUT x86_64|aarch64");
	static struct program program;
	size_t length[SECCOMP_VARIANTS] = { 0 };
	uint32_t architecture = architecture_find(argv[2]);
	FILE *out = fopen(argv[1], "w");
	if (!out)
		fail(argv[1], strerror(errno));
	fprintf(out,
		"/* Made by tools/seccomp-table.c from src/apply/seccomp.def, for %s. */\n"
		"#include <linux/filter.h>\n\n#include \"apply/seccomp.h\"\n\n",
		argv[2]);
	for (size_t i = 0; i < SECCOMP_VARIANTS; i++) {
		unsigned lets = seccomp_variants[i].lets;
		if ((lets & SECCOMP_I386) && architecture != SCMP_ARCH_X86_64)
			continue;
		program_make(&program, architecture, lets);
		program_write(out, &program, i);
		length[i] = program.length;
	}
	fprintf(out, "const struct seccomp_program seccomp_programs[SECCOMP_VARIANTS] = {\n");
	for (size_t i = 0; i < SECCOMP_VARIANTS; i++)
		if (length[i])
			fprintf(out, "\t[%zu] = { program_%zu, %zu },\n", i, i, length[i]);
	fprintf(out, "};\n");
	if (fclose(out) != 0)
		fail(argv[1], "cannot write it");
	return 0;
}
