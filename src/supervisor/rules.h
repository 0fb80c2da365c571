/* SPDX-License-Identifier: MIT */
/* Which escape sequences may reach the user's terminal. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "supervisor/modes.h"

/* ESC BETWEEN FINAL (`between` 0: none). */
bool rules_allow_escape(uint8_t between, uint8_t final);

/* Take apart what follows ESC [, final byte included. False: malformed. */
bool rules_read_control(const uint8_t *bytes, size_t length, struct control *ret_control);
bool rules_allow_control(const struct control *control);

/* What follows ESC ] without its end. When it is allowed, its number and the text after it. */
bool rules_allow_command(const char *command, unsigned *ret_number, const char **ret_text);
