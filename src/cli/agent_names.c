/* SPDX-License-Identifier: MIT */
#include "cli/agent_names.h"

#include <dirent.h>
#include <string.h>

#include "base/memory.h"
#include "policy/agent_read.h"

/* The agent that `file` of the directory describes, or NULL; owned by the caller. */
static char *name_of_file(const char *file)
{
	static const char end[] = ".yaml";
	size_t length = strlen(file), rest = sizeof end - 1;
	if (length <= rest || strcmp(file + length - rest, end) != 0)
		return NULL;
	AUTO_FREE char *name = memory_format("%.*s", (int)(length - rest), file);
	return agent_name_is_valid(name) ? take_pointer(name) : NULL;
}

void agent_names(const char *config_directory, struct strings *ret_names)
{
	for (size_t i = 0; i < agents_builtin_count; i++)
		strings_add(ret_names, agents_builtin[i].name);
	AUTO_FREE char *directory =
		memory_format("%s/agents", config_directory ? config_directory : "");
	DIR *stream = config_directory ? opendir(directory) : NULL;
	if (!stream)
		return;
	for (struct dirent *entry; (entry = readdir(stream));) {
		AUTO_FREE char *name = name_of_file(entry->d_name);
		if (name && !agent_find(name))
			strings_add(ret_names, name);
	}
	closedir(stream);
}
