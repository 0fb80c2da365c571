/* SPDX-License-Identifier: MIT */
/*
 * What a command switched on in the terminal and has not switched off again. A program that is
 * killed leaves the alternate screen, mouse reports or a hidden cursor behind; only what was seen
 * being set is reset, so a terminal that was left alone gets nothing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MODES_ROOM = 1024, CONTROL_NUMBERS = 32 };

/* A control sequence taken apart: CSI PREFIX numbers INTERMEDIATE FINAL. */
struct control {
	uint8_t prefix;       /* '<' to '?', or 0 */
	uint8_t intermediate; /* 0x20 to 0x2f, or 0 */
	uint8_t final;
	size_t count;
	unsigned number[CONTROL_NUMBERS]; /* the first of each group; an empty one is 0 */
};

struct modes {
	uint64_t changed;      /* bit: row of the table in modes.c that is not at its default */
	unsigned other;        /* bits of enum other in modes.c */
	unsigned keyboards[2]; /* depth of the kitty keyboard stack: main screen, alternate */
};

/* A control sequence was passed to the terminal. */
void modes_control(struct modes *modes, const struct control *control);

/* ESC INTERMEDIATE FINAL was passed (`intermediate` 0: none). */
void modes_escape(struct modes *modes, uint8_t intermediate, uint8_t final);

/* Operating system command `number` was passed; `text` follows the number's semicolon. */
void modes_command(struct modes *modes, unsigned number, const char *text);

/* SO and SI. */
void modes_shift(struct modes *modes, bool out);

/* Write what resets it all; at most MODES_ROOM bytes. Returns how many; nothing is set then. */
size_t modes_reset(struct modes *modes, uint8_t *ret_out);
