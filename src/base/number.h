/* SPDX-License-Identifier: MIT */
/* Numbers as people write them. */
#pragma once

#include <stdint.h>

#include "base/err.h"

/* A decimal number from `least` to `most`. `what` names it in the error. */
int number_parse(const char *text, const char *what, uint64_t least, uint64_t most,
	uint64_t *ret_number, struct err *e);

/* Bytes: 4096, 512K, 64M, 2G, 1T; the units are powers of 1024. */
int size_parse(const char *text, uint64_t *ret_bytes, struct err *e);

/* Milliseconds: 90 (seconds), 500ms, 30s, 10m, 2h, 1d. */
int duration_parse(const char *text, uint64_t *ret_milliseconds, struct err *e);

/* Bytes in the shortest of those forms, by value: no buffer to own. */
struct size_text {
	char text[24];
};
struct size_text size_show(uint64_t bytes);
