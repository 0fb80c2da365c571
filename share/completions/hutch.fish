# SPDX-License-Identifier: MIT
# fish completion for hutch. What is offered comes from hutch itself: the hutch on PATH, never the
# file whose name is being typed.

function __hutch_candidates
	set -l words (commandline -opc)[2..-1]
	set -l word (commandline -ct)
	set -l lines (hutch completion candidates -- $words "$word" 2>/dev/null)
	set -q lines[1]
	or return
	string join \n -- $lines[2..-1]

	switch $lines[1]
		case files
			set -l before (string match -r -- '^-[^=]*=' "$word")
			for found in (__fish_complete_path (string replace -r -- '^-[^=]*=' '' "$word"))
				echo "$before$found"
			end
		case commands
			complete -C "$word"
		case 'offset *'
			set -l first (math (string replace -- 'offset ' '' $lines[1]) + 1)
			complete -C (string join ' ' -- (string escape -- $words[$first..-1]) "$word")
	end
end
complete -c hutch -f -a '(__hutch_candidates)'
