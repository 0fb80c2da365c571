/* SPDX-License-Identifier: MIT */
/* However the bytes are split the same comes out; what came out is passed unchanged; room suffices.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t run(const uint8_t *data, size_t size, size_t piece, uint8_t *ret_out)
{
	static struct filter filter;
	filter_init(&filter);
	size_t used = 0;
	for (size_t at = 0; at < size; at += piece) {
		size_t now = size - at < piece ? size - at : piece;
		size_t room = FILTER_ROOM(now);
		uint8_t *out = malloc(room); /* of exactly that size, for the address sanitizer */
		size_t got = filter_feed(&filter, data + at, now, out);
		if (got > room)
			abort();
		memcpy(ret_out + used, out, got);
		used += got;
		free(out);
	}
	uint8_t end[FILTER_FINISH];
	if (filter_finish(&filter, end) > sizeof end)
		abort();
	return used;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > 1 << 16)
		return 0;
	uint8_t *whole = malloc(FILTER_ROOM(size)), *split = malloc(FILTER_ROOM(size) * 3);
	size_t length = run(data, size, size ? size : 1, whole);
	if (run(data, size, 1 + size % 7, split) != length || memcmp(whole, split, length) != 0)
		abort();
	if (run(whole, length, length ? length : 1, split) != length ||
		memcmp(whole, split, length) != 0)
		abort();
	free(whole);
	free(split);
	return 0;
}
