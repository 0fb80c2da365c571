#!/bin/bash
# SPDX-License-Identifier: MIT
# The usual way, as people write it: a bash script that looks at what exists, assembles a bubblewrap
# command line and executes it. Its policy is that of hutch's preset `agent`; the lists come from
# the same places. It is what bench/run compares with.
set -euo pipefail

here=$(pwd -P)
list=${HUTCH_BENCH_LISTS:?directory of etc.list and environment-drop.list}
state=(.claude .config/claude .config/claude-code .config/anthropic)
args=(--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup --die-with-parent)

fail() {
	printf 'box: %s\n' "$1" >&2
	exit 125
}

case $here/ in "$HOME"/) fail "refusing to share the whole home" ;; esac
case $HOME/ in "$here"/*) fail "refusing to share a parent of the home" ;; esac

bind_ro() {
	local path=$1
	if [ -L "$path" ]; then
		local real
		real=$(readlink -f -- "$path") || return 0
		case $real in
		/usr/*) args+=(--symlink "$(readlink -- "$path")" "$path") ;;
		*) args+=(--ro-bind "$real" "$path") ;;
		esac
	elif [ -e "$path" ]; then
		args+=(--ro-bind "$path" "$path")
	fi
}

args+=(--ro-bind /usr /usr)
for path in /bin /lib /lib32 /lib64 /libx32 /sbin; do
	bind_ro "$path"
done
while read -r name _; do
	case $name in '' | '#'*) continue ;; /*) bind_ro "$name" ;; *) bind_ro "/etc/$name" ;; esac
done <"$list/etc.list"

args+=(--proc /proc --dev /dev --tmpfs /tmp --tmpfs /var/tmp --perms 700 --tmpfs "/run/user/$(id -u)")
args+=(--tmpfs "$HOME" --tmpfs "$HOME/.cache" --tmpfs "$HOME/.config" --tmpfs "$HOME/.local")
for name in "${state[@]}"; do
	[ -d "$HOME/$name" ] || mkdir -p -- "$HOME/$name"
	args+=(--bind "$HOME/$name" "$HOME/$name")
done
[ -e "$HOME/.claude.json" ] || printf '{}\n' >"$HOME/.claude.json"
args+=(--bind "$HOME/.claude.json" "$HOME/.claude.json")
if [ -d /nix/store ]; then
	args+=(--ro-bind /nix/store /nix/store)
	[ ! -d /nix/var/nix/daemon-socket ] ||
		args+=(--ro-bind /nix/var/nix/daemon-socket /nix/var/nix/daemon-socket)
fi
args+=(--bind "$here" "$here" --chdir "$here")

while read -r name _; do
	case $name in
	'' | '#'* | *'*'*) continue ;;
	*) [ -z "${!name+set}" ] || args+=(--unsetenv "$name") ;;
	esac
done <"$list/environment-drop.list"
args+=(--setenv HOME "$HOME" --setenv TMPDIR /tmp --setenv PATH "/run/box/bin:$PATH")
args+=(--setenv XDG_CACHE_HOME "$HOME/.cache" --setenv XDG_CONFIG_HOME "$HOME/.config")
args+=(--setenv XDG_DATA_HOME "$HOME/.local/share" --setenv XDG_STATE_HOME "$HOME/.local/state")
args+=(--ro-bind "$0" /run/box/bin/box --remount-ro /)

exec bwrap "${args[@]}" -- "$@"
