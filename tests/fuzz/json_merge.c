/* SPDX-License-Identifier: MIT */
/* Three documents with a byte 0xff between them. What is merged must be well-formed, a merge with
 * oneself must change nothing, and doing it twice must give the same. */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/json_merge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct json_bytes cut(const char **at, const char *end)
{
	struct json_bytes part = { *at, (size_t)(end - *at) };
	const char *mark = part.length ? memchr(*at, 0xff, part.length) : NULL;
	if (mark)
		part.length = (size_t)(mark - *at);
	*at = mark ? mark + 1 : end;
	return part;
}

static void require(int condition)
{
	if (!condition)
		abort();
}

/* What the library accepts we accept; it refuses more: half surrogate pairs, large numbers. (It
 * takes a NUL after the document for its end.) */
static void compare_with_library(struct json_bytes document)
{
	if (memchr(document.data, '\0', document.length))
		return;
	json_t *other =
		json_loadb(document.data, document.length, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	if (other)
		require(json_check(document, "", NULL) == 0);
	json_decref(other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data, *end = at + size;
	if (!size)
		return 0;
	struct json_bytes base = cut(&at, end), host = cut(&at, end), box = cut(&at, end);
	unsigned conflicts;
	compare_with_library(base);
	AUTO_TEXT merged = { 0 };
	AUTO_TEXT again = { 0 };
	AUTO_TEXT third = { 0 };
	if (json_merge(base, host, box, &merged, &conflicts, NULL) < 0)
		return 0;
	struct json_bytes result = { merged.data, merged.length };
	require(json_check(result, "", NULL) == 0);
	require(json_merge(base, result, box, &again, &conflicts, NULL) == 0);
	result = (struct json_bytes){ again.data, again.length };
	require(json_check(result, "", NULL) == 0);
	if (json_check(base, "", NULL) < 0)
		return 0;
	require(json_merge(base, result, base, &third, &conflicts, NULL) == 0 && conflicts == 0);
	return 0;
}
