/* SPDX-License-Identifier: MIT */
/*
 * Bytes as a file of settings: read, packed, unpacked (must be the same), applied as an untrusted
 * project's would be, and shown. The same bytes once more as the answer of a confined child.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "policy/config_read.h"
#include "policy/expand.h"
#include "policy/show.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);
const char *__lsan_default_suppressions(void);

/* libfyaml 0.7.12 loses a buffer when a scalar ends in a syntax error. */
const char *__lsan_default_suppressions(void)
{
	return "leak:fy_atom_iter_grow_chunk\nleak:libfyaml.so";
}

static void round_trip(const struct config *config)
{
	AUTO_TEXT packed = { 0 };
	AUTO_CONFIG again = { 0 };
	config_pack(config, &packed);
	if (config_unpack(packed.data, packed.length, &again, NULL) < 0 ||
		again.count != config->count)
		abort();
	for (size_t i = 0; i < again.count; i++)
		if (again.entry[i].key != config->entry[i].key ||
			again.entry[i].line != config->entry[i].line ||
			strcmp(again.entry[i].text, config->entry[i].text) != 0)
			abort();
}

/* A value that narrows never widens: what the policy says afterwards still narrows it. */
static void apply(const struct config *config)
{
	struct policy policy = { 0 };
	AUTO_TEXT shown = { 0 };
	policy_defaults(&policy);
	for (size_t i = 0; i < config->count; i++) {
		const struct config_entry *entry = &config->entry[i];
		AUTO_FREE char *text = NULL;
		if (value_expand(entry->key, entry->text, "/workspace", "/home/user", &text, NULL) <
			0)
			continue;
		if (key_info[entry->key].who == WHO_USER &&
			policy_narrows(&policy, entry->key, text))
			abort();
		if (policy_narrows(&policy, entry->key, text) &&
			policy_set(&policy, entry->key, text, "fuzz", NULL) < 0)
			abort();
	}
	policy_show(&policy, true, &shown);
	if (memchr(shown.data, '\033', shown.length))
		abort();
	policy_free(&policy);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	AUTO_CONFIG config = { 0 };
	AUTO_CONFIG answer = { 0 };
	struct err e = { 0 };
	if (config_read((const char *)bytes, length, "fuzz", &config, &e) == 0) {
		round_trip(&config);
		apply(&config);
	} else if (strncmp(e.text, "fuzz:", 5) != 0) {
		abort();
	}
	if (config_unpack((const char *)bytes, length, &answer, NULL) == 0)
		apply(&answer);
	return 0;
}
