/* SPDX-License-Identifier: MIT */
#include "formats/executable.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

/* A word of a script's first line, for the two things that env(1) is asked for there. */
static const char *env_name(char *words)
{
	char *rest = NULL;
	for (char *word = strtok_r(words, " \t", &rest); word;
		word = strtok_r(NULL, " \t", &rest)) {
		if (strncmp(word, "-S", 2) == 0 && word[2])
			word += 2;
		if (word[0] != '-' && !strchr(word, '='))
			return word;
	}
	return "";
}

static void script_parse(const char *head, struct executable *ret)
{
	char line[EXECUTABLE_LINE];
	size_t length = strcspn(head + 2, "\n");
	snprintf(line, sizeof line, "%.*s", (int)length, head + 2);
	line[strcspn(line, "\r")] = '\0';
	char *interpreter = line + strspn(line, " \t");
	size_t end = strcspn(interpreter, " \t");
	char *arguments = interpreter + end;
	if (*arguments)
		*arguments++ = '\0';
	ret->kind = EXECUTABLE_SCRIPT;
	snprintf(ret->interpreter, sizeof ret->interpreter, "%s", interpreter);
	const char *slash = strrchr(interpreter, '/');
	if (slash && strcmp(slash, "/env") == 0)
		snprintf(ret->name, sizeof ret->name, "%s", env_name(arguments));
}

struct elf {
	executable_read *read;
	void *data;
	Elf64_Phdr header[64];
	size_t count;
};

static bool elf_read(const struct elf *elf, uint64_t offset, void *buffer, size_t length)
{
	return elf->read(elf->data, offset, buffer, length) == (ssize_t)length;
}

/* A string in the file; what is too long or does not end is "". */
static void elf_string(const struct elf *elf, uint64_t offset, char *buffer, size_t size)
{
	ssize_t length = elf->read(elf->data, offset, buffer, size);
	if (length <= 0 || !memchr(buffer, '\0', (size_t)length))
		buffer[0] = '\0';
}

static bool elf_address(const struct elf *elf, uint64_t address, uint64_t *ret_offset)
{
	for (size_t i = 0; i < elf->count; i++) {
		const Elf64_Phdr *header = &elf->header[i];
		if (header->p_type != PT_LOAD || address < header->p_vaddr ||
			address - header->p_vaddr >= header->p_filesz)
			continue;
		*ret_offset = header->p_offset + (address - header->p_vaddr);
		return true;
	}
	return false;
}

/* DT_RUNPATH, or the older DT_RPATH where that is missing. */
static void elf_dynamic(const struct elf *elf, const Elf64_Phdr *header, struct executable *ret)
{
	enum { MOST = 512 };
	uint64_t table = 0, name = 0, offset = 0;
	bool have_table = false, have_name = false, have_run_path = false;
	for (uint64_t i = 0; i < MOST && i < header->p_filesz / sizeof(Elf64_Dyn); i++) {
		Elf64_Dyn entry;
		if (!elf_read(elf, header->p_offset + i * sizeof entry, &entry, sizeof entry) ||
			entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag == DT_STRTAB) {
			table = entry.d_un.d_ptr;
			have_table = true;
		} else if (entry.d_tag == DT_RUNPATH ||
			   (entry.d_tag == DT_RPATH && !have_run_path)) {
			name = entry.d_un.d_val;
			have_name = true;
			have_run_path = entry.d_tag == DT_RUNPATH;
		}
	}
	if (have_table && have_name && elf_address(elf, table, &offset))
		elf_string(elf, offset + name, ret->run_path, sizeof ret->run_path);
}

static void elf_parse(struct elf *elf, struct executable *ret)
{
	Elf64_Ehdr file;
	ret->kind = EXECUTABLE_ELF;
	if (!elf_read(elf, 0, &file, sizeof file) || file.e_ident[EI_CLASS] != ELFCLASS64 ||
		file.e_ident[EI_DATA] != ELFDATA2LSB || file.e_phentsize != sizeof(Elf64_Phdr))
		return;
	elf->count = file.e_phnum < 64 ? file.e_phnum : 64;
	if (!elf_read(elf, file.e_phoff, elf->header, elf->count * sizeof(Elf64_Phdr)))
		return;
	for (size_t i = 0; i < elf->count; i++) {
		const Elf64_Phdr *header = &elf->header[i];
		if (header->p_type == PT_INTERP)
			elf_string(
				elf, header->p_offset, ret->interpreter, sizeof ret->interpreter);
		else if (header->p_type == PT_DYNAMIC)
			elf_dynamic(elf, header, ret);
	}
}

void executable_parse(executable_read *read, void *data, struct executable *ret)
{
	char head[EXECUTABLE_LINE + 1];
	struct elf elf = { .read = read, .data = data };
	ret->kind = EXECUTABLE_OTHER;
	ret->interpreter[0] = ret->name[0] = ret->run_path[0] = '\0';
	ssize_t length = read(data, 0, head, EXECUTABLE_LINE);
	if (length < 4 || length > EXECUTABLE_LINE)
		return;
	head[length] = '\0';
	if (head[0] == '#' && head[1] == '!')
		script_parse(head, ret);
	else if (memcmp(head, ELFMAG, SELFMAG) == 0)
		elf_parse(&elf, ret);
}

/* One word of a shell script, read into a buffer; what is longer is cut. */
struct shell {
	const char *at;
	char word[1024];
	size_t length;
};

static void shell_put(struct shell *shell)
{
	if (shell->length < sizeof shell->word - 1)
		shell->word[shell->length++] = *shell->at;
	shell->at++;
}

/* Copy up to the bracket that closes `$(` or `${`, as it is written. */
static void shell_expansion(struct shell *shell)
{
	char open = shell->at[1], close = open == '(' ? ')' : '}';
	unsigned depth = 0;
	shell_put(shell);
	do {
		if (*shell->at == open)
			depth++;
		else if (*shell->at == close)
			depth--;
		shell_put(shell);
	} while (depth && *shell->at);
}

static bool shell_is_expansion(const struct shell *shell)
{
	return shell->at[0] == '$' && (shell->at[1] == '(' || shell->at[1] == '{');
}

static void shell_quoted(struct shell *shell, char quote)
{
	shell->at++;
	while (*shell->at && *shell->at != quote) {
		if (quote == '"' && *shell->at == '\\' && shell->at[1])
			shell->at++;
		if (quote == '"' && shell_is_expansion(shell))
			shell_expansion(shell);
		else
			shell_put(shell);
	}
	if (*shell->at)
		shell->at++;
}

/* Read the word at `at` into the buffer. False when a command ends there instead. */
static bool shell_word(struct shell *shell)
{
	shell->length = 0;
	shell->at += strspn(shell->at, " \t");
	while (shell->at[0] == '\\' && shell->at[1] == '\n')
		shell->at += 2 + strspn(shell->at + 2, " \t");
	const char *start = shell->at;
	if (*shell->at == '#')
		shell->at += strcspn(shell->at, "\n");
	while (*shell->at && !strchr(" \t\n;&|()<>", *shell->at)) {
		if (*shell->at == '\'' || *shell->at == '"') {
			shell_quoted(shell, *shell->at);
		} else if (shell_is_expansion(shell)) {
			shell_expansion(shell);
		} else {
			if (*shell->at == '\\' && shell->at[1])
				shell->at++;
			shell_put(shell);
		}
	}
	shell->word[shell->length] = '\0';
	return shell->at != start && *start != '#';
}

void executable_shell_words(
	const char *text, void (*emit)(const char *word, bool first, void *data), void *data)
{
	struct shell shell = { .at = text };
	enum { BEFORE, AFTER_EXEC, AFTER_PROGRAM } state = BEFORE;
	bool skip = false;
	while (*shell.at) {
		if (!shell_word(&shell)) {
			if (*shell.at)
				shell.at++;
			state = BEFORE;
		} else if (state == BEFORE) {
			state = strcmp(shell.word, "exec") == 0 ? AFTER_EXEC : BEFORE;
		} else if (skip) {
			skip = false;
		} else if (state == AFTER_EXEC && shell.word[0] == '-') {
			skip = strcmp(shell.word, "-a") == 0;
		} else {
			emit(shell.word, state == AFTER_EXEC, data);
			state = AFTER_PROGRAM;
		}
	}
}
