/* SPDX-License-Identifier: MIT */
/* The layers over real files in a directory of its own, and trust in a project's bytes. */
#include "policy/layers.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/memory.h"
#include "base/path.h"
#include "policy/ground.h"
#include "policy/show.h"
#include "tests/unit/test.h"

static char root[] = "/tmp/hutch-layers.XXXXXX";
static struct host host;
static char *system_file, *user_file, *project_file;

static char *below(const char *name)
{
	return path_join(root, name);
}

static void write_file(const char *path, const char *content)
{
	unlink(path);
	AUTO_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (fd < 0 || fd_write_all(fd, content, strlen(content)) < 0)
		perror(path);
}

static void start(void)
{
	if (!mkdtemp(root))
		exit(1);
	host = (struct host){
		.home = below("home"),
		.directory = below("home/project"),
		.config = below("home/.config/hutch"),
		.state = below("home/.local/state/hutch"),
	};
	AUTO_FREE char *config = below("home/.config");
	mkdir(host.home, 0755);
	mkdir(config, 0755);
	mkdir(host.config, 0755);
	mkdir(host.directory, 0755);
	system_file = below("system.yaml");
	user_file = path_join(host.config, "config.yaml");
	project_file = path_join(host.directory, PROJECT_FILE);
}

static void clear(void)
{
	unlink(system_file);
	unlink(user_file);
	if (unlink(project_file) < 0)
		rmdir(project_file);
}

static int load(const struct layers_flag *flag, size_t count, struct policy *policy,
	struct strings *notices, struct err *e)
{
	const struct layers_request request = {
		.host = &host, .system_file = system_file, .flag = flag, .flag_count = count
	};
	*e = (struct err){ 0 };
	return layers_load(&request, policy, notices, e);
}

static void test_none(void)
{
	struct policy policy;
	struct err e;
	AUTO_STRINGS notices = { 0 };
	clear();
	check(load(NULL, 0, &policy, &notices, &e) == 0 && notices.count == 0, "no files at all");
	check_string(policy_value(&policy, KEY_PRESET), "agent", "the default preset");
	policy_free(&policy);
	const struct layers_flag wrong = { KEY_PRESET, "agnet", "--preset" };
	check(load(&wrong, 1, &policy, &notices, &e) < 0 && strstr(e.hint, "'agent'"),
		"an unknown preset");
}

static void test_order(void)
{
	struct policy policy;
	struct err e;
	AUTO_STRINGS notices = { 0 };
	write_file(system_file, "timeout: 1h\nmemory: 4G\npreset: agent\nbind-ro: /opt\n");
	write_file(user_file, "memory: 2G\npreset: shell\nbind-ro: [data, ~/x]\n");
	const struct layers_flag flag[] = { { KEY_MEMORY, "1G", "--memory" },
		{ KEY_BIND_RO, "y", "--bind-ro" } };
	check(load(flag, 2, &policy, &notices, &e) == 0, "system, user, flags");
	check(policy_number(&policy, KEY_MEMORY) == 1u << 30, "the flag is on top");
	check_string(policy_origin(&policy, KEY_MEMORY), "--memory", "a flag's origin");
	check(policy_number(&policy, KEY_TIMEOUT) == 3600000, "the system's file counts");
	check(policy_word(&policy, KEY_HOME) == WORD_HOME_KEPT, "the user's preset");
	check_string(policy_origin(&policy, KEY_HOME), "preset shell", "a preset's origin");
	AUTO_FREE char *origin = memory_format("%s:3", user_file);
	const struct setting *binds = &policy.setting[KEY_BIND_RO];
	check(binds->count >= 4, "lists are appended");
	if (binds->count >= 4) {
		const struct item *last = binds->item + binds->count - 4;
		AUTO_FREE char *data = below("home/data"), *x = below("home/x"),
			       *y = below("home/project/y");
		check_string(last[0].text, "/opt", "a path of the system's file");
		check_string(last[1].text, data, "a path of the user's file starts at home");
		check_string(last[1].origin, origin, "a file's origin has its line");
		check_string(last[2].text, x, "a path with ~");
		check_string(last[3].text, y, "a path of a flag starts at the current directory");
	}
	policy_free(&policy);
	const struct layers_flag preset = { KEY_PRESET, "agent", "--preset" };
	check(load(&preset, 1, &policy, &notices, &e) == 0 &&
			policy_word(&policy, KEY_HOME) == WORD_HOME_PRIVATE,
		"the flag's preset is on top");
	policy_free(&policy);
	clear();
}

static void test_untrusted(void)
{
	struct policy policy;
	struct err e;
	AUTO_STRINGS notices = { 0 };
	write_file(user_file, "memory: 2G\n");
	write_file(project_file, "network: off\nmemory: 4G\nbind: ~/.cache/x\nmask: secret\n"
				 "preset: shell\nenv: {TOKEN: xyz}\nenv-drop: []\nterminal: raw\n");
	check(load(NULL, 0, &policy, &notices, &e) == 0, "an untrusted project");
	check(policy_word(&policy, KEY_NETWORK) == WORD_NETWORK_OFF, "it may take away");
	check(policy_number(&policy, KEY_MEMORY) == 2ull << 30, "it may not raise a limit");
	check(policy_word(&policy, KEY_TERMINAL) == WORD_TERMINAL_FILTER, "it may not unfilter");
	check(policy.setting[KEY_BIND].count == 0, "it may not bind");
	check_string(policy_value(&policy, KEY_PRESET), "agent", "it may not choose the preset");
	AUTO_FREE char *secret = below("home/project/secret");
	check_string(policy_value(&policy, KEY_MASK), secret, "its paths start in the workspace");
	check(notices.count == 1, "one notice");
	check_string(notices.item[0],
		".hutch.yaml is not trusted, so this was left out: preset, bind, env, env-drop, "
		"terminal, memory; see: hutch trust",
		"the notice");
	policy_free(&policy);
	clear();
}

static int accept_now(void)
{
	struct project project;
	struct err e;
	const struct layers_request request = { .host = &host, .system_file = system_file };
	if (project_load(&request, &project, &e) < 0)
		return -1;
	int result = trust_accept(host.state, host.directory, project.data, project.length, &e);
	project_free(&project);
	return result;
}

static void test_trusted(void)
{
	struct policy policy;
	struct err e;
	bool was;
	AUTO_STRINGS notices = { 0 };
	write_file(project_file, "bind: ~/.cache/x\npreset: shell\n");
	check(accept_now() == 0, "bytes are accepted");
	check(load(NULL, 0, &policy, &notices, &e) == 0 && notices.count == 0 &&
			policy.setting[KEY_BIND].count == 1,
		"a trusted project gets what it asks for");
	check_string(policy_value(&policy, KEY_PRESET), "shell", "its preset too");
	policy_free(&policy);
	write_file(project_file, "bind: ~/.cache/y\npreset: shell\n");
	check(load(NULL, 0, &policy, &notices, &e) == 0 && notices.count == 1 &&
			policy.setting[KEY_BIND].count == 0 &&
			strstr(notices.item[0], "changed since you trusted it"),
		"one byte ends the trust");
	policy_free(&policy);
	check(accept_now() == 0 && trust_revoke(host.state, host.directory, &was, &e) == 0 && was,
		"trust is taken back");
	check(trust_revoke(host.state, host.directory, &was, &e) == 0 && !was, "once");
	check(load(NULL, 0, &policy, &notices, &e) == 0 && policy.setting[KEY_BIND].count == 0,
		"and then there is none");
	policy_free(&policy);
	clear();
}

static void test_record(void)
{
	struct policy policy;
	struct err e;
	AUTO_STRINGS notices = { 0 };
	write_file(project_file, "bind: /x\n");
	accept_now();
	AUTO_FREE char *name = trust_file_name(host.directory);
	AUTO_FREE char *record = memory_format("%s/trust/%s", host.state, name);
	chmod(record, 0666);
	check(load(NULL, 0, &policy, &notices, &e) < 0 && strstr(e.text, "only you can write"),
		"a record that others can write is no trust");
	unlink(record);
	if (symlink(project_file, record) < 0)
		perror(record);
	check(load(NULL, 0, &policy, &notices, &e) < 0, "a record that is a link is no trust");
	unlink(record);
	clear();
}

static void refused(const char *what, const char *part)
{
	struct policy policy;
	struct err e;
	AUTO_STRINGS notices = { 0 };
	bool failed = load(NULL, 0, &policy, &notices, &e) < 0;
	check(failed && strstr(e.text, part), what);
	if (failed && !strstr(e.text, part))
		printf("# said: %s\n", e.text);
	clear();
}

static void write_large(const char *path, size_t size)
{
	char *data = memory_alloc(size + 1, 1);
	memset(data, '#', size);
	write_file(path, data);
	free(data);
}

static void test_odd_files(void)
{
	if (symlink("/etc/passwd", project_file) == 0)
		refused("a project file that is a link", "symbolic link");
	mkfifo(project_file, 0600);
	refused("a project file that is a FIFO", "not a plain file");
	mkdir(project_file, 0755);
	refused("a project file that is a directory", "not a plain file");
	write_large(project_file, 2u << 20);
	refused("a project file of 2 MiB", "larger than 1 MiB");
	mkfifo(user_file, 0600);
	refused("a user's file that is a FIFO", "not a plain file");
	write_file(user_file, "");
	chmod(user_file, 0666);
	refused("a user's file that anyone can write", "every user");
	write_file(project_file, "bind: [[[[[[[[[[[[[[[[[[[[[[a]]]]]]]]]]]]]]]]]]]]]]\n");
	refused("deep nesting", "nested too deeply");
	write_file(project_file, "network: of\n");
	refused("a wrong word of an untrusted project", ":1:1: network cannot be 'of'");
	write_file(project_file, "a: &x 1\nb: *x\n");
	refused("anchors and aliases", "not allowed here");
	if (symlink(user_file, system_file) == 0) {
		write_file(user_file, "network: off\n");
		struct policy policy;
		struct err e;
		AUTO_STRINGS notices = { 0 };
		check(load(NULL, 0, &policy, &notices, &e) == 0, "the user's files may be links");
		policy_free(&policy);
		clear();
	}
}

/* Root reads everything, so root becomes nobody for this. */
static void test_unreadable(void)
{
	bool is_root = geteuid() == 0;
	write_file(user_file, "network: off\n");
	chmod(user_file, 0);
	chmod(root, 0755);
	if (is_root && seteuid(65534) < 0)
		perror("seteuid");
	struct policy policy;
	struct err e;
	AUTO_STRINGS notices = { 0 };
	check(load(NULL, 0, &policy, &notices, &e) < 0 && strstr(e.text, "config.yaml") &&
			strstr(e.text, "Permission denied"),
		"a file that cannot be read");
	if (is_root && seteuid(0) < 0)
		exit(1);
	clear();
}

static bool is_ground(const char *name, const char *what)
{
	struct err e = { 0 };
	AUTO_FREE char *path = below(name);
	return ground_check(&host, path, &e) < 0 && strstr(e.text, what);
}

static void test_ground(void)
{
	struct err e;
	AUTO_FREE char *link = below("home/link");
	check(ground_check(&host, host.directory, &e) == 0, "an ordinary project");
	check(is_ground("home", "your settings"), "the home directory");
	check(is_ground("home/.config", "your settings"), "what contains the settings");
	check(is_ground("home/.config/hutch/agents", "your settings"), "what the settings contain");
	check(is_ground("home/.local", "hutch's own records"), "what contains the records");
	char *named = host.config;
	if (symlink("project/not/there/yet", link) == 0) {
		host.config = below("home/link/hutch");
		check(is_ground("home/project", "your settings"), "a link that leads nowhere yet");
		AUTO_FREE char *one = below("home/project/not"),
			       *two = below("home/project/not/there"),
			       *three = below("home/project/not/there/yet");
		mkdir(one, 0755);
		mkdir(two, 0755);
		mkdir(three, 0755);
		check(is_ground("home/project", "your settings"), "settings behind a link");
		free(host.config);
		host.config = named;
	}
	AUTO_FREE char *file = below("home/.config/hutch/config.yaml");
	AUTO_FREE char *own = below("home/.config/hutch/agents/own.yaml");
	AUTO_FREE char *agents = below("home/.config/hutch/agents");
	AUTO_FREE char *elsewhere = below("home/project/settings");
	mkdir(agents, 0755);
	for (size_t i = 0; i < 2; i++) {
		const char *path = i ? own : file;
		unlink(path);
		check(symlink(elsewhere, path) == 0, "a file of settings that is a link");
		check(is_ground("home/project", "your settings"), "where it lies");
		unlink(path);
	}
}

static void test_show(void)
{
	struct err e;
	struct project project;
	AUTO_TEXT text = { 0 };
	const struct layers_request request = { .host = &host, .system_file = system_file };
	write_file(project_file, "network: off\nbind: ~/.cache/x\nenv: {A: \"\\e[2J\"}\n");
	check(project_load(&request, &project, &e) == 0 &&
			project_show(&request, &project, &text, &e) == 0,
		"what a project asks for");
	check(strstr(text.data, "line 1: network off instead of host"), "what it takes away");
	check(strstr(text.data, "line 2: write to ") && strstr(text.data, "/home/.cache/x\n"),
		"what it asks for");
	check(strstr(text.data, "line 3: set A=\\x1b[2J"), "shown without its escape sequences");
	project_free(&project);
	accept_now();
	write_file(project_file, "network: off\nbind: ~/.cache/y\n");
	text_free(&text);
	check(project_load(&request, &project, &e) == 0 &&
			project_show(&request, &project, &text, &e) == 0 &&
			strstr(text.data, "gone: line 2: write to") &&
			strstr(text.data, "gone: line 3: set A=") &&
			strstr(text.data, "new: line 2: write to"),
		"what changed since");
	project_free(&project);
	clear();
}

int main(void)
{
	umask(022);
	start();
	test_none();
	test_order();
	test_untrusted();
	test_trusted();
	test_record();
	test_odd_files();
	test_unreadable();
	test_ground();
	test_show();
	AUTO_FREE char *remove = memory_format("rm -rf '%s'", root);
	return system(remove) != 0 || test_done();
}
