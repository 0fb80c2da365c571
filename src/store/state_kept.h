/* SPDX-License-Identifier: MIT */
/* Versions of state files that are kept aside: rejected/ and replaced/ in the state directory. */
#pragma once

#include <stddef.h>

#include "base/err.h"
#include "store/session.h"
#include "store/state_entry.h"

/* Move the box's file, whatever it is by now, to rejected/. It is not opened. */
int kept_move(const struct session *session, const struct state_entry *entry, char **ret_path,
	struct err *e);

/* Write `data` to replaced/. */
int kept_write(const struct session *session, const struct state_entry *entry, const char *data,
	size_t length, char **ret_path, struct err *e);

/* Open the directory in the session's home that the box's file is in, following no link. */
int box_directory_open(const struct session *session, const struct state_entry *entry);
