/* SPDX-License-Identifier: MIT */
#include "policy/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/strings.h"
#include "base/text.h"
#include "formats/yaml.h"
#include "policy/agent_read.h"

const struct agent *agent_find(const char *name)
{
	for (size_t i = 0; i < agents_builtin_count; i++)
		if (strcmp(agents_builtin[i].name, name) == 0)
			return &agents_builtin[i];
	return NULL;
}

static bool list_has(const char *const *list, const char *text)
{
	for (; *list; list++)
		if (strcmp(*list, text) == 0)
			return true;
	return false;
}

const struct agent *agent_by_command(const char *command)
{
	for (size_t i = 0; i < agents_builtin_count; i++)
		if (list_has(agents_builtin[i].commands, command))
			return &agents_builtin[i];
	return NULL;
}

/* The bytes of the user's file. NULL and success when there is none; a FIFO does not hang us. */
static int file_open_read(const char *path, char **ret_data, size_t *ret_length, struct err *e)
{
	struct stat status;
	*ret_data = NULL;
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (fd < 0 || fstat(fd, &status) < 0)
		return err_set(e, errno, "cannot open %s", path);
	if (!S_ISREG(status.st_mode))
		return err_set(e, 0, "%s is not a file", path);
	if (fd_read_all(fd, YAML_LIMIT, ret_data, ret_length, e) < 0)
		return err_prefix(e, "%s", path);
	return 0;
}

/* The user's own agent, or NULL when there is no such file. */
static int own_load(const char *name, const char *config_directory, const struct agent **ret_agent,
	struct err *e)
{
	*ret_agent = NULL;
	if (!config_directory || !agent_name_is_valid(name))
		return 0;
	AUTO_FREE char *data = NULL;
	struct yaml *document = NULL;
	struct agent *agent = NULL;
	size_t length = 0;
	AUTO_FREE char *path = memory_format("%s/agents/%s.yaml", config_directory, name);
	if (file_open_read(path, &data, &length, e) < 0)
		return -1;
	if (!data)
		return 0;
	if (yaml_parse(data, length, path, &document, e) < 0)
		return -1;
	int result = agent_read(document, path, name, &agent, e);
	yaml_free(document);
	if (result == 0)
		*ret_agent = agent;
	return result;
}

static int unknown_fail(const char *name, const char *config_directory, struct err *e)
{
	const char *nearest = NULL;
	for (size_t i = 0; i < agents_builtin_count; i++)
		word_nearest(name, agents_builtin[i].name, &nearest);
	err_set(e, 0, "there is no agent '%.100s'", name);
	if (nearest)
		return err_hint(e, "the nearest is '%s'; hutch agents lists them all", nearest);
	if (!config_directory)
		return err_hint(e, "hutch agents lists them all");
	return err_hint(e, "hutch agents lists them all; your own can be a file in %s/agents",
		config_directory);
}

int agent_load(const char *name, const char *config_directory, const struct agent **ret_agent,
	struct err *e)
{
	if (own_load(name, config_directory, ret_agent, e) < 0)
		return -1;
	if (!*ret_agent)
		*ret_agent = agent_find(name);
	return *ret_agent ? 0 : unknown_fail(name, config_directory, e);
}

int agent_for_command(const char *command, const char *config_directory,
	const struct agent **ret_agent, struct err *e)
{
	const char *name = path_base(command);
	const struct agent *builtin = agent_by_command(name);
	if (builtin)
		return agent_load(builtin->name, config_directory, ret_agent, e);
	return own_load(name, config_directory, ret_agent, e);
}

void agent_free(const struct agent *agent)
{
	uintptr_t first = (uintptr_t)agents_builtin;
	uintptr_t after = (uintptr_t)(agents_builtin + agents_builtin_count);
	if ((uintptr_t)agent < first || (uintptr_t)agent >= after)
		agent_release((struct agent *)agent);
}

bool agent_owns(const struct agent *agent, const char *path)
{
	for (size_t i = 0; i < agents_builtin_count; i++) {
		const struct agent *other = &agents_builtin[i];
		if (strcmp(other->name, agent->name) != 0 &&
			(list_has(other->state, path) || list_has(other->read_only, path)))
			return false;
	}
	return true;
}
