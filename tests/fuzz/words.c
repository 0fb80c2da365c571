/* SPDX-License-Identifier: MIT */
/* Any bytes as a word of JSON, of bash and for the eye: what comes out does nothing to a terminal,
 * and JSON reads back. */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "plan/describe.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void must(bool condition)
{
	if (!condition)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	AUTO_FREE char *word = strndup((const char *)bytes, length);
	AUTO_TEXT seen = { 0 };
	text_add_visible(&seen, word);
	must(!seen.data || text_is_visible(seen.data));

	AUTO_TEXT bash = { 0 };
	text_add_bash_word(&bash, word);
	must(text_is_visible(bash.data));

	AUTO_TEXT json = { 0 };
	text_add_json_string(&json, word);
	must(text_is_visible(json.data));
	json_t *value = json_loads(json.data, JSON_DECODE_ANY, NULL);
	must(json_is_string(value));
	must(!text_is_visible(word) || strcmp(json_string_value(value), word) == 0);
	json_decref(value);
	return 0;
}
