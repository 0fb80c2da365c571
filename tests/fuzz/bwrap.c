/* SPDX-License-Identifier: MIT */
/*
 * Bytes as bubblewrap's command line, words ending in NUL: read, and, if that succeeds, checked and
 * printed in every format. What is printed does nothing to a terminal. Descriptor 0, which --args may
 * name, is to be /dev/null.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "plan/read_bwrap.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void show(const struct plan *plan)
{
	struct err e;
	for (unsigned minor = 4; minor <= 11; minor += 7) {
		AUTO_TEXT out = { 0 };
		if (plan_show_bwrap(plan, minor, minor == 4, &out, &e) == 0 && out.data &&
			memchr(out.data, '\033', out.length))
			abort();
	}
	AUTO_TEXT text = { 0 };
	AUTO_TEXT json = { 0 };
	plan_show_text(plan, &text);
	plan_show_json(plan, &json);
	if (memchr(text.data, '\033', text.length) || memchr(json.data, '\033', json.length))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	char *words[66] = { (char *)"bwrap" };
	int count = 1;
	AUTO_FREE char *data = memory_alloc(length + 1, 1);
	memcpy(data, bytes, length);
	for (char *word = data; word < data + length && count < 65; word += strlen(word) + 1)
		words[count++] = word;
	const struct bwrap_caller caller = { 1000, 1000, true, 0 };
	struct bwrap_request request;
	struct err e = { 0 };
	int result = read_bwrap(count, words, &caller, &request, &e);
	if (result < 0 && !e.text[0])
		abort();
	if (result == 0 && request.task == BWRAP_RUN && plan_check(&request.plan, &e) == 0)
		show(&request.plan);
	bwrap_request_free(&request);
	return 0;
}
