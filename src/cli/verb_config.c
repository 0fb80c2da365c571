/* SPDX-License-Identifier: MIT */
/* hutch config [--origins] [KEY]: the settings in force here, and where each came from. */
#include <errno.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/text.h"
#include "cli/verbs.h"
#include "policy/host.h"
#include "policy/show.h"

/* `name`: one key; NULL: all. */
static int settings_show(const struct host *host, const char *name, bool origins,
	struct text *ret_text, struct err *e)
{
	enum key key = KEY_COUNT;
	struct policy policy;
	AUTO_STRINGS notices = { 0 };
	const struct layers_request request = { .host = host };
	if (name && key_find(name, &key, e) < 0)
		return -1;
	if (layers_load(&request, &policy, &notices, e) < 0)
		return -1;
	if (name)
		policy_show_key(&policy, key, origins, ret_text);
	else
		policy_show(&policy, origins, ret_text);
	policy_free(&policy);
	for (size_t i = 0; i < notices.count; i++)
		notice("%s", notices.item[i]);
	return 0;
}

int verb_config(struct options *options, int *ret_code, struct err *e)
{
	struct host host = { .directory_fd = -1 };
	AUTO_TEXT text = { 0 };
	(void)ret_code;
	if (options->rest.count > 1) {
		err_set(e, 0, "hutch config shows one KEY, not also '%s'", options->rest.item[1]);
		return err_hint(e, "without a KEY it shows all of them");
	}
	int result = host_gather(environ, &host, e);
	if (result == 0)
		result = settings_show(&host, options->rest.count ? options->rest.item[0] : NULL,
			options_flag(options, "origins") != NULL, &text, e);
	host_free(&host);
	if (result == 0 && fd_write_all(STDOUT_FILENO, text.data, text.length) < 0)
		return err_set(e, errno, "cannot write the settings");
	return result;
}
