/* SPDX-License-Identifier: MIT */
/* Any bytes: a tree or one sentence that starts with the name, and nothing on stderr. Whatever is a
 * tree also goes through the reader of agents, whose paths must then be safe ones. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/yaml.h"
#include "policy/agent_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* libfyaml 0.7.12 loses the pieces of some malformed scalars; a launcher outlives that. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:fy_atom_iter_grow_chunk\nleak:libfyaml.so"; /* the library may have no symbols */
}

static void require(int condition)
{
	if (!condition)
		abort();
}

static void paths_check(const char *const *paths)
{
	for (; *paths; paths++) {
		require(strncmp(*paths, "~/", 2) == 0 || **paths == '/');
		require(!strstr(*paths, "/../"));
	}
}

static void agent_check(const struct yaml *document)
{
	struct agent *agent;
	struct err e = { 0 };
	if (agent_read(document, "FILE", NULL, &agent, &e) < 0) {
		require(strncmp(e.text, "FILE:", 5) == 0);
		return;
	}
	paths_check(agent->state);
	paths_check(agent->read_only);
	agent_release(agent);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct yaml *document;
	struct err e = { 0 };
	if (yaml_parse((const char *)data, size, "FILE", &document, &e) < 0) {
		require(strncmp(e.text, "FILE:", 5) == 0);
		return 0;
	}
	agent_check(document);
	yaml_free(document);
	return 0;
}
