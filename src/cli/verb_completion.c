/* SPDX-License-Identifier: MIT */
/* Completion scripts, made from options.def and verbs.def. Words for agents and presets come from
 * the program itself when the user presses the key, so that they are never out of date. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/verbs.h"

static void words_of_verbs(struct text *out)
{
	for (enum verb verb = 0; verb < VERB_COUNT; verb++)
		text_format(out, "%s%s", verb ? " " : "", verb_info[verb].word);
}

static void options_of_verb(enum verb verb, struct text *out)
{
	for (size_t i = 0; i < option_count; i++)
		if (option_for_verb(&option_info[i], verb))
			text_format(out, " --%s", option_info[i].name);
	text_add(out, " --help");
}

/* How bash completes each kind of argument. */
static const struct kind {
	const char *name;
	const char *bash;
	const char *zsh;
	const char *fish;
} kinds[] = {
	{ "<file>", "compgen -f -- \"$word\"", "_files", "-r -F" },
	{ "<agent>", "compgen -W \"none $(hutch agents --names 2>/dev/null)\" -- \"$word\"",
		"{compadd none $(hutch agents --names 2>/dev/null)}",
		"-x -a '(hutch agents --names 2>/dev/null) none'" },
	{ "<none>", ":", " ", "-x" },
};

static const struct kind *kind_find(const char *completion)
{
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (strcmp(kinds[i].name, completion) == 0)
			return &kinds[i];
	return NULL;
}

static void bash_argument(const struct option_info *option, struct text *out)
{
	const struct kind *kind = kind_find(option->completion);
	text_format(out, "\t--%s", option->name);
	if (option->letter)
		text_format(out, "|-%c", option->letter);
	if (kind)
		text_format(out, ") mapfile -t COMPREPLY < <(%s); return ;;\n", kind->bash);
	else
		text_format(out,
			") mapfile -t COMPREPLY < <(compgen -W \"%s\" -- \"$word\"); return ;;\n",
			option->completion);
}

static void bash_show(struct text *out)
{
	text_add(out, "# bash completion for hutch: source it, or put it where bash-completion looks\n"
		      "_hutch() {\n\tlocal word=${COMP_WORDS[COMP_CWORD]} verb=run i skip=\n"
		      "\tlocal before=${COMP_WORDS[COMP_CWORD-1]}\n\tcase $before in\n");
	for (size_t i = 0; i < option_count; i++)
		if (option_info[i].argument && option_info[i].completion)
			bash_argument(&option_info[i], out);
	text_add(out, "\tesac\n\tcase \" ");
	words_of_verbs(out);
	text_add(out, " \" in *\" ${COMP_WORDS[1]} \"*) verb=${COMP_WORDS[1]} ;; esac\n"
		      "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
		      "\t\tif [[ $skip ]]; then skip=; continue; fi\n"
		      "\t\tcase ${COMP_WORDS[i]} in\n\t\t");
	bool first = true;
	for (size_t i = 0; i < option_count; i++)
		if (option_info[i].argument) {
			text_format(out, "%s--%s", first ? "" : "|", option_info[i].name);
			if (option_info[i].letter)
				text_format(out, "|-%c", option_info[i].letter);
			first = false;
		}
	text_add(out, ") skip=1 ;;\n\t\t-*) ;;\n"
		      "\t\t*) [[ $i -eq 1 && ${COMP_WORDS[1]} = \"$verb\" ]] && continue\n"
		      "\t\t   if declare -F _command_offset >/dev/null; then _command_offset \"$i\"; else\n"
		      "\t\t   mapfile -t COMPREPLY < <(compgen -f -- \"$word\"); fi; return ;;\n"
		      "\t\tesac\n\tdone\n\tlocal options=\n\tcase $verb in\n");
	for (enum verb verb = 0; verb < VERB_COUNT; verb++) {
		text_format(out, "\t%s) options=\"", verb_info[verb].word);
		options_of_verb(verb, out);
		text_add(out, "\" ;;\n");
	}
	text_add(out, "\tesac\n\tif [[ $word = -* ]]; then\n"
		      "\t\tmapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
		      "\telif [[ $COMP_CWORD -eq 1 ]]; then\n"
		      "\t\tmapfile -t COMPREPLY < <(compgen -W \"");
	words_of_verbs(out);
	text_add(out, " $(hutch agents --names 2>/dev/null)\" -- \"$word\"; compgen -c -- \"$word\")\n"
		      "\telse\n\t\tmapfile -t COMPREPLY < <(compgen -c -- \"$word\")\n\tfi\n}\n"
		      "complete -o default -F _hutch hutch\n");
}

/* Inside single quotes and brackets of a zsh _arguments specification. */
static void zsh_help(const char *help, struct text *out)
{
	for (; *help; help++) {
		if (strchr("[]:\\", *help))
			text_add(out, "\\");
		if (*help == '\'')
			text_add(out, "'\\'");
		text_add_bytes(out, help, 1);
	}
}

static void zsh_option(const struct option_info *option, struct text *out)
{
	text_format(out, "\t\t'*--%s%s[", option->name, option->argument ? "=" : "");
	zsh_help(option->help, out);
	text_add(out, "]");
	if (option->argument) {
		const struct kind *kind = kind_find(option->completion);
		text_add(out, ":argument:");
		text_format(out, kind ? "%s" : "(%s)", kind ? kind->zsh : option->completion);
	}
	text_add(out, "' \\\n");
}

static void zsh_show(struct text *out)
{
	text_add(out, "#compdef hutch\n# zsh completion for hutch: put it in a directory of $fpath as "
		      "_hutch\n_hutch() {\n\tlocal verb=run\n\tlocal -a verbs=(\n");
	for (enum verb verb = 0; verb < VERB_COUNT; verb++) {
		text_format(out, "\t\t'%s:", verb_info[verb].word);
		zsh_help(verb_info[verb].help, out);
		text_add(out, "'\n");
	}
	text_add(out, "\t)\n\tif (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n"
		      "\t\t_describe verb verbs\n"
		      "\t\tcompadd -- ${(f)\"$(hutch agents --names 2>/dev/null)\"}\n"
		      "\t\t_command_names -e\n\t\treturn\n\tfi\n"
		      "\tif (( $verbs[(I)${words[2]}:*] )); then\n"
		      "\t\tverb=$words[2]\n\t\tshift words\n\t\t(( CURRENT-- ))\n\tfi\n"
		      "\tcase $verb in\n");
	for (enum verb verb = 0; verb < VERB_COUNT; verb++) {
		text_format(out, "\t%s) _arguments -S \\\n", verb_info[verb].word);
		for (size_t i = 0; i < option_count; i++)
			if (option_for_verb(&option_info[i], verb))
				zsh_option(&option_info[i], out);
		text_add(out, "\t\t'--help[how to use it]' \\\n\t\t'*::command:_normal' ;;\n");
	}
	text_add(out, "\tesac\n}\n_hutch \"$@\"\n");
}

static void fish_quote(const char *text, struct text *out)
{
	text_add(out, "'");
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			text_add(out, "\\");
		text_add_bytes(out, text, 1);
	}
	text_add(out, "'");
}

static void fish_option(const struct option_info *option, enum verb verb, struct text *out)
{
	text_format(out, "complete -c hutch -n '__hutch_verb %s' -l %s", verb_info[verb].word,
		option->name);
	if (option->letter)
		text_format(out, " -s %c", option->letter);
	if (option->argument) {
		const struct kind *kind = kind_find(option->completion);
		if (kind)
			text_format(out, " %s", kind->fish);
		else
			text_format(out, " -x -a '%s'", option->completion);
	}
	text_add(out, " -d ");
	fish_quote(option->help, out);
	text_add(out, "\n");
}

static void fish_show(struct text *out)
{
	text_add(out, "# fish completion for hutch: save as ~/.config/fish/completions/hutch.fish\n"
		      "function __hutch_verb\n\tset -l words (commandline -opc)\n\tset -l verb run\n"
		      "\tcontains -- \"$words[2]\" ");
	words_of_verbs(out);
	text_add(out, "; and set verb $words[2]\n\ttest $verb = $argv[1]\nend\n");
	for (enum verb verb = 0; verb < VERB_COUNT; verb++) {
		text_format(out, "complete -c hutch -n '__fish_use_subcommand' -a %s -d ",
			verb_info[verb].word);
		fish_quote(verb_info[verb].help, out);
		text_add(out, "\n");
		for (size_t i = 0; i < option_count; i++)
			if (option_for_verb(&option_info[i], verb))
				fish_option(&option_info[i], verb, out);
	}
	text_add(out, "complete -c hutch -n '__fish_use_subcommand' -a "
		      "'(hutch agents --names 2>/dev/null)'\n");
}

int verb_completion(struct options *options, int *ret_code, struct err *e)
{
	static const struct {
		const char *name;
		void (*show)(struct text *out);
	} shells[] = { { "bash", bash_show }, { "zsh", zsh_show }, { "fish", fish_show } };
	AUTO_TEXT out = { 0 };
	(void)ret_code;
	const char *wanted = options->rest.count ? options->rest.item[0] : "";
	for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++) {
		if (strcmp(shells[i].name, wanted) != 0)
			continue;
		shells[i].show(&out);
		if (fputs(out.data, stdout) < 0 || fflush(stdout) != 0)
			return err_set(e, 0, "cannot write the script");
		return 0;
	}
	err_set(e, 0, "there is no completion for '%s'", wanted);
	return err_hint(e, "it is hutch completion bash, zsh or fish");
}
