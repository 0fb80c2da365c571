/* SPDX-License-Identifier: MIT */
/*
 * A configuration document as a flat list of settings, in the order of the file. Every key is known
 * and every value is one that its key can have; what a value may do is decided in layers.c.
 *
 *	network: off			one value
 *	bind: [~/.cache/x, ../data]	a list; a single value is a list of one, [] starts afresh
 *	env: {EDITOR: vi}		only for env: a map, the same as [EDITOR=vi]
 */
#pragma once

#include <stddef.h>

#include "base/err.h"
#include "policy/policy.h"

struct config_entry {
	enum key key;
	unsigned line; /* from 1 */
	unsigned column;
	char *text; /* "" empties a list */
};

struct config {
	struct config_entry *entry;
	size_t count;
};

/* Read the `length` bytes at `data`. `name` is the file in errors, which begin NAME:LINE:COLUMN.
 * The caller frees with config_free. */
int config_read(const char *data, size_t length, const char *name, struct config *ret_config,
	struct err *e);

/* The same for bytes that nobody vouches for: parsed in a confined child, its answer checked. */
int config_read_confined(const char *data, size_t length, const char *name,
	struct config *ret_config, struct err *e);

/* How the answer of that child looks; apart so that it can be fuzzed. */
struct text;
void config_pack(const struct config *config, struct text *ret_bytes);
int config_unpack(const char *bytes, size_t length, struct config *ret_config, struct err *e);

void config_free(struct config *config);

#define AUTO_CONFIG __attribute__((cleanup(config_free))) struct config
