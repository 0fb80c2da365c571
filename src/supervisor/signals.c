/* SPDX-License-Identifier: MIT */
#include "supervisor/signals.h"

#include <stddef.h>
#include <time.h>

static const struct {
	int signal;
	enum signal_use use;
} uses[] = {
	{ SIGHUP, SIGNAL_FATAL },
	{ SIGINT, SIGNAL_FATAL },
	{ SIGQUIT, SIGNAL_FATAL },
	{ SIGTERM, SIGNAL_FATAL },
	{ SIGUSR1, SIGNAL_FORWARD },
	{ SIGUSR2, SIGNAL_FORWARD },
	{ SIGALRM, SIGNAL_FORWARD },
	{ SIGVTALRM, SIGNAL_FORWARD },
	{ SIGPROF, SIGNAL_FORWARD },
	{ SIGIO, SIGNAL_FORWARD },
	{ SIGPWR, SIGNAL_FORWARD },
	{ SIGTSTP, SIGNAL_FORWARD },
	{ SIGWINCH, SIGNAL_RESIZE },
	{ SIGCONT, SIGNAL_CONTINUE },
};

enum { USE_COUNT = sizeof uses / sizeof uses[0] };

static bool is_ignored(int signal)
{
	struct sigaction now;
	return sigaction(signal, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

void signals_take(struct signals *ret_before, sigset_t *ret_wait)
{
	sigset_t block;
	sigemptyset(ret_wait);
	for (size_t i = 0; i < USE_COUNT; i++)
		if (!is_ignored(uses[i].signal))
			sigaddset(ret_wait, uses[i].signal);
	for (int signal = SIGRTMIN; signal <= SIGRTMAX; signal++)
		if (!is_ignored(signal))
			sigaddset(ret_wait, signal);
	block = *ret_wait;
	sigaddset(&block, SIGTTIN);
	sigaddset(&block, SIGTTOU);
	sigprocmask(SIG_BLOCK, &block, &ret_before->blocked);
	/* Ignored, children would be reaped before anyone could ask how they ended. */
	ret_before->child_ignored = is_ignored(SIGCHLD);
	signal(SIGCHLD, SIG_DFL);
}

void signals_give_back(const struct signals *before)
{
	if (before->child_ignored)
		signal(SIGCHLD, SIG_IGN);
	sigprocmask(SIG_SETMASK, &before->blocked, NULL);
}

enum signal_use signal_use(int signal)
{
	for (size_t i = 0; i < USE_COUNT; i++)
		if (uses[i].signal == signal)
			return uses[i].use;
	return SIGNAL_FORWARD;
}

bool signals_stop_self(int signal)
{
	if (signal == SIGSTOP) {
		raise(SIGSTOP);
	} else {
		sigset_t set;
		sigemptyset(&set);
		sigaddset(&set, signal);
		kill(0, signal);
		/* Here it stops, and here it goes on. */
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		sigprocmask(SIG_BLOCK, &set, NULL);
	}
	/* What continued it is pending, since it is blocked. */
	sigset_t continued;
	sigemptyset(&continued);
	sigaddset(&continued, SIGCONT);
	return sigtimedwait(&continued, NULL, &(struct timespec){ 0 }) == SIGCONT;
}
