/* SPDX-License-Identifier: MIT */
#include "cli/request.h"

#include <string.h>
#include <unistd.h>

#include "base/memory.h"

int request_read(struct options *options, char *const *fallback, struct request *ret_request,
	struct err *e)
{
	struct request *request = ret_request;
	*request = (struct request){ .host.directory_fd = -1 };
	request->command = options->rest.count ? options->rest.item : fallback;
	if (!request->command) {
		err_set(e, 0, "no command given");
		return err_hint(e, "hutch claude runs an agent, hutch -- bash a shell; hutch --help "
				   "tells more");
	}
	if (host_gather(environ, &request->host, e) < 0)
		return -1;
	struct layers_request layers = {
		.host = &request->host,
		.flag = options->value,
		.flag_count = options->count,
	};
	if (layers_load(&layers, &request->policy, &request->notes, e) < 0)
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
	};
	if (policy_compile(&compile, &request->plan, &request->notes, e) < 0)
		return -1;
	return plan_check(&request->plan, e);
}

void request_free(struct request *request)
{
	plan_free(&request->plan);
	policy_free(&request->policy);
	strings_free(&request->notes);
	host_free(&request->host);
}
