/* SPDX-License-Identifier: MIT */
#include "formats/git_config.h"

#include <stdlib.h>

#include "tests/unit/test.h"

static void check_value(const char *data, const char *want, const char *name)
{
	char *have = git_config_value(data, "user", "name");
	if (want)
		check_string(have, want, name);
	else
		check(have == NULL, name);
	free(have);
}

int main(void)
{
	check_value("[user]\n\tname = Ada Lovelace\n", "Ada Lovelace", "git config: plain value");
	check_value("[User]\r\nNAME=Ada # x\r\n", "Ada", "git config: case, comment, CRLF");
	check_value(
		"[user]\nname = \" a ; b \" c  \n", " a ; b  c", "git config: quotes and blanks");
	check_value(
		"[user]\nname = a\\\nb\\\"\\\\\n", "ab\"\\", "git config: escapes, continued line");
	check_value(
		"[user]\nname=a\n[core]\nname=b\n[user]\nname=c\n", "c", "git config: last wins");
	check_value("[user \"x\"]\nname=a\n", NULL, "git config: a subsection is another section");
	check_value("[user]\nnames=a\nname\n", NULL, "git config: longer name, name without value");
	check_value("[user]\nname=", "", "git config: empty at the end");
	check_value("[user]\nname=a\\", "a", "git config: backslash at the end");
	char *quoted = git_config_quote("a\"b\\c\nd");
	check_string(quoted, "\"a\\\"b\\\\c\\nd\"", "git config: quoting");
	free(quoted);
	return test_done();
}
