/* SPDX-License-Identifier: MIT */
#include "cli/summary.h"

#include "base/text.h"

static const char *key_word(const struct request *request, enum key key)
{
	return word_info[policy_word(&request->policy, key)].word;
}

static void agents_show(const struct request *request, struct text *out)
{
	if (request->agents.count == 0) {
		text_add(out, "none");
		return;
	}
	for (size_t i = 0; i < request->agents.count; i++)
		text_format(out, "%s%s", i ? ", " : "", request->agents.agent[i]->name);
}

void summary_print(const struct request *request)
{
	AUTO_TEXT line = { 0 };
	text_format(&line,
		"%s is writable, home is %s, network is %s, state of: ", request->host.directory,
		key_word(request, KEY_HOME),
		policy_word(&request->policy, KEY_NETWORK) == WORD_NETWORK_HOST ? "the host's"
										: "off");
	agents_show(request, &line);
	notice("%s (hutch plan tells all)", line.data);
}
