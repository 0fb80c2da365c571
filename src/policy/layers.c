/* SPDX-License-Identifier: MIT */
#include "policy/layers.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/text.h"
#include "formats/yaml.h"
#include "policy/expand.h"
#include "policy/ground.h"
#include "policy/presets.h"

static const char *workspace_of(const struct layers_request *request)
{
	return request->workspace ? request->workspace : request->host->directory;
}

static const char *system_file_of(const struct layers_request *request)
{
	return request->system_file ? request->system_file : "/etc/hutch/config.yaml";
}

/* ---- Files ---- */

/* A file of settings. `hostile`: whoever wrote the project chose what lies there. 0 with `ret_data`
 * NULL when there is none; what is there but cannot be read is an error, since leaving it out could
 * leave out a restriction. */
static int settings_read(
	const char *path, bool hostile, char **ret_data, size_t *ret_length, struct err *e)
{
	struct stat status;
	int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (hostile ? O_NOFOLLOW : 0);
	AUTO_CLOSE int fd = open(path, flags);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (fd < 0 && errno == ELOOP && hostile)
		return err_set(e, 0, "%s is a symbolic link; it must be a plain file", path);
	if (fd < 0 || fstat(fd, &status) < 0)
		return err_set(e, errno, "cannot read the settings in %s", path);
	if (!S_ISREG(status.st_mode))
		return err_set(e, 0, "%s is not a plain file, so no settings can be read", path);
	if (!hostile && (status.st_mode & S_IWOTH)) {
		err_set(e, 0, "%s can be written by every user of this machine", path);
		return err_hint(e, "take that away: chmod o-w %s", path);
	}
	if (status.st_size > YAML_LIMIT)
		return err_set(e, 0, "%s is larger than 1 MiB", path);
	if (fd_read_all(fd, YAML_LIMIT, ret_data, ret_length, e) < 0)
		return err_prefix(e, "%s", path);
	return 0;
}

static int config_load(const char *path, struct config *ret_config, struct err *e)
{
	AUTO_FREE char *data = NULL;
	size_t length = 0;
	if (settings_read(path, false, &data, &length, e) < 0)
		return -1;
	return data ? config_read(data, length, path, ret_config, e) : 0;
}

/* ---- The project's file ---- */

int project_load(const struct layers_request *request, struct project *ret_project, struct err *e)
{
	const char *workspace = workspace_of(request);
	struct project project = { .path = path_join(workspace, PROJECT_FILE) };
	int result = settings_read(project.path, true, &project.data, &project.length, e);
	if (result == 0 && project.data)
		result = trust_look(request->host->state, workspace, project.data, project.length,
			&project.trust, &project.accepted, &project.accepted_length, e);
	if (result == 0 && project.data)
		result = (project.trust == TRUST_SAME ? config_read : config_read_confined)(
			project.data, project.length, project.path, &project.config, e);
	if (result < 0)
		project_free(&project);
	else
		*ret_project = project;
	return result;
}

void project_free(struct project *project)
{
	free(project->path);
	free(project->data);
	free(project->accepted);
	config_free(&project->config);
	*project = (struct project){ 0 };
}

#define AUTO_PROJECT __attribute__((cleanup(project_free))) struct project

/* ---- The files of one run, and how they are merged ---- */

struct layers {
	const struct layers_request *request;
	char *user_file;
	struct config system, user;
};

static void layers_free(struct layers *layers)
{
	free(layers->user_file);
	config_free(&layers->system);
	config_free(&layers->user);
}

#define AUTO_LAYERS __attribute__((cleanup(layers_free))) struct layers

static int layers_read(struct layers *layers, const struct layers_request *request, struct err *e)
{
	layers->request = request;
	if (config_load(system_file_of(request), &layers->system, e) < 0)
		return -1;
	layers->user_file = path_join(request->host->config, "config.yaml");
	return config_load(layers->user_file, &layers->user, e);
}

/* One entry with its paths made absolute, into the policy. */
static int entry_apply(struct policy *policy, const struct config_entry *entry, const char *file,
	const char *text, struct err *e)
{
	AUTO_FREE char *origin = memory_format("%s:%u", file, entry->line);
	return policy_set(policy, entry->key, text, origin, e);
}

static int entry_expand(const struct config_entry *entry, const char *file, const char *directory,
	const char *home, char **ret_text, struct err *e)
{
	if (value_expand(entry->key, entry->text, directory, home, ret_text, e) < 0)
		return err_prefix(e, "%s:%u:%u: %s", file, entry->line, entry->column,
			key_info[entry->key].name);
	return 0;
}

static int config_apply(struct policy *policy, const struct config *config, const char *file,
	const char *directory, const char *home, struct err *e)
{
	for (size_t i = 0; i < config->count; i++) {
		AUTO_FREE char *text = NULL;
		const struct config_entry *entry = &config->entry[i];
		if (entry_expand(entry, file, directory, home, &text, e) < 0 ||
			entry_apply(policy, entry, file, text, e) < 0)
			return -1;
	}
	return 0;
}

/* ---- The preset ---- */

static const char *preset_named(const struct config *config)
{
	for (size_t i = 0; i < config->count; i++)
		if (config->entry[i].key == KEY_PRESET)
			return config->entry[i].text;
	return NULL;
}

/* The name from the highest layer that has one. `project` may be NULL. */
static const char *preset_choose(const struct layers *layers, const struct project *project)
{
	const struct layers_request *request = layers->request;
	for (size_t i = request->flag_count; i > 0; i--)
		if (request->flag[i - 1].key == KEY_PRESET)
			return request->flag[i - 1].text;
	const char *name = NULL;
	if (project && project->trust == TRUST_SAME)
		name = preset_named(&project->config);
	if (!name)
		name = preset_named(&layers->user);
	if (!name)
		name = preset_named(&layers->system);
	return name ? name : key_info[KEY_PRESET].fallback;
}

static const struct preset *preset_find(const char *name, struct err *e)
{
	const char *nearest = NULL;
	AUTO_TEXT all = { 0 };
	for (size_t i = 0; i < presets_builtin_count; i++) {
		if (strcmp(presets_builtin[i].name, name) == 0)
			return &presets_builtin[i];
		word_nearest(name, presets_builtin[i].name, &nearest);
		text_format(&all, "%s%s", i ? ", " : "", presets_builtin[i].name);
	}
	err_set(e, 0, "there is no preset '%s'", name);
	if (nearest)
		err_hint(e, "did you mean '%s'? The presets are: %s", nearest, all.data);
	else
		err_hint(e, "the presets are: %s", all.data ? all.data : "none");
	return NULL;
}

static int preset_apply(struct policy *policy, const char *name,
	const struct layers_request *request, struct err *e)
{
	const struct preset *preset = preset_find(name, e);
	if (!preset)
		return -1;
	AUTO_FREE char *origin = memory_format("preset %s", name);
	const char *home = request->host->home;
	for (const struct preset_value *value = preset->value; value->key; value++) {
		enum key key;
		AUTO_FREE char *text = NULL;
		if (key_find(value->key, &key, e) < 0 ||
			value_expand(key, value->text, home, home, &text, e) < 0 ||
			policy_set(policy, key, text, origin, e) < 0)
			return err_prefix(e, "preset %s", name);
	}
	return 0;
}

/* ---- The layers, lowest first ---- */

static int below_apply(
	struct policy *policy, const struct layers *layers, const char *preset, struct err *e)
{
	const struct layers_request *request = layers->request;
	policy_defaults(policy);
	if (preset_apply(policy, preset, request, e) < 0)
		return -1;
	const char *home = request->host->home;
	if (config_apply(policy, &layers->system, system_file_of(request), "/", home, e) < 0)
		return -1;
	return config_apply(policy, &layers->user, layers->user_file, home, home, e);
}

int project_value(const struct layers_request *request, const struct project *project,
	const struct config_entry *entry, char **ret_text, struct err *e)
{
	return entry_expand(
		entry, project->path, workspace_of(request), request->host->home, ret_text, e);
}

/* One line, made of names of ours only: a hostile file cannot write to the terminal with it. */
static void untrusted_notice(
	const struct project *project, const bool *asked, struct strings *ret_notices)
{
	AUTO_TEXT names = { 0 };
	for (enum key key = 0; key < KEY_COUNT; key++)
		if (asked[key])
			text_format(&names, "%s%s", names.length ? ", " : "", key_info[key].name);
	if (!names.length)
		return;
	strings_take(ret_notices,
		memory_format(PROJECT_FILE " %s, so this was left out: %s; see: hutch trust",
			project->trust == TRUST_CHANGED ? "changed since you trusted it"
							: "is not trusted",
			names.data));
}

static int untrusted_apply(struct policy *policy, const struct layers_request *request,
	const struct project *project, struct strings *ret_notices, struct err *e)
{
	bool asked[KEY_COUNT] = { false };
	for (size_t i = 0; i < project->config.count; i++) {
		AUTO_FREE char *text = NULL;
		const struct config_entry *entry = &project->config.entry[i];
		if (project_value(request, project, entry, &text, e) < 0)
			return -1;
		if (!policy_narrows(policy, entry->key, text))
			asked[entry->key] = true;
		else if (entry_apply(policy, entry, project->path, text, e) < 0)
			return -1;
	}
	untrusted_notice(project, asked, ret_notices);
	return 0;
}

static int project_apply(struct policy *policy, const struct layers_request *request,
	const struct project *project, struct strings *ret_notices, struct err *e)
{
	if (!project->data)
		return 0;
	if (project->trust != TRUST_SAME)
		return untrusted_apply(policy, request, project, ret_notices, e);
	return config_apply(policy, &project->config, project->path, workspace_of(request),
		request->host->home, e);
}

static int flags_apply(struct policy *policy, const struct layers_request *request, struct err *e)
{
	for (size_t i = 0; i < request->flag_count; i++) {
		const struct layers_flag *flag = &request->flag[i];
		AUTO_FREE char *text = NULL;
		if (value_expand(flag->key, flag->text, request->host->directory,
			    request->host->home, &text, e) < 0 ||
			policy_set(policy, flag->key, text, flag->origin, e) < 0)
			return err_prefix(e, "%s", flag->origin);
	}
	return 0;
}

/* ---- All of it ---- */

static int load(const struct layers_request *request, const struct project *project,
	struct policy *policy, struct strings *ret_notices, struct err *e)
{
	AUTO_LAYERS layers = { 0 };
	if (layers_read(&layers, request, e) < 0)
		return -1;
	if (below_apply(policy, &layers, preset_choose(&layers, project), e) < 0)
		return -1;
	if (!project)
		return 0;
	if (project_apply(policy, request, project, ret_notices, e) < 0)
		return -1;
	return flags_apply(policy, request, e);
}

int layers_load(const struct layers_request *request, struct policy *ret_policy,
	struct strings *ret_notices, struct err *e)
{
	AUTO_PROJECT project = { 0 };
	*ret_policy = (struct policy){ 0 };
	/* No run has such a workspace; looking at settings there is fine, without the project's. */
	bool is_project = ground_check(request->host, workspace_of(request), NULL) == 0;
	if ((!is_project || project_load(request, &project, e) == 0) &&
		load(request, &project, ret_policy, ret_notices, e) == 0)
		return 0;
	policy_free(ret_policy);
	return -1;
}

int layers_load_below(
	const struct layers_request *request, struct policy *ret_policy, struct err *e)
{
	*ret_policy = (struct policy){ 0 };
	if (load(request, NULL, ret_policy, NULL, e) == 0)
		return 0;
	policy_free(ret_policy);
	return -1;
}
