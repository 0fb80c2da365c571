/* SPDX-License-Identifier: MIT */
/* The form: seven fields, each ended by a NUL, which no path contains. */
#include "store/state_entry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/memory.h"
#include "base/text.h"

enum { FIELDS = 7, STATE_FILE_LIMIT = 1 << 20 };

static void field_add(struct text *record, const char *field)
{
	text_add_bytes(record, field, strlen(field) + 1);
}

int state_entry_append(int directory_fd, const struct state_entry *entry, struct err *e)
{
	AUTO_TEXT record = { 0 };
	field_add(&record, entry->shown);
	field_add(&record, entry->target);
	field_add(&record, entry->below);
	field_add(&record, entry->json ? "json" : "whole");
	field_add(&record, entry->has_base ? "base" : "none");
	AUTO_FREE char *mode = memory_format("%o", entry->mode);
	field_add(&record, mode);
	field_add(&record, "end");
	AUTO_CLOSE int fd = openat(directory_fd, "state",
		O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 || fd_write_all(fd, record.data, record.length) < 0)
		return err_set(e, errno, "cannot remember %s for the merge", entry->shown);
	return 0;
}

/* Cut the next record into its fields; false at the end, or when it is not whole. */
static bool fields_cut(const char **at, const char *end, const char *field[FIELDS])
{
	for (int i = 0; i < FIELDS; i++) {
		const char *stop = *at < end ? memchr(*at, '\0', (size_t)(end - *at)) : NULL;
		if (!stop)
			return false;
		field[i] = *at;
		*at = stop + 1;
	}
	return strcmp(field[FIELDS - 1], "end") == 0;
}

int state_entry_read(int directory_fd, char **ret_data, struct state_entry **ret_entries,
	size_t *ret_count, struct err *e)
{
	AUTO_FREE char *data = NULL;
	AUTO_FREE struct state_entry *entries = NULL;
	size_t length = 0, count = 0;
	struct err why = { 0 };
	if (file_read_at(directory_fd, "state", STATE_FILE_LIMIT, &data, &length, &why) < 0 &&
		why.number != ENOENT) {
		if (e)
			*e = why;
		return -1;
	}
	const char *at = data, *field[FIELDS];
	while (length && fields_cut(&at, data + length, field)) {
		entries = memory_grow(entries, count + 1, sizeof *entries);
		entries[count] = (struct state_entry){
			.shown = field[0],
			.target = field[1],
			.below = field[2],
			.json = strcmp(field[3], "json") == 0,
			.has_base = strcmp(field[4], "base") == 0,
			.mode = (mode_t)strtoul(field[5], NULL, 8) & 0777,
			.number = (unsigned)count,
		};
		count++;
	}
	*ret_data = take_pointer(data);
	*ret_entries = take_pointer(entries);
	*ret_count = count;
	return 0;
}
