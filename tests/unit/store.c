/* SPDX-License-Identifier: MIT */
/* Sessions, state files and the removal of hostile trees, with real processes that are killed. One
 * file, since all of it needs the same throw-away state directory and its helpers. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/memory.h"
#include "base/text.h"
#include "kernel/landlock.h"
#include "kernel/tree.h"
#include "store/session.h"
#include "store/state.h"
#include "tests/unit/test.h"

static char *root; /* of everything here */
static char *home, *state, *claude;

/* ---- Files ---- */

static void put(const char *path, const char *content)
{
	AUTO_FREE char *temporary = memory_format("%s.tmp", path);
	AUTO_CLOSE int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
	if (fd < 0 || fd_write_all(fd, content, strlen(content)) < 0 || rename(temporary, path) < 0)
		printf("not ok - cannot write %s: %s\n", path, strerror(errno)), test_failures++;
}

static const char *get(const char *path)
{
	static char *data;
	free(data);
	data = NULL;
	if (file_read_at(AT_FDCWD, path, 64 << 20, &data, NULL, NULL) < 0)
		return "(none)";
	return data;
}

static char *inside(const struct session *session, const char *name)
{
	return memory_format("%s/%s", session->home, name);
}

/* What the box does: a new version by rename. */
static void box_put(const struct session *session, const char *name, const char *content)
{
	AUTO_FREE char *path = inside(session, name);
	put(path, content);
}

static size_t entries(const char *path)
{
	DIR *directory = opendir(path);
	size_t count = 0;
	if (!directory)
		return 0;
	for (struct dirent *entry; (entry = readdir(directory));)
		count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	closedir(directory);
	return count;
}

static size_t sessions(void)
{
	AUTO_FREE char *path = memory_format("%s/sessions", state);
	return entries(path);
}

/* A new world: empty home, empty state. */
static void reset(void)
{
	tree_remove_at(AT_FDCWD, home, NULL);
	tree_remove_at(AT_FDCWD, state, NULL);
	mkdir(home, 0700);
}

static struct session start(void)
{
	struct session session;
	struct err e = { 0 };
	if (session_create(&session, &e) < 0) {
		printf("not ok - session_create: %s\n", e.text);
		exit(1);
	}
	return session;
}

static struct session start_with(const char *content)
{
	reset();
	put(claude, content);
	struct session session = start();
	struct err e = { 0 };
	if (state_add(&session, claude, ".claude.json", "{}", "json", &e) < 0) {
		printf("not ok - state_add: %s\n", e.text);
		exit(1);
	}
	return session;
}

static struct strings notes;

static int end(struct session *session)
{
	strings_free(&notes);
	struct err e = { 0 };
	int result = session_end(session, &notes, &e);
	if (result < 0)
		printf("# %s\n", e.text);
	for (size_t i = 0; i < notes.count; i++)
		printf("# note: %s\n", notes.item[i]);
	return result;
}

static size_t sweep(void)
{
	strings_free(&notes);
	size_t count = 0;
	struct err e = { 0 };
	if (session_sweep(&notes, &count, &e) < 0)
		printf("# %s\n", e.text);
	for (size_t i = 0; i < notes.count; i++)
		printf("# note: %s\n", notes.item[i]);
	return count;
}

static bool noted(const char *part)
{
	for (size_t i = 0; i < notes.count; i++)
		if (strstr(notes.item[i], part))
			return true;
	return false;
}

/* Run `work` in a process that is killed, or ends, without a word. */
static void child(void (*work)(void))
{
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		work();
		fflush(stdout);
		kill(getpid(), SIGKILL);
	}
	waitpid(pid, NULL, 0);
}

/* ---- Sessions ---- */

static void test_session(void)
{
	reset();
	struct session one = start(), two = start();
	struct stat status;
	check(stat(state, &status) == 0 && (status.st_mode & 0777) == 0700, "state is private");
	check(stat(one.home, &status) == 0 && (status.st_mode & 0777) == 0700, "home is private");
	check(strlen(one.id) == 12 && strcmp(one.id, two.id) != 0, "ids are short and unique");
	check(fcntl(one.lock, F_GETFD) == FD_CLOEXEC, "the lock is closed on exec");
	char *const command[] = { (char *)"prog", (char *)"with space", (char *)"new\nline\xff",
		NULL };
	check(session_record(&one, command, "/some/\"where\"", NULL) == 0, "a record is written");

	struct session_info *list;
	size_t count;
	session_list(&list, &count, NULL);
	size_t at = count == 2 && strcmp(list[1].id, one.id) == 0;
	check(count == 2 && list[0].alive && list[1].alive, "live sessions are listed as alive");
	check_string(count ? list[at].workspace : "", "/some/\"where\"", "the record is read back");
	check(count && strncmp(list[at].command, "prog 'with space' 'new\nline", 26) == 0 &&
			list[at].pid == getpid(),
		"with the command as shell words");
	session_list_free(list, count);

	check(sweep() == 0 && sessions() == 2, "live sessions are not swept");
	session_abandon(&two);
	check(sweep() == 1 && sessions() == 1, "an abandoned one is");
	check(end(&one) == 0 && sessions() == 0, "an ended one is removed");
}

static void test_half_made(void)
{
	reset();
	struct session live = start();
	AUTO_FREE char *half = memory_format("%s/sessions/0123456789ab", state);
	AUTO_FREE char *other = memory_format("%s/sessions/other", state);
	mkdir(half, 0700);
	mkdir(other, 0700);
	check(sweep() == 0 && sessions() == 3, "a session that is being made is not swept");
	const struct timespec old[2] = { { .tv_sec = time(NULL) - 100 },
		{ .tv_sec = time(NULL) - 100 } };
	utimensat(AT_FDCWD, half, old, 0);
	check(sweep() == 1 && sessions() == 2, "one that never was finished is, and no other name");
	end(&live);
}

static void test_no_state_directory(void)
{
	struct session session;
	struct err e = { 0 };
	setenv("HUTCH_STATE_DIR", "/proc/nowhere/hutch", 1);
	check(session_create(&session, &e) < 0 && strstr(e.text, "/proc/nowhere/hutch") &&
			strstr(e.hint, "HUTCH_STATE_DIR"),
		"no state directory: a sentence and a hint");
	check(session_sweep(&notes, NULL, &e) == 0, "and nothing to sweep");
	setenv("HUTCH_STATE_DIR", "relative", 1);
	check(session_create(&session, &e) < 0 && strstr(e.text, "absolute"), "a relative one");
	unsetenv("HUTCH_STATE_DIR");
	unsetenv("XDG_STATE_HOME");
	setenv("HOME", "relative", 1);
	check(session_create(&session, &e) < 0 && strstr(e.hint, "HUTCH_STATE_DIR"),
		"a home that is no absolute path");
	setenv("HUTCH_STATE_DIR", "/tmp", 1);
	check(session_create(&session, &e) < 0 && strstr(e.text, "user"),
		"one that others write to");
	setenv("HOME", home, 1);
	unsetenv("HUTCH_STATE_DIR");
	reset();
	session = start();
	AUTO_FREE char *want = memory_format("%s/.local/state/hutch/sessions/%s", home, session.id);
	check_string(session.directory, want, "below the home by default");
	end(&session);
	setenv("HUTCH_STATE_DIR", state, 1);
}

/* ---- Merging ---- */

static void test_unchanged(void)
{
	struct session session = start_with("{ \"a\" : 1 }");
	AUTO_FREE char *path = inside(&session, ".claude.json");
	struct stat before, after;
	check_string(get(path), "{ \"a\" : 1 }", "the file is in the home");
	stat(claude, &before);
	end(&session);
	stat(claude, &after);
	check(before.st_ino == after.st_ino && notes.count == 0,
		"an unchanged file is not touched");
}

static void test_replaced(void)
{
	struct session session = start_with("{}");
	box_put(&session, ".claude.json", "{ \"a\" :  0.10, \"a\": 2 }\n\n");
	struct stat status;
	end(&session);
	check_string(get(claude), "{ \"a\" :  0.10, \"a\": 2 }\n\n", "the box's bytes are kept");
	check(stat(claude, &status) == 0 && (status.st_mode & 0777) == 0640, "and the mode");
	check(entries(home) == 1 && sessions() == 0 && notes.count == 0,
		"and nothing is left over");
}

static void test_three_ways(void)
{
	struct session one =
		start_with("{\"p\":{\"a\":{\"n\":1},\"b\":{\"n\":1},\"gone\":1},\"l\":[1,2]}");
	struct session two = start();
	state_add(&two, claude, ".claude.json", "{}", "json", NULL);
	box_put(&one, ".claude.json",
		"{\"p\":{\"a\":{\"n\":2},\"b\":{\"n\":1}},\"l\":[1,2,3],\"c\":\"x\"}");
	box_put(&two, ".claude.json",
		"{\"p\":{\"a\":{\"n\":1},\"b\":{\"n\":3},\"gone\":2},\"l\":[2],\"c\":\"y\"}");
	end(&one);
	end(&two);
	check_string(get(claude),
		"{\"p\":{\"a\":{\"n\":2},\"b\":{\"n\":3},\"gone\":2},\"l\":[2,3],\"c\":\"y\"}",
		"two runs: nested keys, delete against edit, arrays");
	check(noted("1 value was changed both") && noted(state), "a conflict is noted");
	AUTO_FREE char *replaced = memory_format("%s/replaced", state);
	check(entries(replaced) == 1, "and what it wrote over is kept");
}

static void test_concurrent_ends(void)
{
	enum { RUNS = 12 };
	struct session none = start_with("{\"all\":[]}");
	session_abandon(&none);
	int gate[2];
	if (pipe2(gate, O_CLOEXEC) < 0)
		return;
	fflush(stdout);
	for (int i = 0; i < RUNS; i++) {
		if (fork())
			continue;
		struct session session = start();
		AUTO_FREE char *content = memory_format("{\"all\":[%d],\"run %d\":{}}", i, i);
		state_add(&session, claude, ".claude.json", "{}", "json", NULL);
		box_put(&session, ".claude.json", content);
		close(gate[1]);
		char byte;
		ssize_t got = read(gate[0], &byte, 1); /* until all are released */
		_exit(got != 0 || session_end(&session, &notes, NULL) < 0);
	}
	usleep(200000);
	close(gate[1]);
	close(gate[0]);
	int status, failed = 0;
	while (wait(&status) > 0)
		failed += status != 0;
	size_t found = 0;
	const char *content = get(claude);
	for (int i = 0; i < RUNS; i++) {
		AUTO_FREE char *name = memory_format("\"run %d\":{}", i);
		found += strstr(content, name) != NULL;
	}
	if (found != RUNS || failed)
		printf("# %d failed, %s\n", failed, content);
	check(found == RUNS && !failed, "twelve runs that end at once lose nothing");
	sweep();
}

static void test_outside_writer(void)
{
	/* An agent on the host replaces the file all the time; no version of either may get lost.
	 */
	enum { ROUNDS = 150 };
	struct session none = start_with("{}");
	session_abandon(&none);
	fflush(stdout);
	pid_t writer = fork();
	if (writer == 0) {
		/* It counts only what it writes, as one that never reads would; so it may undo. */
		for (int i = 0;; i++) {
			AUTO_FREE char *content = memory_format("{\"outside\":%d}", i);
			put(claude, content);
		}
	}
	bool whole = true;
	for (int i = 0; i < ROUNDS && whole; i++) {
		struct session session = start();
		state_add(&session, claude, ".claude.json", "{}", "json", NULL);
		box_put(&session, ".claude.json", "{\"outside\":0,\"inside\":1}");
		session_end(&session, &notes, NULL);
		whole = get(claude)[0] == '{';
	}
	kill(writer, SIGKILL);
	waitpid(writer, NULL, 0);
	AUTO_FREE char *left = memory_format("%s.tmp", claude);
	unlink(left);
	check(whole && entries(home) == 1, "a writer outside always sees a whole file");
	strings_free(&notes);
}

static void test_gone(void)
{
	struct session session = start_with("{\"a\":1}");
	AUTO_FREE char *path = inside(&session, ".claude.json");
	unlink(path);
	end(&session);
	check_string(get(claude), "{\"a\":1}", "removed in the box: stays outside");
	check(noted("removed in the box"), "with a note");

	session = start_with("{\"a\":1}");
	unlink(claude);
	box_put(&session, ".claude.json", "{\"a\":2}");
	end(&session);
	check_string(
		get(claude), "{\"a\":2}", "removed outside, changed in the box: the change stays");

	session = start_with("{\"a\":1}");
	unlink(claude);
	end(&session);
	check(access(claude, F_OK) < 0, "removed outside, unchanged in the box: stays removed");
}

static void test_missing(void)
{
	reset();
	struct session session = start();
	AUTO_FREE char *deep = memory_format("%s/.agent/deep/state.json", home);
	AUTO_FREE char *new = memory_format("%s/.new.json", home);
	AUTO_FREE char *absent = memory_format("%s/.absent.json", home);
	struct stat status;
	check(state_add(&session, deep, ".agent/deep/state.json", "{}", "json", NULL) == 0 &&
			strcmp(get(deep), "{}") == 0 && stat(deep, &status) == 0 &&
			(status.st_mode & 0777) == 0600,
		"a missing file is made with its initial content");
	check(state_add(&session, new, ".new.json", NULL, "json", NULL) == 0 &&
			state_add(&session, absent, ".absent.json", NULL, "json", NULL) == 0 &&
			access(new, F_OK) < 0,
		"without one it is not made");
	box_put(&session, ".new.json", "{\"new\":true}");
	box_put(&session, ".agent/deep/state.json", "{\"deep\":true}");
	end(&session);
	check_string(get(deep), "{\"deep\":true}", "below directories");
	check_string(get(new), "{\"new\":true}", "what the box made comes out");
	check(access(absent, F_OK) < 0 && notes.count == 0, "what it did not make does not");
}

static void test_whole(void)
{
	reset();
	AUTO_FREE char *path = memory_format("%s/auth.toml", home);
	put(path, "old");
	struct session session = start();
	state_add(&session, path, "auth.toml", NULL, "whole", NULL);
	box_put(&session, "auth.toml", "not json \xff");
	end(&session);
	check_string(get(path), "not json \xff", "a whole file is not parsed");
	session = start();
	state_add(&session, path, "auth.toml", NULL, "whole", NULL);
	box_put(&session, "auth.toml", "box");
	put(path, "host");
	end(&session);
	AUTO_FREE char *replaced = memory_format("%s/replaced", state);
	check(strcmp(get(path), "box") == 0 && noted("kept in") && entries(replaced) == 1,
		"changed on both sides: the box's, and the other is kept");
}

/* ---- Hostile boxes ---- */

static void hostile(const char *name, void (*act)(const struct session *, const char *path),
	bool kept, const char *sentence)
{
	struct session session = start_with("{\"mine\":1}");
	AUTO_FREE char *path = inside(&session, ".claude.json");
	AUTO_FREE char *rejected = memory_format("%s/rejected", state);
	act(&session, path);
	int result = end(&session);
	bool right = result == 0 && strcmp(get(claude), "{\"mine\":1}") == 0 && noted(sentence) &&
		     entries(rejected) == kept && sessions() == 0;
	check(right, name);
}

static void act_broken(const struct session *session, const char *path)
{
	(void)path;
	box_put(session, ".claude.json", "{\"mine\":");
}

static void act_link(const struct session *session, const char *path)
{
	(void)session;
	unlink(path);
	if (symlink("/etc/passwd", path) < 0)
		printf("# symlink\n");
}

static void act_fifo(const struct session *session, const char *path)
{
	(void)session;
	unlink(path);
	mkfifo(path, 0600);
}

static void act_directory(const struct session *session, const char *path)
{
	(void)session;
	unlink(path);
	mkdir(path, 0);
}

static void act_large(const struct session *session, const char *path)
{
	(void)session;
	if (truncate(path, (off_t)1 << 40) < 0)
		printf("# truncate: %s\n", strerror(errno));
}

static void act_deep(const struct session *session, const char *path)
{
	(void)path;
	AUTO_TEXT content = { 0 };
	for (int i = 0; i < 1000000; i++)
		text_add(&content, "[");
	box_put(session, ".claude.json", content.data);
}

static void act_many(const struct session *session, const char *path)
{
	/* The host's file changes too, so that all three are parsed. */
	AUTO_TEXT content = { 0 };
	(void)path;
	text_add(&content, "[");
	for (int i = 0; i < 15000000; i++)
		text_add(&content, "1,");
	text_add(&content, "1]");
	box_put(session, ".claude.json", content.data);
}

static void test_hostile(void)
{
	hostile("broken JSON is kept aside", act_broken, true, "not JSON");
	hostile("a link is not followed", act_link, false, "not a regular file");
	hostile("a fifo does not block", act_fifo, false, "not a regular file");
	hostile("a closed directory", act_directory, false, "left as it was");
	hostile("a terabyte with holes", act_large, true, "too large");
	hostile("a million levels", act_deep, true, "levels");
	hostile("fifteen million values", act_many, true, "values");
}

static void test_hostile_directory(void)
{
	reset();
	AUTO_FREE char *path = memory_format("%s/.agent/state.json", home);
	struct session session = start();
	state_add(&session, path, ".agent/state.json", "{}", "json", NULL);
	AUTO_FREE char *directory = inside(&session, ".agent");
	AUTO_FREE char *other = memory_format("%s/secret", root);
	AUTO_FREE char *secret = memory_format("%s/state.json", other);
	mkdir(other, 0700);
	put(secret, "{\"secret\":1}");
	tree_remove_at(AT_FDCWD, directory, NULL);
	if (symlink(other, directory) < 0)
		return;
	end(&session);
	check(strcmp(get(path), "{}") == 0 && strcmp(get(secret), "{\"secret\":1}") == 0,
		"a directory that became a link is not followed");
}

/* ---- Where the host's file is ---- */

static void test_links(void)
{
	reset();
	AUTO_FREE char *dotfiles = memory_format("%s/dotfiles", home);
	AUTO_FREE char *real = memory_format("%s/claude.json", dotfiles);
	AUTO_FREE char *moved = memory_format("%s/moved", home);
	AUTO_FREE char *victim = memory_format("%s/claude.json", moved);
	mkdir(dotfiles, 0700);
	mkdir(moved, 0700);
	put(real, "{}");
	if (symlink("dotfiles/claude.json", claude) < 0)
		return;
	struct session session = start();
	struct stat status;
	check(state_add(&session, claude, ".claude.json", "{}", "json", NULL) == 0,
		"a link is resolved");
	box_put(&session, ".claude.json", "{\"a\":1}");
	end(&session);
	check(strcmp(get(real), "{\"a\":1}") == 0 && lstat(claude, &status) == 0 &&
			S_ISLNK(status.st_mode),
		"the file it leads to is written, the link stays");

	/* The repository is the workspace: the box turns a directory of it into a link. */
	session = start();
	state_add(&session, claude, ".claude.json", "{}", "json", NULL);
	box_put(&session, ".claude.json", "{\"a\":2}");
	AUTO_FREE char *aside = memory_format("%s/aside", home);
	if (rename(dotfiles, aside) < 0 || symlink("moved", dotfiles) < 0)
		return;
	end(&session);
	check(access(victim, F_OK) < 0 && noted("kept in"), "a link put in later is not followed");

	unlink(dotfiles);
	rename(aside, dotfiles);
	put(victim, "{\"secret\":1}");
	unlink(real);
	if (symlink("../moved/claude.json", real) < 0)
		return;
	session = start();
	struct err e = { 0 };
	check(state_add(&session, claude, ".claude.json", "{}", "json", &e) < 0 &&
			strstr(e.text, "link again"),
		"a link behind the link stops the run");
	end(&session);
}

static void test_wrong_types(void)
{
	reset();
	struct session session = start();
	struct err e = { 0 };
	mkdir(claude, 0700);
	check(state_add(&session, claude, ".claude.json", "{}", "json", &e) < 0 &&
			strstr(e.text, claude) && e.hint[0],
		"a directory in the file's place stops the run");
	rmdir(claude);
	mkfifo(claude, 0600);
	check(state_add(&session, claude, ".claude.json", "{}", "json", &e) < 0 &&
			strstr(e.text, claude),
		"and so does a fifo");
	end(&session);
}

/* ---- Killed runs ---- */

static void killed_after_rename(void)
{
	struct session session = start();
	state_add(&session, claude, ".claude.json", "{}", "json", NULL);
	box_put(&session, ".claude.json", "{\"a\":1,\"box\":1}");
}

static void killed_while_merging(void)
{
	struct session session = start();
	state_add(&session, claude, ".claude.json", "{}", "json", NULL);
	box_put(&session, ".claude.json", "{\"a\":1,\"box\":[1,2,3]}");
	put(claude, "{\"a\":1,\"host\":2}");
	/* Somebody ends it at a random moment of the merge. */
	pid_t self = getpid();
	if (fork() == 0) {
		close(session.lock); /* it would keep the session alive */
		usleep((useconds_t)(clock() % 7919 + getpid() * 37 % 4000));
		kill(self, SIGKILL);
		_exit(0);
	}
	session_end(&session, &notes, NULL);
}

static void sweep_quietly(void)
{
	session_sweep(&notes, NULL, NULL);
}

static void test_killed(void)
{
	reset();
	put(claude, "{\"a\":1}");
	child(killed_after_rename);
	check(sessions() == 1 && strcmp(get(claude), "{\"a\":1}") == 0,
		"a killed run leaves its session");
	put(claude, "{\"a\":1,\"host\":1}");
	check(sweep() == 1 && sessions() == 0, "the next one sweeps it");
	check_string(get(claude), "{\"a\":1,\"host\":1,\"box\":1}", "and merges what it left");

	bool whole = true;
	for (int i = 0; i < 60 && whole; i++) {
		put(claude, "{\"a\":1}");
		child(killed_while_merging);
		child(sweep_quietly);
		/* A process that is about to end may hold the lock for a moment still. */
		for (int wait_ms = 0; wait_ms < 3000 && (sweep(), sessions() > 0); wait_ms++)
			usleep(1000);
		whole = strcmp(get(claude), "{\"a\":1,\"host\":2,\"box\":[1,2,3]}") == 0 &&
			sessions() == 0 && entries(home) == 1;
	}
	if (!whole)
		printf("# %s, %zu sessions, %zu in the home\n", get(claude), sessions(),
			entries(home));
	check(whole, "killed in the middle of the merge, sixty times: nothing lost, nothing left");
}

static void test_concurrent_sweeps(void)
{
	enum { DEAD = 20, SWEEPERS = 6 };
	reset();
	put(claude, "{\"all\":[]}");
	for (int i = 0; i < DEAD; i++) {
		struct session session = start();
		AUTO_FREE char *content = memory_format("{\"all\":[%d]}", i);
		state_add(&session, claude, ".claude.json", "{}", "json", NULL);
		box_put(&session, ".claude.json", content);
		session_abandon(&session);
	}
	fflush(stdout);
	for (int i = 0; i < SWEEPERS; i++)
		if (fork() == 0)
			_exit(session_sweep(&notes, NULL, NULL) < 0 || notes.count > 0);
	int status, failed = 0;
	while (wait(&status) > 0)
		failed += status != 0;
	size_t commas = 0;
	for (const char *c = get(claude); *c; c++)
		commas += *c == ',';
	check(!failed && sessions() == 0 && commas == DEAD - 1,
		"six sweepers, twenty dead sessions: each merged once");
}

/* ---- Trees ---- */

static size_t descriptors(void)
{
	return entries("/proc/self/fd");
}

static int deep_make(int directory, int levels)
{
	AUTO_CLOSE int at = fcntl(directory, F_DUPFD_CLOEXEC, 3);
	for (int i = 0; i < levels; i++) {
		int next = -1;
		if (mkdirat(at, "d", 0700) == 0)
			next = openat(at, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		fd_close(&at);
		at = next;
		if (at < 0)
			return -1;
	}
	return 0;
}

static void test_tree(void)
{
	AUTO_FREE char *tree = memory_format("%s/tree", root);
	AUTO_FREE char *outside = memory_format("%s/outside", root);
	AUTO_FREE char *in_it = memory_format("%s/file", outside);
	struct err e = { 0 };
	mkdir(tree, 0700);
	mkdir(outside, 0700);
	put(in_it, "x");
	AUTO_CLOSE int fd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t before = descriptors();
	if (symlinkat(outside, fd, "link") < 0 || mkdirat(fd, "new\nline", 0700) < 0 ||
		mkdirat(fd, "new\nline/closed", 0700) < 0 ||
		mkdirat(fd, "new\nline/closed/deeper", 0700) < 0 ||
		mkdirat(fd, ".removed-0", 0700) < 0 || mkdirat(fd, ".removed-0/a", 0700) < 0 ||
		mkdirat(fd, ".removed-0/a/b", 0700) < 0 || mkdirat(fd, "x", 0700) < 0 ||
		mkdirat(fd, "x/y", 0700) < 0 || mkdirat(fd, "x/y/z", 0700) < 0 ||
		symlinkat(outside, fd, ".removed-1") < 0 || mkfifoat(fd, ".removed-2", 0) < 0 ||
		symlinkat("/", fd, "new\nline/closed/deeper/link") < 0 ||
		mkfifoat(fd, "fifo", 0) < 0)
		printf("# %s\n", strerror(errno));
	if (fchmodat(fd, "new\nline/closed/deeper", 0, 0) < 0 ||
		fchmodat(fd, "new\nline/closed", 0300, 0) < 0 ||
		fchmodat(fd, "new\nline", 0500, 0) < 0)
		printf("# %s\n", strerror(errno));
	int result = tree_remove_at(AT_FDCWD, tree, &e);
	if (result < 0)
		printf("# %s\n", e.text);
	check(result == 0 && access(tree, F_OK) < 0, "links, new lines, fifos, closed directories");
	check(access(in_it, F_OK) == 0, "nothing outside is touched");
	check(descriptors() == before, "no descriptor is left open");
	check(tree_remove_at(AT_FDCWD, tree, &e) == 0, "what is not there counts as removed");
	symlink(outside, tree) < 0 ? (void)0 : (void)tree_remove_at(AT_FDCWD, tree, &e);
	check(access(in_it, F_OK) == 0 && faccessat(AT_FDCWD, tree, F_OK, AT_SYMLINK_NOFOLLOW) < 0,
		"a link itself is removed");
}

static void test_tree_deep(void)
{
	/* In memory: on a disk a hundred thousand directories take their time, for rm -r too. */
	bool memory = access("/dev/shm", W_OK) == 0;
	AUTO_FREE char *tree = memory ? memory_format("/dev/shm/hutch-deep-%d", getpid())
				      : memory_format("%s/deep", root);
	mkdir(tree, 0700);
	AUTO_CLOSE int fd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct err e = { 0 };
	if (deep_make(fd, 100000) < 0) {
		printf("# cannot make it: %s\n", strerror(errno));
	}
	struct timespec from, to;
	clock_gettime(CLOCK_MONOTONIC, &from);
	int result = tree_remove_at(AT_FDCWD, tree, &e);
	clock_gettime(CLOCK_MONOTONIC, &to);
	if (result < 0)
		printf("# %s\n", e.text);
	printf("# %.0f ms\n", (double)(to.tv_sec - from.tv_sec) * 1e3 +
				      (double)(to.tv_nsec - from.tv_nsec) / 1e6);
	check(result == 0 && access(tree, F_OK) < 0, "100,000 levels");
}

static void test_tree_changing(void)
{
	AUTO_FREE char *tree = memory_format("%s/busy", root);
	AUTO_FREE char *outside = memory_format("%s/outside", root);
	AUTO_FREE char *in_it = memory_format("%s/file", outside);
	mkdir(tree, 0700);
	fflush(stdout);
	pid_t writer = fork();
	if (writer == 0) {
		/* Directories become links to somewhere else and back, as fast as can be. */
		for (unsigned i = 0; getppid() != 1; i++) {
			AUTO_CLOSE int fd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
			if (fd < 0 && mkdir(tree, 0700) < 0 && errno != EEXIST)
				_exit(1);
			mkdirat(fd, "a", 0700);
			mkdirat(fd, "a/b", i % 3 ? 0700 : 0);
			close(openat(fd, "a/file", O_CREAT | O_WRONLY, 0600));
			if (symlinkat(outside, fd, "link") == 0 || errno == EEXIST)
				renameat2(fd, "a", fd, "link", RENAME_EXCHANGE);
		}
		_exit(0);
	}
	int result = -1;
	struct err e = { 0 };
	for (int i = 0; i < 2000; i++)
		result = tree_remove_at(AT_FDCWD, tree, &e);
	kill(writer, SIGKILL);
	waitpid(writer, NULL, 0);
	if (result < 0)
		printf("# %s\n", e.text);
	check(tree_remove_at(AT_FDCWD, tree, &e) == 0 && access(in_it, F_OK) == 0,
		"a tree that changes meanwhile never leads outside");
}

static void test_tree_leftover(void)
{
	AUTO_FREE char *tree = memory_format("%s/stuck", root);
	AUTO_FREE char *file = memory_format("%s/stuck/a/b/immutable", root);
	AUTO_FREE char *b = memory_format("%s/stuck/a/b", root);
	AUTO_FREE char *command =
		memory_format("mkdir -p %s && echo >%s && chattr +i %s", b, file, file);
	AUTO_FREE char *undo = memory_format("chattr -R -i %s", tree);
	struct err e = { 0 };
	if (system(command) != 0) {
		printf("skip - an immutable file: chattr is not possible here\n");
		tree_remove_at(AT_FDCWD, tree, NULL);
		return;
	}
	check(tree_remove_at(AT_FDCWD, tree, &e) < 0 && strstr(e.text, "immutable"),
		"an immutable file is one sentence");
	printf("# %s\n", e.text);
	check(system(undo) == 0 && tree_remove_at(AT_FDCWD, tree, &e) == 0, "later it goes");
}

static void test_tree_mount(void)
{
	AUTO_FREE char *tree = memory_format("%s/mounted", root);
	AUTO_FREE char *point = memory_format("%s/mounted/a/b", root);
	AUTO_FREE char *make = memory_format("mkdir -p %s", point);
	if (system(make) != 0)
		return;
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		struct err e = { 0 };
		AUTO_FREE char *map = memory_format("0 %d 1", geteuid());
		if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 ||
			file_poke_at(AT_FDCWD, "/proc/self/uid_map", map) < 0 ||
			mount("none", point, "tmpfs", 0, NULL) < 0)
			_exit(77);
		int result = tree_remove_at(AT_FDCWD, tree, &e);
		_exit(result < 0 && strstr(e.text, "mount point") && umount(point) == 0 ? 0 : 1);
	}
	int status = 0;
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		printf("skip - a mount point: cannot mount here\n");
	else
		check(status == 0, "a mount point is one sentence, and is not entered");
	check(tree_remove_at(AT_FDCWD, tree, NULL) == 0, "without it all goes");
}

/* ---- Landlock ---- */

static void test_landlock(void)
{
	int abi = landlock_abi();
	if (abi < 1) {
		printf("skip - Landlock: not on this kernel\n");
		return;
	}
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		int ruleset, fd = open(root, O_PATH | O_CLOEXEC);
		syscall(SYS_prctl, 38 /* PR_SET_NO_NEW_PRIVS */, 1, 0, 0, 0);
		if (landlock_create(landlock_fs_rights(abi), landlock_net_rights(abi),
			    landlock_scopes(abi), &ruleset, NULL) < 0 ||
			landlock_allow_path(ruleset, fd,
				LANDLOCK_FS_READ_FILE | LANDLOCK_FS_READ_DIR, NULL) < 0 ||
			(abi >= 4 && landlock_allow_port(
					     ruleset, 80, LANDLOCK_NET_CONNECT_TCP, NULL) < 0) ||
			landlock_restrict(ruleset, 0, NULL) < 0)
			_exit(1);
		if (open("/etc/passwd", O_RDONLY) >= 0 || errno != EACCES)
			_exit(2);
		_exit(open(root, O_RDONLY) >= 0 ? 0 : 3);
	}
	int status = 0;
	waitpid(pid, &status, 0);
	check(status == 0, "Landlock: a ruleset with one rule");
	pid = fork();
	if (pid == 0) {
		syscall(SYS_prctl, 38, 1, 0, 0, 0);
		_exit(landlock_scope() < 0 || (abi >= 6 && kill(getppid(), 0) == 0));
	}
	waitpid(pid, &status, 0);
	check(status == 0, "Landlock: scopes");
}

/* ---- Time ---- */

static double microseconds(struct timespec from)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - from.tv_sec) * 1e6 +
	       (double)(now.tv_nsec - from.tv_nsec) / 1e3;
}

static int double_order(const void *a, const void *b)
{
	double one = *(const double *)a, two = *(const double *)b;
	return one < two ? -1 : one > two;
}

/* Medians, for whoever reads the log: other work on the machine makes single times worthless. */
static void test_time(void)
{
	enum { RUNS = 301, STEPS = 4 };
	static double took[STEPS][RUNS];
	static const char *const step[STEPS] = { "sweep", "create", "add", "end" };
	reset();
	AUTO_TEXT content = { 0 };
	text_add(&content, "{\"a\":1");
	for (int i = 0; i < 1500; i++)
		text_format(&content, ",\"project %d\":{\"n\":%d}", i, i);
	text_add(&content, "}");
	put(claude, content.data);
	for (int i = 0; i < RUNS; i++) {
		struct session session;
		for (int s = 0; s < STEPS; s++) {
			struct timespec from;
			clock_gettime(CLOCK_MONOTONIC, &from);
			if (s == 0)
				session_sweep(&notes, NULL, NULL);
			else if (s == 1)
				session = start();
			else if (s == 2)
				state_add(&session, claude, ".claude.json", "{}", "json", NULL);
			else
				session_end(&session, &notes, NULL);
			took[s][i] = microseconds(from);
		}
	}
	for (int s = 0; s < STEPS; s++) {
		qsort(took[s], RUNS, sizeof took[s][0], double_order);
		printf("# median of %s: %.0f us\n", step[s], took[s][RUNS / 2]);
	}
}

int main(void)
{
	char template[] = "/tmp/hutch-store-XXXXXX";
	root = mkdtemp(template);
	if (!root)
		return 1;
	umask(022);
	home = memory_format("%s/home", root);
	state = memory_format("%s/state", root);
	claude = memory_format("%s/.claude.json", home);
	setenv("HUTCH_STATE_DIR", state, 1);
	test_session();
	test_half_made();
	test_no_state_directory();
	test_unchanged();
	test_replaced();
	test_three_ways();
	test_concurrent_ends();
	test_outside_writer();
	test_gone();
	test_missing();
	test_whole();
	test_hostile();
	test_hostile_directory();
	test_links();
	test_wrong_types();
	test_killed();
	test_concurrent_sweeps();
	test_tree();
	test_tree_deep();
	test_tree_changing();
	test_tree_leftover();
	test_tree_mount();
	test_landlock();
	test_time();
	check(tree_remove_at(AT_FDCWD, root, NULL) == 0, "all is removed");
	return test_done();
}
