/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/executable.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

struct input {
	const uint8_t *bytes;
	size_t length;
};

static ssize_t input_read(void *data, uint64_t offset, void *buffer, size_t length)
{
	const struct input *input = data;
	if (offset >= input->length)
		return 0;
	size_t left = input->length - offset;
	length = length < left ? length : left;
	memcpy(buffer, input->bytes + offset, length);
	return (ssize_t)length;
}

static void word_seen(const char *word, bool first, void *data)
{
	*(size_t *)data += strlen(word) + first;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct input input = { bytes, length };
	struct executable executable;
	size_t seen = 0;
	executable_parse(input_read, &input, &executable);
	if (strlen(executable.run_path) >= sizeof executable.run_path ||
		strlen(executable.interpreter) >= EXECUTABLE_LINE)
		abort();
	char *text = strndup((const char *)bytes, length);
	executable_shell_words(text, word_seen, &seen);
	free(text);
	return 0;
}
