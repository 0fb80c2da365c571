/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "formats/git_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* What was read and quoted again reads the same. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	char *data = memory_alloc(length + 1, 1);
	memcpy(data, bytes, length);
	char *value = git_config_value(data, "user", "name");
	if (value) {
		char *quoted = git_config_quote(value);
		char *file = memory_format("[user]\nname = %s\n", quoted);
		char *again = git_config_value(file, "user", "name");
		if (!again || strcmp(again, value) != 0)
			abort();
		free(again);
		free(file);
		free(quoted);
	}
	free(value);
	free(data);
	return 0;
}
