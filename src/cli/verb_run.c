/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/request.h"
#include "cli/summary.h"
#include "cli/verbs.h"
#include "supervisor/home.h"
#include "supervisor/supervisor.h"

static void notes_print(struct strings *notes)
{
	for (size_t i = 0; i < notes->count; i++)
		notice("%s", notes->item[i]);
	strings_free(notes);
}

static int print_bwrap(const struct plan *plan, struct err *e)
{
	AUTO_TEXT out = { 0 };
	if (plan_show_bwrap(plan, 11, true, &out, e) < 0)
		return -1;
	fputs(out.data, stderr);
	return 0;
}

static int run(struct options *options, struct request *request, struct home *home, int *ret_code,
	struct err *e)
{
	struct limits limits;
	if (request_compile(request, home->source, e) < 0 || request_require(request, e) < 0 ||
		session_record(&home->session, request->command, request->host.directory, e) < 0)
		return -1;
	if (options_flag(options, "print") && print_bwrap(&request->plan, e) < 0)
		return -1;
	notes_print(&request->notes);
	if (isatty(STDERR_FILENO))
		summary_print(request);
	struct supervisor_options how = {
		.timeout_ms = policy_number(&request->policy, KEY_TIMEOUT),
		.terminal_raw = policy_word(&request->policy, KEY_TERMINAL) == WORD_TERMINAL_RAW,
		.keep = home->session.lock,
		.limits = &limits,
	};
	if (limits_prepare(&request->plan, &limits, e) < 0)
		return -1;
	return supervisor_run(&engine_namespace, &request->plan, &how, ret_code, e);
}

int verb_run(struct options *options, int *ret_code, struct err *e)
{
	if (options_flag(options, "prompt"))
		return verb_prompt(options, ret_code, e);
	AUTO_REQUEST request;
	struct home home;
	if (request_read(options, NULL, &request, e) < 0 || workspace_check(&request.host, e) < 0 ||
		home_prepare(&request.policy, &request.host, &request.agents, &home, &request.notes,
			e) < 0)
		return -1;
	int result = run(options, &request, &home, ret_code, e);
	/* The sandbox's own failure is what the user should hear of first. */
	struct err late = { 0 };
	if (home_finish(&home, &request.notes, &late) < 0 && result == 0) {
		err_print(&late);
	}
	notes_print(&request.notes);
	return result;
}
