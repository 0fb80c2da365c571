/* SPDX-License-Identifier: MIT */
/* hutch gc [--list]: merge and remove what killed runs left; or list the sessions there are. */
#include <stdio.h>
#include <time.h>

#include "base/text.h"
#include "cli/verbs.h"
#include "store/session.h"

static void session_show(struct text *out, const struct session_info *session)
{
	char started[32] = "-";
	time_t when = (time_t)session->started;
	struct tm broken_down;
	if (when && localtime_r(&when, &broken_down))
		strftime(started, sizeof started, "%F %T", &broken_down);
	text_format(out, "%s  %-7s  %-19s  ", session->id, session->alive ? "running" : "dead",
		started);
	text_add_visible(out, session->workspace);
	text_add(out, "  ");
	text_add_visible(out, session->command);
	text_add(out, "\n");
}

static int sessions_show(struct err *e)
{
	AUTO_TEXT out = { 0 };
	struct session_info *sessions = NULL;
	size_t count = 0;
	if (session_list(&sessions, &count, e) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		session_show(&out, &sessions[i]);
	session_list_free(sessions, count);
	fputs(out.data ? out.data : "", stdout);
	return 0;
}

static int sessions_sweep(struct err *e)
{
	AUTO_STRINGS notes = { 0 };
	size_t count = 0;
	if (session_sweep(&notes, &count, e) < 0 || session_spare_remove(e) < 0)
		return -1;
	for (size_t i = 0; i < notes.count; i++)
		notice("%s", notes.item[i]);
	if (count)
		printf("%zu session%s removed\n", count, count == 1 ? "" : "s");
	return 0;
}

int verb_gc(struct options *options, int *ret_code, struct err *e)
{
	if (options->rest.count > 0) {
		err_set(e, 0, "gc: unexpected word '%s'", options->rest.item[0]);
		return err_hint(e, "hutch gc [--list]");
	}
	*ret_code = 0;
	return options_flag(options, "list") ? sessions_show(e) : sessions_sweep(e);
}
