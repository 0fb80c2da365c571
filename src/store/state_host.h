/* SPDX-License-Identifier: MIT */
/* The host's side of a state file: read it, and replace it without losing a writer's version. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/err.h"

struct session;

/* What the host's file was when it was read. */
struct host_version {
	char *data; /* owned; NULL when there is no file */
	size_t length;
	struct stat status;
};

void host_version_free(struct host_version *version);
#define AUTO_VERSION __attribute__((cleanup(host_version_free))) struct host_version

/* Read `target`, an absolute path without links. A file that is not there is no failure. */
int host_read(const char *target, struct host_version *ret_version, struct err *e);

/*
 * Put `data` in the place of what `expected` was read from (nothing, when its data is NULL):
 * written to a temporary file in the session's directory, synced, renamed. Where the two are on
 * different file systems the temporary file is beside the target, under a name made from the
 * session's id, so that a run that is killed between leaves it to whoever merges the session next.
 * 0: done. 1: the file is no longer what was expected; nothing was changed. -1: not possible.
 */
int host_put(const struct session *session, const char *target, const char *data, size_t length,
	mode_t mode, const struct host_version *expected, struct err *e);
