/* SPDX-License-Identifier: MIT */
/*
 * YAML 1.2 (and so JSON) as a tree of plain values. No anchors, no aliases, no tags, no directives,
 * no duplicate keys, one document; valid UTF-8; at most YAML_LIMIT bytes, YAML_DEPTH levels and
 * YAML_BLANK_LINES empty lines in a row. Bytes in, values out: nothing here opens a file, and
 * nothing is printed. The time is about linear in the length, whatever the bytes.
 */
#pragma once

#include <stddef.h>

#include "base/err.h"

enum { YAML_LIMIT = 1 << 20, YAML_DEPTH = 16, YAML_BLANK_LINES = 100 };

enum yaml_kind { YAML_SCALAR, YAML_LIST, YAML_MAP };

struct yaml {
	enum yaml_kind kind;
	unsigned line; /* from 1 */
	unsigned column;
	char *key;    /* in a map; else NULL */
	char *scalar; /* SCALAR: as written, without quotes; "" for null */
	struct yaml *child;
	size_t count;
};

/* Parse. On failure the sentence starts with NAME:LINE:COLUMN. An empty document is an empty map.
 */
int yaml_parse(const char *data, size_t length, const char *name, struct yaml **ret_document,
	struct err *e);

/* The child of a map under `key`, or NULL. */
const struct yaml *yaml_get(const struct yaml *map, const char *key);

void yaml_free(struct yaml *document); /* NULL is fine */
