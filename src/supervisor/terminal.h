/* SPDX-License-Identifier: MIT */
/* The user's terminal: the one that descriptors 0 to 2 lead to. */
#pragma once

#include <stdbool.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "base/err.h"

struct terminal {
	int fd;          /* an open file of its own, so that O_NONBLOCK is not shared; -1: none */
	bool is_control; /* ours to be in front of or behind; else it is always in front */
	bool is_raw;
	struct termios saved; /* while raw */
	struct termios raw;
};

/* Find and open it. `fd` stays -1 when none of the three descriptors is a terminal. */
int terminal_open(struct terminal *terminal, struct err *e);

bool terminal_is_front(const struct terminal *terminal);

/* The settings and size that a terminal inside starts with. While in the background, settings in
 * use there belong to a shell's line editor and are not taken. */
int terminal_describe(const struct terminal *terminal, bool front, struct termios *ret_settings,
	struct winsize *ret_size, struct err *e);

/* Pass every key on as a byte. False, and nothing done, when in the background. */
bool terminal_set_raw(struct terminal *terminal);

/* Bring back the settings from before terminal_set_raw, unless in the background, where they are
 * another program's affair. */
void terminal_restore(struct terminal *terminal);

/* Does it turn line feeds into CR LF by itself? */
bool terminal_adds_returns(const struct terminal *terminal);

void terminal_copy_size(const struct terminal *terminal, int master);
void terminal_close(struct terminal *terminal); /* restores first */
