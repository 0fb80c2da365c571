/* SPDX-License-Identifier: MIT */
/* What state_add remembers for state_merge: one entry of sessions/ID/state. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

struct state_entry {
	const char *shown;  /* the path as the user knows it */
	const char *target; /* where the file really is */
	const char *below;  /* in the home */
	bool json;
	bool has_base;
	mode_t mode; /* for a target that is gone meanwhile */
	unsigned number;
};

/* Add an entry with one write. */
int state_entry_append(int directory_fd, const struct state_entry *entry, struct err *e);

/* All entries of a session; a last one that was cut off is left out, for its box never started.
 * Free both; the entries point into the data. */
int state_entry_read(int directory_fd, char **ret_data, struct state_entry **ret_entries,
	size_t *ret_count, struct err *e);
