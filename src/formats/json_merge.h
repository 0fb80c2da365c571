/* SPDX-License-Identifier: MIT */
/*
 * Three versions of a JSON document become one: `base` is what two writers started from, `host` and
 * `box` are what they made of it.
 *
 *   - What only one side changed (added, removed) is taken from that side.
 *   - Objects that both changed are merged by key, at any depth.
 *   - Arrays that both changed: what either side removed is gone, what either side added is there,
 *     in the host's order with the box's additions where the box put them. Equal elements are
 *     counted: the same addition on both sides is one addition.
 *   - Removed by one side and changed by the other: the change stays.
 *   - Numbers that both sides raised: the greater one. Start counters and time stamps, which every
 *     run raises, must never go back.
 *   - Any other value that both changed: the box's, for it is the one that writes last. Each such
 *     value is counted in `ret_conflicts`, so that the caller can keep the host's version.
 *
 * Scalars are never re-encoded: they are copied as they were spelled. Numbers beyond 64 bits, 0.1,
 * and strings with half a surrogate pair, all of which agents do write, come out as they went in.
 * Of equal keys in one object the last counts, as in every agent's own parser.
 *
 * Bytes in, bytes out: nothing here opens a file. Input is hostile: at most JSON_LIMIT bytes,
 * JSON_DEPTH levels and JSON_VALUES values, UTF-8 only (a byte order mark is passed over).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/text.h"

enum {
	JSON_LIMIT = 32 << 20, /* bytes, of each version and of the result */
	JSON_DEPTH = 256,
	JSON_VALUES = 1 << 20,
};

struct json_bytes {
	const char *data; /* NULL: this version does not exist */
	size_t length;
};

/* One well-formed document within the limits? The sentence says where not, by line. */
int json_check(struct json_bytes document, const char *name, struct err *e);

/* Merge. A base that is missing or broken counts as an empty one; host and box must be well-formed.
 * The result is indented as the box's version is. */
int json_merge(struct json_bytes base, struct json_bytes host, struct json_bytes box,
	struct text *ret_merged, unsigned *ret_conflicts, struct err *e);
