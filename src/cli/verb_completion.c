/* SPDX-License-Identifier: MIT */
/*
 * hutch completion SHELL prints a short script (share/completions). What it offers comes from the
 * program itself when the key is pressed, so that it is never out of date and there is one place
 * that understands a command line:
 *
 *   hutch completion candidates -- WORD...	the words after "hutch", the last one unfinished
 *
 * prints in its first line what else may stand there, and then one candidate a line, with a tab
 * and its meaning where it has one. The first line is:
 *
 *   words	nothing but the candidates
 *   files	file names, after the "=" if there is one
 *   commands	programs
 *   offset N	the Nth of the words (from 0) is a command; complete as after that
 */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "cli/agent_names.h"
#include "cli/verbs.h"
#include "engines/guarantees.h"
#include "policy/agent.h"
#include "policy/host.h"
#include "supervisor/seed.h"

/* share/completions/hutch.SHELL, made a table at build time; ends with a NULL path. */
extern const struct seed seed_completion_files[];

/* --- the candidates -------------------------------------------------------------------------- */

struct candidates {
	const char *word;   /* the unfinished one */
	const char *before; /* "--option=", when its value is being typed */
	const char *kind;
	size_t offset;
	struct text lines;
};

static void offer(struct candidates *answer, const char *candidate, const char *meaning)
{
	size_t before = answer->before ? strlen(answer->before) : 0;
	if (strncmp(candidate, answer->word + before, strlen(answer->word + before)) != 0)
		return;
	text_format(&answer->lines, "%s%s%s%s\n", before ? answer->before : "", candidate,
		meaning ? "\t" : "", meaning ? meaning : "");
}

static void offer_words(struct candidates *answer, const char *words)
{
	AUTO_FREE char *copy = memory_string(words);
	char *rest = copy;
	for (char *word; (word = strsep(&rest, " "));)
		offer(answer, word, NULL);
}

static void offer_agents(struct candidates *answer)
{
	AUTO_STRINGS names = { 0 };
	struct host host = { .directory_fd = -1 };
	if (host_gather(environ, &host, NULL) == 0)
		agent_names(host.config, &names);
	host_free(&host);
	for (size_t i = 0; i < names.count; i++) {
		const struct agent *agent = agent_find(names.item[i]);
		offer(answer, names.item[i], agent ? agent->title : NULL);
	}
}

static void offer_guarantees(struct candidates *answer)
{
	for (size_t i = 0; i < GUARANTEE_COUNT; i++)
		offer(answer, guarantee_info[i].name, guarantee_info[i].sentence);
}

static void offer_argument(struct candidates *answer, const struct option_info *option)
{
	if (strcmp(option->completion, "<file>") == 0) {
		answer->kind = "files";
	} else if (strcmp(option->completion, "<agent>") == 0) {
		offer_agents(answer);
		offer(answer, "none", "mount the state of no agent");
	} else if (strcmp(option->completion, "<guarantee>") == 0) {
		offer_guarantees(answer);
	} else if (strcmp(option->completion, "<none>") != 0) {
		offer_words(answer, option->completion);
	}
}

static void offer_options(struct candidates *answer, enum verb verb)
{
	for (size_t i = 0; i < option_count; i++) {
		AUTO_FREE char *name = memory_format("--%s", option_info[i].name);
		if (option_for_verb(&option_info[i], verb))
			offer(answer, name, option_info[i].help);
	}
	offer(answer, "--help", "how to use it");
	if (verb == VERB_run)
		offer(answer, "--version", "print the version");
}

static void offer_command(struct candidates *answer, bool verbs)
{
	answer->kind = "commands";
	for (enum verb verb = 0; verbs && verb < VERB_COUNT; verb++)
		offer(answer, verb_info[verb].word, verb_info[verb].help);
	offer_agents(answer);
}

static void offer_keys(struct candidates *answer)
{
	for (enum key key = 0; key < KEY_COUNT; key++)
		offer(answer, key_info[key].name, key_info[key].help);
}

static void offer_actions(struct candidates *answer)
{
	offer_words(answer, "show allow deny");
}

static void offer_shells(struct candidates *answer)
{
	offer_words(answer, "bash zsh fish");
}

/* What the one operand of a verb that runs nothing can be. */
static void (*const operands[VERB_COUNT])(struct candidates *answer) = {
	[VERB_agents] = offer_agents,
	[VERB_config] = offer_keys,
	[VERB_trust] = offer_actions,
	[VERB_completion] = offer_shells,
};

/* The option that `word` names, when its argument is the next word or, with `attached`, this one.
 */
static const struct option_info *wants_argument(const char *word, enum verb verb, bool attached)
{
	size_t length = strcspn(word, "=");
	if (word[0] != '-' || !word[1] || (word[length] == '=') != attached)
		return NULL;
	for (size_t i = 0; i < option_count; i++) {
		const struct option_info *option = &option_info[i];
		if (!option->argument || !option_for_verb(option, verb))
			continue;
		if (word[1] == '-' ? length == strlen(option->name) + 2 &&
					     strncmp(word + 2, option->name, length - 2) == 0
				   : word[1] == option->letter && !word[2])
			return option;
	}
	return NULL;
}

/* Offer what can stand for words[count - 1]. `first`: where the options begin. */
static void complete(
	struct candidates *answer, char *const *words, size_t count, enum verb verb, size_t first)
{
	bool runs = verb == VERB_run || verb == VERB_plan, ended = false;
	size_t last = count - 1, given = 0;
	for (size_t i = first; i < last; i++) {
		const struct option_info *option =
			ended ? NULL : wants_argument(words[i], verb, false);
		bool operand = ended || words[i][0] != '-' || !words[i][1];
		if (option && i + 1 == last) {
			offer_argument(answer, option);
			return;
		}
		if (operand && runs) {
			answer->kind = "offset";
			answer->offset = i;
			return;
		}
		given += operand;
		ended = ended || strcmp(words[i], "--") == 0;
		i += option != NULL;
	}
	const struct option_info *option = ended ? NULL : wants_argument(answer->word, verb, true);
	AUTO_FREE char *before =
		memory_format("%.*s=", (int)strcspn(answer->word, "="), answer->word);
	if (option) {
		answer->before = before;
		offer_argument(answer, option);
		answer->before = NULL;
	} else if (!ended && answer->word[0] == '-') {
		offer_options(answer, verb);
	} else if (runs) {
		offer_command(answer, last == 0);
	} else if (operands[verb] && given == 0) {
		operands[verb](answer);
	}
}

static void candidates_show(char *const *words, size_t count, struct text *out)
{
	struct candidates answer = { .word = words[count - 1], .kind = "words" };
	enum verb verb = VERB_run;
	size_t first = 0;
	for (enum verb other = 0; count > 1 && other < VERB_COUNT; other++) {
		if (strcmp(words[0], verb_info[other].word) == 0) {
			verb = other;
			first = 1;
		}
	}
	complete(&answer, words, count, verb, first);
	text_add(out, answer.kind);
	if (strcmp(answer.kind, "offset") == 0)
		text_format(out, " %zu", answer.offset);
	text_format(out, "\n%s", answer.lines.data ? answer.lines.data : "");
	text_free(&answer.lines);
}

static const char *script_find(const char *shell)
{
	AUTO_FREE char *name = memory_format("hutch.%s", shell);
	for (const struct seed *file = seed_completion_files; file->path; file++)
		if (strcmp(file->path, name) == 0)
			return file->content;
	return NULL;
}

int verb_completion(struct options *options, int *ret_code, struct err *e)
{
	AUTO_TEXT out = { 0 };
	const struct strings *rest = &options->rest;
	const char *wanted = rest->count ? rest->item[0] : "";
	const char *script = script_find(wanted);
	(void)ret_code;
	if (script && rest->count == 1) {
		text_add(&out, script);
	} else if (strcmp(wanted, "candidates") == 0 && rest->count > 1) {
		candidates_show(rest->item + 1, rest->count - 1, &out);
	} else {
		err_set(e, 0, "there is no completion for '%s'", wanted);
		return err_hint(e, "it is hutch completion bash, zsh or fish");
	}
	if (fputs(out.data, stdout) < 0 || fflush(stdout) != 0)
		return err_set(e, 0, "cannot write the completion");
	return 0;
}
