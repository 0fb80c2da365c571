/* SPDX-License-Identifier: MIT */
/* What the supervisor does about each signal that it is sent. */
#pragma once

#include <signal.h>
#include <stdbool.h>

enum signal_use {
	SIGNAL_FORWARD, /* the command's business; hutch goes on */
	SIGNAL_FATAL,   /* the same, but before and after the command's life it ends hutch */
	SIGNAL_RESIZE,
	SIGNAL_CONTINUE,
};

/* What hutch was started with. */
struct signals {
	sigset_t blocked;
	bool child_ignored;
};

/* Block every signal that is of use and was not ignored when hutch was started (an ignored one, as
 * nohup or a shell's & leave it, stays so for the command as well); SIGTTIN and SIGTTOU are blocked
 * but not waited for. `ret_wait`: the set for the loop. */
void signals_take(struct signals *ret_before, sigset_t *ret_wait);
void signals_give_back(const struct signals *before);

enum signal_use signal_use(int signal);

/* Stop this process, by `signal`, as the terminal would: a whole job for SIGTSTP, SIGTTIN and
 * SIGTTOU, this process alone for SIGSTOP. Returns after it is continued; false if it did not stop,
 * as in an orphaned process group or when the signal was ignored. */
bool signals_stop_self(int signal);
