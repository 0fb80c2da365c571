# Login shells read only this file: hand over to the one for every shell.
# shellcheck shell=bash
if [ -f "$HOME/.bashrc" ]; then
	# shellcheck source=/dev/null
	. "$HOME/.bashrc"
fi
