/* SPDX-License-Identifier: MIT */
#include "cli/request.h"

#include <string.h>
#include <unistd.h>

#include "base/memory.h"

static int command_choose(const struct options *options, char *const *fallback,
	struct request *request, struct err *e)
{
	static char bash[] = "bash";
	static char *const shell[] = { bash, NULL };
	const char *preset = policy_value(&request->policy, KEY_PRESET);
	request->command = options->rest.count ? options->rest.item : fallback;
	if (options->rest.count == 0 && preset && strcmp(preset, "shell") == 0) {
		request->command = shell;
		request->interactive = true;
	}
	if (request->command)
		return 0;
	err_set(e, 0, "no command given");
	return err_hint(
		e, "hutch claude runs an agent, hutch -- bash a shell; hutch --help tells more");
}

int request_read(
	struct options *options, char *const *fallback, struct request *ret_request, struct err *e)
{
	struct request *request = ret_request;
	*request = (struct request){ .host.directory_fd = -1 };
	if (host_gather(environ, &request->host, e) < 0)
		return -1;
	struct layers_request layers = {
		.host = &request->host,
		.flag = options->value,
		.flag_count = options->count,
	};
	if (layers_load(&layers, &request->policy, &request->notes, e) < 0 ||
		command_choose(options, fallback, request, e) < 0)
		return -1;
	return agents_choose(
		&request->policy, &request->host, request->command[0], &request->agents, e);
}

int request_compile(struct request *request, const char *home_source, struct err *e)
{
	AUTO_FREE char *placeholder = memory_format("%s/sessions/ID/home", request->host.state);
	struct compile compile = {
		.policy = &request->policy,
		.host = &request->host,
		.agents = &request->agents,
		.home_source = home_source ? home_source : placeholder,
		.command = request->command,
		.interactive = request->interactive,
	};
	if (policy_compile(&compile, &request->plan, &request->notes, e) < 0)
		return -1;
	return plan_check(&request->plan, e);
}

struct question request_question(const struct request *request)
{
	return (struct question){
		.engine = &engine_namespace,
		.plan = &request->plan,
		.timeout_ms = policy_number(&request->policy, KEY_TIMEOUT),
	};
}

int request_require(const struct request *request, struct err *e)
{
	const struct setting *names = &request->policy.setting[KEY_REQUIRE];
	const struct question question = request_question(request);
	for (size_t i = 0; i < names->count; i++)
		if (guarantee_require(&question, names->item[i].text, e) < 0)
			return err_prefix(e, "%s", names->item[i].origin);
	return 0;
}

void request_free(struct request *request)
{
	plan_free(&request->plan);
	policy_free(&request->policy);
	strings_free(&request->notes);
	host_free(&request->host);
}
