/* SPDX-License-Identifier: MIT */
/*
 * hutch trust [--yes] [show|allow|deny]: what the project's file asks for, and the user's answer.
 *
 * The file is read once. What is shown, asked about and kept are those bytes: a command that
 * rewrites the file meanwhile changes nothing of the answer.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/text.h"
#include "cli/verbs.h"
#include "policy/ground.h"
#include "policy/host.h"
#include "policy/show.h"

static const char usage[] = "usage: hutch trust [--yes] [show|allow|deny]";

static int say(const char *text, size_t length, struct err *e)
{
	if (fd_write_all(STDOUT_FILENO, text, length) < 0)
		return err_set(e, errno, "cannot write to the output");
	return 0;
}

static int absent(const struct project *project, struct err *e)
{
	err_set(e, 0, "there is no %s here", project->path);
	return err_hint(e, "a project that wants settings of its own has them in " PROJECT_FILE);
}

static int show(const struct layers_request *request, const struct project *project, struct err *e)
{
	AUTO_TEXT text = { 0 };
	if (!project->data) {
		text_add(&text, "There is no ");
		text_add_visible(&text, project->path);
		text_add(&text, ", so nothing to trust.\n");
		return say(text.data, text.length, e);
	}
	if (project_show(request, project, &text, e) < 0)
		return -1;
	return say(text.data, text.length, e);
}

static int trust_show(const struct layers_request *request, const struct project *project, bool yes,
	struct err *e)
{
	(void)yes;
	if (show(request, project, e) < 0)
		return -1;
	static const char next[] = "To accept exactly these bytes: hutch trust allow\n";
	if (!project->data || project->trust == TRUST_SAME)
		return 0;
	return say(next, sizeof next - 1, e);
}

/* A person is asked; a script has decided by calling. */
static bool confirmed(void)
{
	static const char question[] = "Trust it? [y/N] ";
	char answer[16] = "";
	if (!isatty(STDIN_FILENO))
		return true;
	if (fd_write_all(STDERR_FILENO, question, sizeof question - 1) < 0)
		return false;
	ssize_t length = read(STDIN_FILENO, answer, sizeof answer - 1);
	if (length <= 0)
		return false;
	answer[strcspn(answer, "\n")] = '\0';
	return strcasecmp(answer, "y") == 0 || strcasecmp(answer, "yes") == 0;
}

static int trust_allow(const struct layers_request *request, const struct project *project,
	bool yes, struct err *e)
{
	if (!project->data)
		return absent(project, e);
	if (show(request, project, e) < 0)
		return -1;
	if (project->trust == TRUST_SAME)
		return 0;
	if (!yes && !confirmed())
		return err_set(e, 0, "not trusted; nothing was changed");
	if (trust_accept(request->host->state, request->host->directory, project->data,
		    project->length, e) < 0)
		return -1;
	static const char done[] = "Trusted from now on, until a byte of it changes.\n";
	return say(done, sizeof done - 1, e);
}

/* The file is not looked at: it may be gone, or no file at all. */
static int trust_deny(const struct layers_request *request, struct err *e)
{
	bool was;
	static const char done[] = "Not trusted any more.\n", none[] = "It was not trusted.\n";
	if (trust_revoke(request->host->state, request->host->directory, &was, e) < 0)
		return -1;
	return was ? say(done, sizeof done - 1, e) : say(none, sizeof none - 1, e);
}

typedef int action(const struct layers_request *request, const struct project *project, bool yes,
	struct err *e);

static int project_action(action *act, const struct host *host, bool yes, struct err *e)
{
	struct project project = { 0 };
	const struct layers_request request = { .host = host };
	if (project_load(&request, &project, e) < 0)
		return -1;
	int result = act(&request, &project, yes, e);
	project_free(&project);
	return result;
}

static int action_run(const char *name, bool yes, const struct host *host, struct err *e)
{
	const struct layers_request request = { .host = host };
	const char *nearest = NULL;
	if (strcmp(name, "show") == 0)
		return project_action(trust_show, host, yes, e);
	if (strcmp(name, "allow") == 0)
		return project_action(trust_allow, host, yes, e);
	if (strcmp(name, "deny") == 0)
		return trust_deny(&request, e);
	word_nearest(name, "show", &nearest);
	word_nearest(name, "allow", &nearest);
	word_nearest(name, "deny", &nearest);
	err_set(e, 0, "hutch trust cannot '%s'", name);
	if (nearest)
		return err_hint(e, "did you mean '%s'? %s", nearest, usage);
	return err_hint(e, "%s", usage);
}

int verb_trust(struct options *options, int *ret_code, struct err *e)
{
	struct host host = { .directory_fd = -1 };
	const char *name = options->rest.count ? options->rest.item[0] : "show";
	bool yes = options_flag(options, "yes") != NULL;
	(void)ret_code;
	if (options->rest.count > 1) {
		err_set(e, 0, "hutch trust takes one word, not also '%s'", options->rest.item[1]);
		return err_hint(e, "%s", usage);
	}
	int result = host_gather(environ, &host, e);
	if (result == 0)
		result = ground_check(&host, host.directory, e);
	if (result == 0)
		result = action_run(name, yes, &host, e);
	host_free(&host);
	return result;
}
