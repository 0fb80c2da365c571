/* SPDX-License-Identifier: MIT */
#include "policy/agent.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/memory.h"
#include "base/path.h"
#include "policy/agent_read.h"
#include "policy/presets.h"
#include "tests/unit/test.h"

static bool list_has(const char *const *list, const char *text)
{
	for (; *list; list++)
		if (strcmp(*list, text) == 0)
			return true;
	return false;
}

static void test_builtin(void)
{
	static const struct {
		const char *agent, *state;
	} cases[] = {
		{ "claude", "~/.claude" },
		{ "claude", "~/.config/claude" },
		{ "claude", "~/.config/claude-code" },
		{ "claude", "~/.config/anthropic" },
		{ "codex", "~/.codex" },
		{ "codex", "~/.agents/skills" },
		{ "codex", "~/.agents/plugins" },
		{ "copilot", "~/.copilot" },
		{ "copilot", "~/.config/github-copilot" },
		{ "copilot", "~/.cache/copilot" },
		{ "opencode", "~/.local/share/opencode" },
		{ "opencode", "~/.local/state/opencode" },
		{ "opencode", "~/.config/opencode" },
		{ "opencode", "~/.cache/opencode" },
		{ "gemini", "~/.gemini" },
		{ "pi", "~/.pi" },
		{ "qwen-code", "~/.qwen" },
		{ "crush", "~/.local/share/crush" },
		{ "aider", "~/.aider" },
		{ "goose", "~/.local/share/goose" },
		{ "amp", "~/.local/share/amp" },
		{ "cursor-agent", "~/.cursor" },
		{ "ori", "~/.ori" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct agent *agent = agent_find(cases[i].agent);
		AUTO_FREE char *name = memory_format("%s keeps %s", cases[i].agent, cases[i].state);
		check(agent && list_has(agent->state, cases[i].state), name);
	}
}

static void test_lookup(void)
{
	const struct agent *claude = agent_find("claude");
	check(claude && claude->refuses_root && claude->root_set &&
			list_has(claude->root_set, "IS_SANDBOX=1"),
		"claude's way out as root");
	check(claude && strcmp(claude->files[0].path, "~/.claude.json") == 0 &&
			strcmp(claude->files[0].initial, "{}") == 0 &&
			strcmp(claude->files[0].merge, "json") == 0 && !claude->files[1].path,
		"claude's file that is renamed");
	check(claude && list_has(claude->drop, "CLAUDE_CONFIG_DIR"), "what moves claude's state");
	check(list_has(agent_find("codex")->drop, "CODEX_HOME"), "what moves codex's state");
	check(list_has(agent_find("copilot")->drop, "COPILOT_HOME"), "what moves copilot's state");
	check(agent_by_command("qwen") == agent_find("qwen-code"), "found by its command");
	check(!agent_find("bash") && !agent_by_command("bash"), "bash is no agent");
	check(agent_owns(claude, "~/.claude"), "~/.claude is claude's own");
	check(!agent_owns(agent_find("codex"), "~/.agents/skills"), "~/.agents/skills is nobody's");
}

static const char *preset_value(const char *preset, const char *key)
{
	for (size_t i = 0; i < presets_builtin_count; i++)
		for (const struct preset_value *each = presets_builtin[i].value; each->key; each++)
			if (strcmp(presets_builtin[i].name, preset) == 0 &&
				strcmp(each->key, key) == 0)
				return each->text;
	return NULL;
}

static void test_presets(void)
{
	check_string(preset_value("agent", "home"), "private", "preset agent: a private home");
	check_string(preset_value("agent", "environment"), "inherit", "preset agent: environment");
	check_string(preset_value("shell", "home"), "kept=shell", "preset shell: a kept home");
	check_string(preset_value("shell", "environment"), "clean", "preset shell: environment");
	check_string(preset_value("shell", "tools"), "nix", "preset shell: tools");
	check_string(preset_value("shell", "hostname"), "sandbox", "preset shell: host name");
}

/* The sentence that reading `data` fails with, or "" */
static char *read_error(const char *data)
{
	struct yaml *document = NULL;
	struct agent *agent = NULL;
	struct err e = { 0 };
	if (yaml_parse(data, strlen(data), "F", &document, &e) == 0 &&
		agent_read(document, "F", "x", &agent, &e) == 0)
		e.text[0] = '\0';
	agent_release(agent);
	yaml_free(document);
	return memory_format("%s%s%s", e.text, e.hint[0] ? " / " : "", e.hint);
}

#define HEAD "name: x\ntitle: X\ncommands: [x]\n"

static void test_read_errors(void)
{
	static const struct {
		const char *data, *want;
	} cases[] = {
		{ HEAD, "" },
		{ HEAD "state: ~/.x\n", "" },
		{ HEAD "state:\nset: [A=b=c]\nhosts: ['*.x.org:443']\ninstall: [~/a/*/b]\n", "" },
		{ "- x\n", "F:1:1: an agent is a map of keys" },
		{ "title: X\ncommands: [x]\n", "F:1:1: the key 'name' is missing" },
		{ "name: y\ntitle: Y\ncommands: [y]\n",
			"F:1:1: the name is 'y', but the file says 'x'" },
		{ "name: x\ntitle: X\ncommands: []\n", "F:3:1: at least one is needed" },
		{ HEAD "stat: [~/.x]\n",
			"F:4:1: an agent has no key 'stat' / the nearest is 'state'" },
		{ HEAD "state: [.x]\n", "F:4:9: '.x': a path must start with ~/ or /" },
		{ HEAD "state: [~x/y]\n", "F:4:9: '~x/y': a path must start with ~/ or /" },
		{ HEAD "state: [~/../y]\n",
			"F:4:9: '~/../y': a path must not have '.', '..' or empty components" },
		{ HEAD "state: [~/]\n",
			"F:4:9: '~/': the whole home or file system cannot be given away" },
		{ HEAD "state: [/]\n",
			"F:4:9: '/': the whole home or file system cannot be given away" },
		{ HEAD "state: [~/a*]\n", "F:4:9: '~/a*': only paths of install may have a *" },
		{ HEAD "state: [\"~/a\\nb\"]\n", "F:4:9: '~/a\nb': this must be one line without "
						 "control characters" },
		{ HEAD "install: [~/a*/b]\n",
			"F:4:11: '~/a*/b': a * stands for one whole component, once" },
		{ HEAD "install: [~/*/a/*]\n",
			"F:4:11: '~/*/a/*': a * stands for one whole component, once" },
		{ HEAD "state: {a: b}\n", "F:4:1: this must be a list" },
		{ HEAD "state: [[a]]\n", "F:4:9: this must be one value, not a list or a map" },
		{ HEAD "drop: ['*']\n", "F:4:8: '*': a variable is NAME or NAME*" },
		{ HEAD "drop: [A-B]\n", "F:4:8: 'A-B': a variable is NAME or NAME*" },
		{ HEAD "set: [AB]\n", "F:4:7: 'AB': this must be NAME=VALUE" },
		{ HEAD "hosts: [x.org]\n", "F:4:9: 'x.org': a host is NAME:PORT" },
		{ HEAD "hosts: ['x.org:0']\n", "F:4:9: 'x.org:0': a host is NAME:PORT" },
		{ HEAD "refuses-root: maybe\n", "F:4:1: this must be yes or no" },
		{ HEAD "files:\n  - path: ~/.x\n    merge: union\n",
			"F:5:5: merge is json or whole" },
		{ HEAD "files:\n  - initial: '{}'\n", "F:5:5: a file needs a path" },
		{ HEAD "files:\n  - pat: ~/.x\n",
			"F:5:5: a file has path, initial and merge / did you mean 'path'?" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		AUTO_FREE char *have = read_error(cases[i].data);
		AUTO_FREE char *name = memory_format("agent file %zu", i);
		check_string(have, cases[i].want, name);
	}
}

static void file_make(const char *directory, const char *name, mode_t mode, const char *content)
{
	AUTO_FREE char *path = path_join(directory, name);
	for (char *slash = path + strlen(directory) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	AUTO_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	if (fd < 0 || fd_write_all(fd, content, strlen(content)) < 0)
		printf("# cannot write %s\n", path);
}

/* The error of loading `name`, or "TITLE" in brackets. */
static char *loaded(const char *directory, const char *name)
{
	const struct agent *agent = NULL;
	struct err e = { 0 };
	if (agent_load(name, directory, &agent, &e) < 0)
		return memory_format("%s / %s", e.text, e.hint);
	char *title = memory_format("[%s]", agent->title);
	agent_free(agent);
	return title;
}

static void test_load(const char *directory)
{
	file_make(directory, "agents/mine.yaml", 0644, "name: mine\ntitle: Mine\ncommands: [m]\n");
	file_make(directory, "agents/codex.yaml", 0644,
		"name: codex\ntitle: My Codex\ncommands: [codex]\n");
	file_make(directory, "agents/bad.yaml", 0644, "name: bad\ntitel: x\n");
	file_make(directory, "secret.yaml", 0644, "name: secret\ntitle: S\ncommands: [s]\n");
	AUTO_FREE char *fifo = path_join(directory, "agents/fifo.yaml");
	mkfifo(fifo, 0644);

	AUTO_FREE char *builtin = loaded(directory, "claude");
	check_string(builtin, "[Claude Code]", "load: a built-in one");
	AUTO_FREE char *mine = loaded(directory, "mine");
	check_string(mine, "[Mine]", "load: one of the user's own");
	AUTO_FREE char *other = loaded(directory, "codex");
	check_string(other, "[My Codex]", "load: the user's own wins");
	AUTO_FREE char *plain = loaded(NULL, "codex");
	check_string(plain, "[OpenAI Codex]", "load: without a config directory");
	AUTO_FREE char *typo = loaded(directory, "clade");
	check_string(typo,
		"there is no agent 'clade' / the nearest is 'claude'; hutch agents lists "
		"them all",
		"load: an unknown one");
	AUTO_FREE char *out = loaded(directory, "../secret");
	check(strncmp(out, "there is no agent", 17) == 0, "load: a name is not a path");
	AUTO_FREE char *bad = loaded(directory, "bad");
	check(strstr(bad, "/agents/bad.yaml:2:"), "load: a wrong file says where");
	AUTO_FREE char *pipe = loaded(directory, "fifo");
	check(strstr(pipe, "fifo.yaml is not a file"), "load: a FIFO does not hang");

	const struct agent *agent = NULL;
	check(agent_for_command("/usr/bin/codex", directory, &agent, NULL) == 0 && agent &&
			strcmp(agent->title, "My Codex") == 0,
		"by command: the user's own wins");
	agent_free(agent);
	check(agent_for_command("mine", directory, &agent, NULL) == 0 && agent, "by command: own");
	agent_free(agent);
	check(agent_for_command("ls", directory, &agent, NULL) == 0 && !agent, "by command: none");
}

int main(void)
{
	char directory[] = "/tmp/hutch-agent.XXXXXX";
	test_builtin();
	test_lookup();
	test_presets();
	test_read_errors();
	if (!mkdtemp(directory))
		return 1;
	test_load(directory);
	AUTO_FREE char *remove = memory_format("rm -rf %s", directory);
	if (system(remove) != 0)
		printf("# %s is left behind\n", directory);
	return test_done();
}
