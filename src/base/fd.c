/* SPDX-License-Identifier: MIT */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

void fd_close(int *fd)
{
	if (*fd < 0)
		return;
	int kept = errno;
	close(*fd);
	errno = kept;
	*fd = -1;
}

int fd_write_all(int fd, const void *bytes, size_t length)
{
	const char *p = bytes;
	while (length) {
		ssize_t written = write(fd, p, length);
		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -1;
		p += written;
		length -= (size_t)written;
	}
	return 0;
}

int fd_read_all(int fd, size_t limit, char **ret_data, size_t *ret_length, struct err *e)
{
	size_t size = 4096, length = 0;
	AUTO_FREE char *data = memory_alloc(size, 1);
	for (;;) {
		if (length + 1 == size)
			data = memory_grow(data, size *= 2, 1);
		ssize_t got = read(fd, data + length, size - length - 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_set(e, errno, "cannot read");
		if (got == 0)
			break;
		length += (size_t)got;
		if (length > limit)
			return err_set(e, EFBIG, "larger than %zu bytes", limit);
	}
	data[length] = '\0';
	*ret_data = take_pointer(data);
	if (ret_length)
		*ret_length = length;
	return 0;
}

int file_read_at(int directory, const char *path, size_t limit, char **ret_data, size_t *ret_length,
	struct err *e)
{
	/* Where there should be a file, somebody may have put a FIFO: nobody waits for it. */
	AUTO_CLOSE int fd = openat(directory, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return err_set(e, errno, "cannot open %s", path);
	if (fd_read_all(fd, limit, ret_data, ret_length, e) < 0)
		return err_prefix(e, "%s", path);
	return 0;
}

int file_poke_at(int directory, const char *path, const char *value)
{
	AUTO_CLOSE int fd = openat(directory, path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -1;
	return fd_write_all(fd, value, strlen(value));
}
