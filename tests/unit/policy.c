/* SPDX-License-Identifier: MIT */
/* Values of keys, what narrows, paths in values, and files of settings. */
#include "policy/policy.h"

#include "base/memory.h"
#include "base/text.h"
#include "policy/config_read.h"
#include "policy/expand.h"
#include "policy/nix_settings.h"
#include "policy/nix_trust.h"
#include "policy/show.h"
#include "policy/trust.h"
#include "tests/unit/test.h"

static bool sets(struct policy *policy, enum key key, const char *text)
{
	return policy_set(policy, key, text, "test", NULL) == 0;
}

static void test_values(void)
{
	struct policy policy = { 0 };
	struct err e = { 0 };
	enum key key;
	policy_defaults(&policy);
	check(policy_word(&policy, KEY_NETWORK) == WORD_NETWORK_HOST, "default network is host");
	check_string(policy_origin(&policy, KEY_NETWORK), "default", "origin of a default");
	check(sets(&policy, KEY_HOME, "kept=work"), "a word with text");
	check_string(policy_value(&policy, KEY_HOME), "work", "the text of a word");
	check(!sets(&policy, KEY_HOME, "kept="), "a word with empty text");
	check(!sets(&policy, KEY_HOME, "private=x"), "text where the word takes none");
	check(!sets(&policy, KEY_NETWORK, ""), "an empty word");
	check(!sets(&policy, KEY_NESTING, "maybe"), "a switch that is neither");
	check(!sets(&policy, KEY_MEMORY, "0"), "no memory at all");
	check(sets(&policy, KEY_MEMORY, "2G") && policy_number(&policy, KEY_MEMORY) == 2ull << 30,
		"a size");
	check(sets(&policy, KEY_TIMEOUT, "500ms") && policy_number(&policy, KEY_TIMEOUT) == 500,
		"a duration");
	check(sets(&policy, KEY_MASK, "/a") && sets(&policy, KEY_MASK, "/b") &&
			policy.setting[KEY_MASK].count == 2,
		"a list grows");
	check(sets(&policy, KEY_MASK, "") && policy.setting[KEY_MASK].count == 0,
		"a list is emptied");
	check(key_find("netwrok", &key, &e) < 0 && strstr(e.hint, "'network'"), "the nearest key");
	check(policy_set(&policy, KEY_NETWORK, "of", "x", &e) < 0 && strstr(e.hint, "'off'") &&
			strstr(e.text, "host, off"),
		"the nearest word and all words");
	policy_free(&policy);
}

static void test_narrows(void)
{
	struct policy policy = { 0 };
	policy_defaults(&policy);
	check(policy_narrows(&policy, KEY_NETWORK, "off"), "network off narrows");
	sets(&policy, KEY_NETWORK, "off");
	check(!policy_narrows(&policy, KEY_NETWORK, "host"), "network host after off widens");
	sets(&policy, KEY_ENVIRONMENT, "scoped");
	check(policy_narrows(&policy, KEY_ENVIRONMENT, "clean"), "a cleaner environment narrows");
	check(!policy_narrows(&policy, KEY_ENVIRONMENT, "inherit"), "inherit widens");
	check(!policy_narrows(&policy, KEY_TERMINAL, "raw"), "a raw terminal widens");
	check(policy_narrows(&policy, KEY_MEMORY, "1G"), "the first limit narrows");
	sets(&policy, KEY_MEMORY, "1G");
	check(policy_narrows(&policy, KEY_MEMORY, "512M"), "a smaller limit narrows");
	check(!policy_narrows(&policy, KEY_MEMORY, "2G"), "a larger limit widens");
	check(policy_narrows(&policy, KEY_MASK, "/x"), "a mask narrows");
	check(!policy_narrows(&policy, KEY_MASK, ""), "masks cannot be emptied");
	check(!policy_narrows(&policy, KEY_REQUIRE, ""), "requirements cannot be emptied");
	check(!policy_narrows(&policy, KEY_NETWORK, "nonsense"), "nonsense does not narrow");
	bool user_only = true;
	for (enum key key = 0; key < KEY_COUNT; key++)
		if (key_info[key].who == WHO_USER && key_info[key].fallback &&
			policy_narrows(&policy, key, key_info[key].fallback))
			user_only = false;
	check(user_only, "keys of the user are never narrowed by a project");
	policy_free(&policy);
}

static void expands(enum key key, const char *text, const char *want, const char *name)
{
	AUTO_FREE char *have = NULL;
	check(value_expand(key, text, "/w", "/h", &have, NULL) == 0, name);
	check_string(have, want, name);
}

static void test_paths(void)
{
	AUTO_FREE char *have = NULL;
	expands(KEY_BIND, "~/x", "/h/x", "home in a bind");
	expands(KEY_BIND, "x/../y", "/w/y", "a relative bind");
	expands(KEY_BIND, "~:/inside", "/h:/inside", "source and target");
	expands(KEY_BIND, "a\\:b", "/w/a\\:b", "a colon in a path");
	expands(KEY_BIND, "a\\\\:b", "/w/a\\\\:/w/b", "a backslash before a colon");
	expands(KEY_BIND_RO, "~other/x", "/w/~other/x", "another user's home is only a name");
	expands(KEY_MASK, "a:b", "/w/a:b", "a mask has one path");
	expands(KEY_TOOLS, "nix=.#dev", "nix=/w#dev", "a flake here");
	expands(KEY_TOOLS, "nix=github:a/b", "nix=github:a/b", "a flake elsewhere");
	expands(KEY_ENV, "A=~/x", "A=~/x", "no path in a variable");
	expands(KEY_MASK, "", "", "an emptied list stays so");
	check(value_expand(KEY_BIND, ":/x", "/w", "/h", &have, NULL) < 0,
		"a bind without a source");
	check(value_expand(KEY_BIND, "/x:", "/w", "/h", &have, NULL) < 0,
		"a bind without a target");
}

static bool reads(const char *yaml, struct config *ret_config, struct err *e)
{
	*e = (struct err){ 0 };
	*ret_config = (struct config){ 0 };
	return config_read(yaml, strlen(yaml), "F", ret_config, e) == 0;
}

static void test_config(void)
{
	AUTO_CONFIG config = { 0 };
	struct err e;
	check(reads("network: off\nbind: [a, b]\nmask: c\nenv: {A: 1, B: x y}\nrequire: []\n",
		      &config, &e) &&
			config.count == 7,
		"values, lists, a single item, a map, an empty list");
	check_string(config.entry[4].text, "A=1", "a variable from a map");
	check(config.entry[2].line == 2 && config.entry[2].column == 11, "line and column");
	AUTO_TEXT packed = { 0 };
	AUTO_CONFIG again = { 0 };
	config_pack(&config, &packed);
	check(config_unpack(packed.data, packed.length, &again, NULL) == 0 && again.count == 7,
		"packed and unpacked");
	check(config_unpack(packed.data, packed.length - 1, &again, NULL) < 0, "a cut answer");
	AUTO_CONFIG confined = { 0 };
	check(config_read_confined("mask: [a, b]\n", 13, "F", &confined, &e) == 0 &&
			confined.count == 2,
		"read by a confined child");
	check(config_read_confined("mask: [a\n", 9, "F", &confined, &e) < 0 &&
			strncmp(e.text, "F:", 2) == 0,
		"the confined child's error");
}

static void fails(const char *yaml, const char *start, const char *part, const char *name)
{
	struct config config;
	struct err e;
	bool failed = !reads(yaml, &config, &e);
	bool said = strncmp(e.text, start, strlen(start)) == 0 &&
		    (strstr(e.text, part) || strstr(e.hint, part));
	check(failed && said, name);
	if (failed && !said)
		printf("# said: %s (%s)\n", e.text, e.hint);
	config_free(&config);
}

static void test_config_errors(void)
{
	fails("a: 1\n", "F:1:1: there is no setting 'a'", "", "an unknown key");
	fails("\nnetwrok: off\n", "F:2:1: ", "'network'", "the nearest key of a file");
	fails("network: of\n", "F:1:1: ", "'off'", "the nearest word of a file");
	fails("network: [off]\n", "F:1:1: network must be a single value, not a list", "",
		"a list");
	fails("network: {off: 1}\n", "F:1:1: ", "not a map", "a map");
	fails("bind: {a: b}\n", "F:1:1: ", "not a map", "a map for bind");
	fails("bind: [[a]]\n", "F:1:8: ", "single values", "a list in a list");
	fails("env: {A: [1]}\n", "F:1:7: ", "not a list", "a list as a variable");
	fails("env: {\"A=B\": 1}\n", "F:1:7: ", "'A=B'", "a variable with = in its name");
	fails("bind:\n", "F:1:1: bind has no value", "[]", "a list without a value");
	fails("bind: [\"\"]\n", "F:1:8: ", "no value", "an empty item");
	fails("tasks: many\n", "F:1:1: ", "tasks must be a number", "not a number");
	fails("memory: 1X\n", "F:1:1: memory: ", "size", "not a size");
	fails("nesting: 1\n", "F:1:1: ", "yes or no", "not a switch");
	fails("network: off\nnetwork: host\n", "F:2:1: ", "network", "a key twice");
	fails("- a\n", "F:1:1: ", "map of KEY: VALUE", "a list as the document");
	fails("a\n", "F:1:1: ", "map of KEY: VALUE", "a word as the document");
	fails("network:\toff\n\tmask: x\n", "F:", "", "tabs as indentation");
	fails("mask: *x\n", "F:1:", "", "an alias");
}

static void test_names(void)
{
	AUTO_FREE char *a = trust_file_name("/home/u/a%b");
	check_string(a, "%home%u%a%25b", "the name of a workspace");
	char path[4000] = "/";
	memset(path + 1, 'x', sizeof path - 2);
	AUTO_FREE char *b = trust_file_name(path);
	bool fits = true;
	for (char *piece = strtok(b, "/"); piece; piece = strtok(NULL, "/"))
		fits = fits && strlen(piece) < 256;
	check(fits, "a long workspace fits into names");
}

static void test_nix(void)
{
	static const char *const groups[] = { "users", "wheel", NULL };
	static const char *const none[] = { NULL };
	static const struct {
		const char *settings;
		bool trusts;
	} cases[] = {
		{ "", false },
		{ "trusted-users = root\n", false },
		{ "trusted-users = root me\n", true },
		{ "a = b\n  extra-trusted-users\t=\tyou me\r\n", true },
		{ "trusted-users = *", true },
		{ "trusted-users = root @wheel", true },
		{ "trusted-users = root @admin", false },
		{ "# trusted-users = me\ntrusted-users = root # me\n", false },
		{ "trusted-substituters = me\ntrusted-users=me\n", false },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		check(nix_settings_trust(cases[i].settings, "me", groups) == cases[i].trusts,
			cases[i].settings);
	check(!nix_settings_trust("trusted-users = @wheel", "me", none), "in no group");
	AUTO_FREE char *public = nix_settings_public(
		"a = b\n  access-tokens = github.com=x\naccess-tokens=y\n!include tokens\n"
		"include other\r\n# access-tokens\nnetrc-file\t= /n\nextra-access-tokens = z\nc = d");
	check_string(public, "a = b\n# access-tokens\nc = d\n", "settings without credentials");
}

int main(void)
{
	test_nix();
	test_values();
	test_narrows();
	test_paths();
	test_config();
	test_config_errors();
	test_names();
	return test_done();
}
