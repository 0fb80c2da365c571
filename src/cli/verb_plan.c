/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "apply/seccomp.h"
#include "base/number.h"
#include "base/text.h"
#include "cli/request.h"
#include "cli/verbs.h"

/* "0.N" */
static int bwrap_minor(const char *version, unsigned *ret_minor, struct err *e)
{
	uint64_t minor;
	if (!version)
		version = "0.11";
	if (strncmp(version, "0.", 2) != 0 ||
		number_parse(version + 2, "the version", 1, 99, &minor, e) < 0)
		return err_set(e, 0, "'%s' is not a version of bubblewrap; write for example 0.8",
			version);
	*ret_minor = (unsigned)minor;
	return 0;
}

static int filters_show(const struct plan *plan, struct text *out, struct err *e)
{
	for (size_t i = 0; i < plan->count; i++)
		if (plan->op[i].kind == OP_SECCOMP && seccomp_show(plan->op[i].name, out, e) < 0)
			return -1;
	return 0;
}

static int plan_format(const struct options *options, const struct request *request,
	struct text *out, struct err *e)
{
	const struct plan *plan = &request->plan;
	const struct question question = request_question(request);
	const char *format = options_flag(options, "format");
	unsigned minor = 0;
	if (!format || strcmp(format, "text") == 0) {
		plan_show_text(plan, out);
		guarantees_show(&question, out);
		return 0;
	}
	if (strcmp(format, "json") == 0) {
		plan_show_json(plan, out);
		guarantees_show_json(&question, out);
		return 0;
	}
	if (strcmp(format, "seccomp") == 0)
		return filters_show(plan, out, e);
	if (strcmp(format, "bwrap") != 0)
		return err_set(e, 0, "--format is text, json, bwrap or seccomp, not '%s'", format);
	if (bwrap_minor(options_flag(options, "bwrap-version"), &minor, e) < 0)
		return -1;
	return plan_show_bwrap(plan, minor, true, out, e);
}

int verb_plan(struct options *options, int *ret_code, struct err *e)
{
	AUTO_REQUEST request;
	AUTO_TEXT out = { 0 };
	(void)ret_code;
	if (request_read(options, NULL, &request, e) < 0 ||
		request_compile(&request, NULL, e) < 0 || request_require(&request, e) < 0 ||
		plan_format(options, &request, &out, e) < 0)
		return -1;
	for (size_t i = 0; i < request.notes.count; i++)
		notice("%s", request.notes.item[i]);
	if (fputs(out.data, stdout) < 0 || fflush(stdout) != 0)
		return err_set(e, 0, "cannot write the plan");
	return 0;
}
