/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "cli/request.h"
#include "cli/verbs.h"

/* Inside a sandbox the text that was made for it outside is the true one. */
static int print_inside(void)
{
	FILE *file = fopen(GUIDANCE_PATH, "re");
	if (!file)
		return -1;
	char buffer[4096];
	size_t got;
	while ((got = fread(buffer, 1, sizeof buffer, file)) > 0)
		fwrite(buffer, 1, got, stdout);
	fclose(file);
	return 0;
}

int verb_prompt(struct options *options, int *ret_code, struct err *e)
{
	static char agent[] = "claude";
	static char *const fallback[] = { agent, NULL };
	AUTO_REQUEST request = { .host.directory_fd = -1 };
	(void)ret_code;
	if (print_inside() == 0)
		return 0;
	if (request_read(options, fallback, &request, e) < 0 ||
		request_compile(&request, NULL, e) < 0)
		return -1;
	const struct op *guidance = plan_find_target(&request.plan, GUIDANCE_PATH);
	if (fputs(guidance->value, stdout) < 0 || fflush(stdout) != 0)
		return err_set(e, 0, "cannot write the text");
	return 0;
}
