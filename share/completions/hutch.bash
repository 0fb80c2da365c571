# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# bash completion for hutch. What is offered comes from hutch itself: the hutch on PATH, never the
# file whose name is being typed.

_hutch() {
	local IFS=$' \t\n' i kind line word='' glue='' before=''
	local -a words=() places=() lines=()

	# bash splits at "=" and ":"; put such words together again.
	for ((i = 1; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if ((${#words[@]})) && [[ $glue || $word == [=:]* ]]; then
			words[-1]+=$word
		else
			words+=("$word")
			places+=("$i")
		fi
		[[ $word == [=:] ]] && glue=yes || glue=''
	done

	mapfile -t lines < <(hutch completion candidates -- "${words[@]}" 2>/dev/null)
	kind=${lines[0]-}
	word=${words[-1]}

	# What stands before the "=" is not a part of the word that bash replaces.
	if [[ $word == -*=* && $COMP_WORDBREAKS == *=* ]]; then
		before=${word%%=*}=
		word=${word#*=}
	fi
	COMPREPLY=()
	for line in "${lines[@]:1}"; do
		line=${line%%$'\t'*}
		COMPREPLY+=("${line#"$before"}")
	done

	if [[ $kind == offset* ]] && declare -F _command_offset >/dev/null; then
		_command_offset "${places[${kind#offset }]}"
	elif [[ $kind == files || $kind == offset* ]]; then
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
	elif [[ $kind == commands ]]; then
		mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -c -- "$word")
	fi
}
complete -F _hutch hutch
