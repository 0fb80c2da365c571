/* SPDX-License-Identifier: MIT */
/* The tree behind json_merge.h: a document's values as slices of its bytes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "formats/json_merge.h"

enum json_kind { JSON_OBJECT, JSON_ARRAY, JSON_STRING, JSON_NUMBER, JSON_WORD };

struct json_value {
	enum json_kind kind;
	uint32_t length;
	uint32_t key_length;
	uint32_t count;   /* of children */
	const char *text; /* scalars: as spelled, with quotes; a slice of the document's bytes */
	const char *key;  /* as spelled, with quotes; NULL outside objects */
	uint64_t hash;    /* equal values have equal hashes; the order of members plays no part */
	uint64_t key_hash;
	struct json_value *child;
	struct json_value *next;
	struct json_value **index; /* members by key_hash; made when first searched */
	struct tally *tally;       /* for the merge of arrays */
};

struct json_block;

struct json_document {
	struct json_value *root;
	struct json_block *block;
	size_t values;
};

/* Parse. The values point into `bytes`, which must stay. `name` names the document in errors. */
int json_parse(struct json_bytes bytes, const char *name, struct json_document *ret_document,
	struct err *e);
void json_free(struct json_document *document);

#define AUTO_JSON __attribute__((cleanup(json_free))) struct json_document

/* Do two values mean the same? Strings are compared by what they say, numbers by spelling, objects
 * without regard to order. NULL equals only NULL. */
bool json_same(struct json_value *a, struct json_value *b);

/* The last member of `object` (NULL: none) whose key means what `like`'s key does, or NULL. */
struct json_value *json_member(struct json_value *object, const struct json_value *like);
