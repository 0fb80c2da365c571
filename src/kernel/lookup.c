/* SPDX-License-Identifier: MIT */
#include "kernel/lookup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_how(int directory, const char *path, int flags, unsigned resolve)
{
	struct open_how how = { .flags = (unsigned)(flags | O_CLOEXEC), .resolve = resolve };
	int fd, tries = 0;
	/* EAGAIN: a rename elsewhere made the kernel unsure that the lookup stayed inside. */
	do
		fd = (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
	while (fd < 0 && errno == EAGAIN && ++tries < 64);
	return fd;
}

int lookup_in_root(int root, const char *path, int flags)
{
	return open_how(root, path, flags, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
}

int lookup_beneath(int directory, const char *path, int flags)
{
	return open_how(directory, path, flags,
		RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
}
