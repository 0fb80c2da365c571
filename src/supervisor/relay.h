/* SPDX-License-Identifier: MIT */
/*
 * Copies between the user's terminal and the sandbox's, both without blocking and each through a
 * buffer of fixed size. Neither direction waits for the other: a command that is not read and does
 * not read stands still alone.
 */
#pragma once

#include <stdbool.h>

#include "loop/loop.h"
#include "supervisor/filter.h"
#include "supervisor/terminal.h"

enum relay_event {
	RELAY_LOST,    /* no longer in front of the user's terminal */
	RELAY_HUNG_UP, /* the user's terminal is gone */
	RELAY_DRAINED, /* after relay_finish: everything is shown */
};

enum { RELAY_CHUNK = 4096 };

struct relay_buffer {
	size_t start, end;
};

struct relay {
	struct loop *loop;
	struct terminal *terminal;
	int master; /* owned */
	void (*notify)(void *data, enum relay_event event);
	void *data;
	struct loop_watch terminal_watch, master_watch;
	bool raw;     /* no filter */
	bool reading; /* keys are taken from the terminal */
	bool finishing;
	bool finished; /* the resets are in the buffer */
	unsigned rest; /* reads that finishing may still do */
	bool hung_up;  /* output has nowhere to go and is dropped */
	struct relay_buffer keys, output;
	uint8_t keys_bytes[RELAY_CHUNK];
	uint8_t chunk[RELAY_CHUNK];
	uint8_t output_bytes[FILTER_ROOM(RELAY_CHUNK) + FILTER_FINISH];
	struct filter filter;
};

/* Take over `master`, non-blocking, to show its output from the next turn of the loop on. `raw`,
 * `notify` and `data` are for the caller to set afterwards. */
int relay_open(struct relay *relay, struct loop *loop, struct terminal *terminal, int master,
	struct err *e);

/* Take keys from the terminal, or leave them to others. */
void relay_read_keys(struct relay *relay, bool reading);

/* Give the command an end of file in place of keys. */
void relay_send_end(struct relay *relay);

/* Show what has been written so far, for at most `milliseconds`. */
void relay_drain(struct relay *relay, int milliseconds);

/* Nothing more will be written inside: show the rest, reset the terminal's modes, and then notify
 * RELAY_DRAINED, perhaps at once. */
void relay_finish(struct relay *relay);

/* Closes the master: the terminal inside hangs up. */
void relay_close(struct relay *relay);
