/* SPDX-License-Identifier: MIT */
/*
 * Places of the user's that a run mounts or reads, opened with the thought that an earlier sandbox, or
 * one that runs right now, may have put links on the way. People keep settings as links into a
 * repository, and have an agent work in that repository: a link that it puts there could have any
 * directory of the host shown to the next sandbox.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "policy/host.h"

/*
 * Open what is at `path` (absolute), O_PATH, where the user's own settings or an agent's state are. A
 * link is followed where no sandbox can have put it: in the home and above, beside hutch's own
 * directories, and where only others may write. `ret_linked`: there was one, so that what was found may
 * lie where a sandbox can replace it. A descriptor, or -1; with e->number ENOENT there is nothing.
 */
int place_own(const struct host *host, const char *path, bool *ret_linked, struct err *e);

/*
 * Open what the user has named. Elsewhere than in the workspace links lead where they lead, and
 * `ret_fd` is -1; but no link of the workspace is followed, whatever name the path has for it.
 * `ret_fd` is O_PATH. 0, or -1 with a sentence.
 */
int place_named(const struct host *host, const char *path, int *ret_fd, struct err *e);
