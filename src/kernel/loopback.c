/* SPDX-License-Identifier: MIT */
#include "kernel/loopback.h"

#include <linux/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/fd.h"

int loopback_up(void)
{
	AUTO_CLOSE int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	return fd < 0 ? -1 : ioctl(fd, SIOCSIFFLAGS, &request);
}
