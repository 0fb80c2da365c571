/* SPDX-License-Identifier: MIT */
/*
 * What the command prints goes to the user's terminal, and a terminal is a program that obeys
 * what it is shown: it sets the clipboard, reads and writes files, defines keys, and answers
 * questions as if the user had typed. The filter lets through what draws, and what asks questions
 * whose answers have a fixed shape; the rest is dropped. Byte stream in, byte stream out; sequences
 * and characters may be split anywhere between calls.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "supervisor/modes.h"

enum {
	FILTER_HOLD = 8192, /* the longest sequence that is passed (sixel images are streamed) */
	FILTER_FINISH = MODES_ROOM + 4,
};

/* How much filter_feed may write for `length` bytes of input. */
#define FILTER_ROOM(length) (3 * (size_t)(length) + FILTER_HOLD + 8)

struct filter {
	uint8_t state;
	uint8_t string;    /* which kind of string is being read */
	uint8_t needed;    /* bytes that the current UTF-8 character still wants */
	uint8_t length;    /* of it, so far */
	uint8_t low, high; /* what its next byte may be */
	uint8_t character[4];
	size_t held;
	uint8_t hold[FILTER_HOLD + 1]; /* the sequence so far, from its ESC */
	struct modes modes;
	uint8_t *out; /* during a call */
};

void filter_init(struct filter *filter);

/* Filter `length` bytes into `ret_out`, which has FILTER_ROOM(length). Returns how many came out.
 */
size_t filter_feed(struct filter *filter, const uint8_t *bytes, size_t length, uint8_t *ret_out);

/* The run is over: close what is open and reset what was seen being set. `ret_out` has
 * FILTER_FINISH bytes. Returns how many came out; the filter is as new. */
size_t filter_finish(struct filter *filter, uint8_t *ret_out);
