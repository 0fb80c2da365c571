/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/path.h"
#include "base/strings.h"
#include "base/text.h"
#include "tests/unit/test.h"

struct pair {
	const char *in;
	const char *out;
};

static void test_err(void)
{
	struct err e = { 0 };
	check(err_set(&e, 0, "cannot open %s", "x") == -1, "err_set returns -1");
	check_string(e.text, "cannot open x", "err_set fills the sentence");
	check(e.exit_code == EXIT_HUTCH, "err_set sets the exit code");
	err_set(&e, ENOENT, "cannot open %s", "x");
	check_string(e.text, "cannot open x: No such file or directory", "err_set describes errno");
	err_hint(&e, "make %s", "x");
	err_prefix(&e, "flag --%s", "bind");
	check_string(e.text, "flag --bind: cannot open x: No such file or directory", "err_prefix");
	check_string(e.hint, "make x", "err_prefix keeps the hint");
	err_set(&e, 0, "y");
	check_string(e.hint, "", "err_set drops an older hint");
	check(err_set(NULL, 0, "z") == -1 && err_hint(NULL, "z") == -1, "an error may be nobody's");

	char *large = memory_alloc(3000, 1);
	memset(large, 'a', 2999);
	err_set(&e, ENOENT, "%s", large);
	check(strlen(e.text) == sizeof e.text - 1, "a long sentence is cut");
	err_prefix(&e, "%s", large);
	check(strlen(e.text) < sizeof e.text, "a long prefix leaves room for the sentence");
	check(strstr(e.text, ": aaa") != NULL, "a long prefix keeps the beginning of the sentence");
	free(large);
}

static void test_path_normal(void)
{
	static const char *const good[] = { "/", "/a", "/a/b", "/...", "/a/.b", "/..a" };
	static const char *const bad[] = { "", "a", "//", "/a/", "/a//b", "/.", "/a/./b", "/..",
		"/a/..", "/a/../b", "../a" };
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		check(path_is_normal(good[i]), "path_is_normal accepts");
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		check(!path_is_normal(bad[i]), "path_is_normal refuses");
}

static void test_path_absolute(void)
{
	static const struct pair pairs[] = { { "x", "/d/e/x" }, { "", "/d/e" }, { "..", "/d" },
		{ "../../../x", "/x" }, { "/", "/" }, { "//a//./b/", "/a/b" }, { "/a/..", "/" },
		{ "/../..", "/" }, { "./y/../z", "/d/e/z" } };
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		AUTO_FREE char *path = path_absolute("/d/e", pairs[i].in);
		check_string(path, pairs[i].out, "path_absolute");
		check(path_is_normal(path), "path_absolute gives normal paths");
	}
}

static void test_path_parts(void)
{
	check(path_is_within("/a/b", "/a") && path_is_within("/a", "/a"), "path_is_within");
	check(path_is_within("/a", "/"), "everything is within the root");
	check(!path_is_within("/ab", "/a") && !path_is_within("/a", "/a/b"), "but no sibling");
	check_string(path_base("/a/b"), "b", "path_base");
	check_string(path_base("/"), "/", "path_base of the root");
	static const struct pair parents[] = { { "/a/b", "/a" }, { "/a", "/" }, { "/", "/" } };
	for (size_t i = 0; i < sizeof parents / sizeof *parents; i++) {
		AUTO_FREE char *parent = path_parent(parents[i].in);
		check_string(parent, parents[i].out, "path_parent");
	}
	AUTO_FREE char *joined = path_join("/", "a");
	AUTO_FREE char *deeper = path_join("/a", "b");
	check_string(joined, "/a", "path_join at the root");
	check_string(deeper, "/a/b", "path_join");
}

static void test_numbers(void)
{
	struct err e = { 0 };
	uint64_t number = 0;
	check(number_parse("42", "x", 1, 100, &number, &e) == 0 && number == 42, "number_parse");
	static const char *const bad[] = { "", "-1", "+1", " 1", "1 ", "0x1", "101", "0",
		"18446744073709551616", "99999999999999999999999" };
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		check(number_parse(bad[i], "x", 1, 100, &number, &e) == -1, "number_parse refuses");
	check(number_parse("18446744073709551615", "x", 0, UINT64_MAX, &number, &e) == 0,
		"the largest number");

	check(size_parse("64M", &number, &e) == 0 && number == 64 << 20, "size_parse");
	check(size_parse("0", &number, &e) == -1, "no size is 0");
	check(size_parse("64m", &number, &e) == -1, "units of size are capital");
	check(size_parse("16777216T", &number, &e) == -1, "a size that overflows");
	check(duration_parse("90", &number, &e) == 0 && number == 90000, "seconds are the default");
	check(duration_parse("250ms", &number, &e) == 0 && number == 250, "milliseconds");
	check(duration_parse("2h", &number, &e) == 0 && number == 7200000, "hours");
	check(duration_parse("1.5h", &number, &e) == -1, "no fractions");

	check_string(size_show(512).text, "512", "size_show in bytes");
	check_string(size_show(2048).text, "2K", "size_show in K");
	check_string(size_show(3u << 30).text, "3G", "size_show in G");
	check_string(size_show(0).text, "0", "size_show of nothing");
	check_string(size_show(1025).text, "1025", "size_show does not round");
}

static void test_strings(void)
{
	AUTO_STRINGS list = { 0 };
	for (int i = 0; i < 100; i++)
		strings_take(&list, memory_format("%d", i));
	strings_add(&list, "end");
	check(list.count == 101 && list.item[101] == NULL, "a list ends with NULL");
	check(strings_has(&list, "57") && !strings_has(&list, "100"), "strings_has");

	check(word_distance("bind", "bind") == 0 && word_distance("bind", "bnid") == 2,
		"word_distance");
	check(word_distance("", "abc") == 3 && word_distance("abc", "") == 3,
		"word_distance of nothing");
	char *large = memory_alloc(300, 1);
	memset(large, 'a', 299);
	check(word_distance(large, large) == 0, "word_distance is bounded");
	free(large);
	const char *best = NULL;
	word_nearest("netwrok", "hostname", &best);
	word_nearest("netwrok", "network", &best);
	word_nearest("netwrok", "net", &best);
	check_string(best, "network", "word_nearest");
	best = NULL;
	word_nearest("xyzzy", "network", &best);
	check(best == NULL, "word_nearest takes nothing far away");
	check(word_matches("LD_PRELOAD", "LD_*") && word_matches("A_TOKEN", "*_TOKEN"), "patterns");
	check(word_matches("A", "A") && !word_matches("AB", "A") && !word_matches("T", "*_T"),
		"patterns do not match more");
}

static void test_shell_words(void)
{
	static const struct pair pairs[] = { { "plain-1.0/x", "plain-1.0/x" }, { "", "''" },
		{ "a b", "'a b'" }, { "it's", "'it'\\''s'" }, { "$(x)", "'$(x)'" }, { "~", "'~'" },
		{ "*", "'*'" }, { "a\nb", "'a\nb'" } };
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		AUTO_TEXT t = { 0 };
		text_add_shell_word(&t, pairs[i].in);
		check_string(t.data, pairs[i].out, "text_add_shell_word");
	}
}

static void test_json_strings(void)
{
	static const struct pair pairs[] = { { "", "\"\"" }, { "a\"\\b", "\"a\\\"\\\\b\"" },
		{ "\n\t\x01", "\"\\n\\u0009\\u0001\"" }, { "\xc3\xa9", "\"\xc3\xa9\"" },
		{ "\xff", "\"\xef\xbf\xbd\"" }, { "\xc3", "\"\xef\xbf\xbd\"" },
		{ "\xc0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ "\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ "\xf0\x9f\x90\x87", "\"\xf0\x9f\x90\x87\"" }, { "\xc2\x9b", "\"\\u009b\"" },
		{ "\xe2\x80\xae", "\"\\u202e\"" } };
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		AUTO_TEXT t = { 0 };
		text_add_json_string(&t, pairs[i].in);
		check_string(t.data, pairs[i].out, "text_add_json_string");
	}
}

static void test_visible(void)
{
	static const struct pair pairs[] = { { "a b", "a b" }, { "a\\b", "a\\\\b" },
		{ "\n\r\x1b[2J", "\\n\\x0d\\x1b[2J" }, { "\x7f", "\\x7f" },
		{ "\xc3\xa9\xe2\x82\xac", "\xc3\xa9\xe2\x82\xac" }, { "\xc2\x9b", "\\xc2\\x9b" },
		{ "\xe2\x80\xae", "\\xe2\\x80\\xae" }, { "\xe2\x81\xa6", "\\xe2\\x81\\xa6" },
		{ "\xff\xfe", "\\xff\\xfe" } };
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		AUTO_TEXT t = { 0 };
		text_add_visible(&t, pairs[i].in);
		check_string(t.data, pairs[i].out, "text_add_visible");
		check(text_is_visible(t.data), "what it adds is visible");
	}
	check(!text_is_visible("a\n") && !text_is_visible("\xff"), "text_is_visible");
}

static void test_text(void)
{
	AUTO_TEXT t = { 0 };
	for (int i = 0; i < 1000; i++)
		text_format(&t, "%04d", i);
	check(t.length == 4000 && strlen(t.data) == 4000, "a text grows");
	AUTO_FREE char *taken = text_take(&t);
	check(taken[3999] == '9' && t.data == NULL, "text_take hands it over");
	AUTO_FREE char *empty = text_take(&t);
	check_string(empty, "", "text_take never gives NULL");
}

static void test_fd(void)
{
	struct err e = { 0 };
	int ends[2];
	check(pipe2(ends, O_CLOEXEC) == 0, "pipe2");
	AUTO_CLOSE int in = ends[0];
	AUTO_CLOSE int out = ends[1];
	check(fd_write_all(out, "hello", 5) == 0, "fd_write_all");
	fd_close(&out);
	check(out == -1, "fd_close forgets the number");
	AUTO_FREE char *data = NULL;
	size_t length = 0;
	check(fd_read_all(in, 5, &data, &length, &e) == 0 && length == 5, "fd_read_all");
	check_string(data, "hello", "fd_read_all ends with NUL");
	AUTO_FREE char *more = NULL;
	check(file_read_at(AT_FDCWD, "/proc/self/status", 10, &more, NULL, &e) == -1 &&
			e.number == EFBIG,
		"a file that is too large is refused");
	check(more == NULL, "and nothing of it is handed over");
	int moved = take_fd(&in);
	check(in == -1 && moved >= 0, "take_fd");
	close(moved);
}

int main(void)
{
	test_err();
	test_path_normal();
	test_path_absolute();
	test_path_parts();
	test_numbers();
	test_strings();
	test_shell_words();
	test_json_strings();
	test_visible();
	test_text();
	test_fd();
	return test_done();
}
