# ~/.bashrc of a hutch sandbox. Copied here once, when this home was made; it is
# yours from then on and is never written again.
# shellcheck shell=bash

case $- in
*i*) ;;
*) return ;;
esac

HISTCONTROL=ignoreboth
HISTSIZE=5000
HISTFILESIZE=10000
shopt -s histappend checkwinsize

# ---- colours and aliases ----------------------------------------------------

if [[ -n ${TERM-} && $TERM != dumb && -z ${NO_COLOR-} ]]; then
	alias ls='ls --color=auto'
	alias grep='grep --color=auto'
	alias egrep='grep -E --color=auto'
	alias fgrep='grep -F --color=auto'
	sandbox_good=$'\e[32m' sandbox_bad=$'\e[31m' sandbox_plain=$'\e[0m'
	sandbox_where=$'\e[1;34m' sandbox_what=$'\e[33m'
else
	sandbox_good='' sandbox_bad='' sandbox_plain='' sandbox_where='' sandbox_what=''
fi

alias ll='ls -alF'
alias la='ls -A'
alias l='ls -CF'

# ---- completion -------------------------------------------------------------

# `nix develop` reads this file before it sets the variables of the dev shell,
# so the search waits until the first prompt, when they are there.
sandbox_load_completion() {
	local -a places
	local place
	IFS=: read -ra places <<<"${XDG_DATA_DIRS-}"
	for place in "${HUTCH_BASH_COMPLETION-}" \
		"${places[@]/%//bash-completion/bash_completion}" \
		"$HOME/.nix-profile/share/bash-completion/bash_completion" \
		/nix/var/nix/profiles/default/share/bash-completion/bash_completion \
		/run/current-system/sw/share/bash-completion/bash_completion \
		/usr/share/bash-completion/bash_completion \
		/etc/bash_completion; do
		if [[ -f $place && -r $place ]]; then
			# shellcheck source=/dev/null
			. "$place"
			return
		fi
	done
}

# ---- prompt -----------------------------------------------------------------

# Sets sandbox_branch from .git/HEAD of the nearest repository above: read by
# hand, because running git for every prompt is slow and git may not be there.
sandbox_find_branch() {
	local dir=$PWD git head
	sandbox_branch=''
	while [[ ! -e $dir/.git ]]; do
		[[ -n $dir ]] || return 0
		dir=${dir%/*}
	done
	git=$dir/.git
	if [[ -f $git ]]; then
		# A worktree or submodule: .git is a file that names the directory.
		IFS= read -rn 4096 head <"$git" || [[ -n $head ]] || return 0
		git=${head#gitdir: }
		[[ $git == /* ]] || git=$dir/$git
	fi
	[[ -f $git/HEAD && -r $git/HEAD ]] || return 0
	IFS= read -rn 256 head <"$git/HEAD" || [[ -n $head ]] || return 0
	if [[ $head == 'ref: '* ]]; then
		head=${head#ref: }
		head=${head#refs/heads/}
	else
		head=${head:0:7}
	fi
	# The repository chooses this text: no control characters into the terminal.
	head=${head//[[:cntrl:]]/}
	sandbox_branch=" (${head:0:60})"
}

sandbox_before_prompt() {
	local status=$?
	if ((status == 0)); then sandbox_light=$sandbox_good; else sandbox_light=$sandbox_bad; fi
	sandbox_find_branch
	if [[ -z ${sandbox_started-} ]]; then
		sandbox_started=1
		[[ ${BASH_COMPLETION_VERSINFO-} ]] || sandbox_load_completion
	fi
	return "$status"
}

PROMPT_COMMAND=sandbox_before_prompt
# Single quotes: bash expands these at each prompt, and only once, so a branch
# called `$(reboot)` stays a name.
PS1='\[${sandbox_light-}\]●\[$sandbox_plain\] \[$sandbox_where\]\w\[$sandbox_what\]${sandbox_branch-}\[$sandbox_plain\] \$ '
