/* SPDX-License-Identifier: MIT */
/* Descriptors that close themselves, and whole reads and writes. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

void fd_close(int *fd); /* closes when >= 0, sets to -1, keeps errno */

#define AUTO_CLOSE __attribute__((cleanup(fd_close)))

/* Hand the descriptor on: the variable that owned it becomes -1. */
static inline int take_fd(int *fd)
{
	int taken = *fd;
	*fd = -1;
	return taken;
}

/* Write all of it; 0 or -1 with errno. */
int fd_write_all(int fd, const void *bytes, size_t length);

/* Read until the end of the file. Fails with EFBIG past `limit` bytes. The result is owned by the
 * caller and NUL-terminated; its length is stored when `ret_length` is not NULL. */
int fd_read_all(int fd, size_t limit, char **ret_data, size_t *ret_length, struct err *e);

/* Read a small file below `directory` (AT_FDCWD for none), following links; EFBIG past `limit`. */
int file_read_at(int directory, const char *path, size_t limit, char **ret_data, size_t *ret_length,
	struct err *e);

/* Write one string into an existing file, as /proc and /sys want it; 0 or -1 with errno. */
int file_poke_at(int directory, const char *path, const char *value);
