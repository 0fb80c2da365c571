#compdef hutch
# SPDX-License-Identifier: MIT
# zsh completion for hutch. What is offered comes from hutch itself: the hutch on PATH, never the
# file whose name is being typed.

_hutch() {
	local kind line meaning
	local -a lines found
	lines=(${(f)"$(hutch completion candidates -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)"})
	kind=${lines[1]}

	# _describe wants "word:meaning", with the colons of the word escaped.
	for line in "${(@)lines[2,-1]}"; do
		meaning=${${(M)line:#*$'\t'*}#*$'\t'}
		found+=("${${line%%$'\t'*}//:/\\:}${meaning:+:$meaning}")
	done

	case $kind in
	words)
		_describe hutch found
		;;
	files)
		[[ ${words[CURRENT]} != -*=* ]] || compset -P '*='
		_files
		;;
	commands)
		_describe hutch found
		_command_names -e
		;;
	offset*)
		shift $((${kind#offset } + 1)) words
		((CURRENT -= ${kind#offset } + 1))
		_normal
		;;
	esac
}

# Autoloaded from $fpath this is the body of _hutch; sourced it has to register itself.
if [[ ${funcstack[1]} == _hutch ]]; then
	_hutch "$@"
else
	compdef _hutch hutch
fi
