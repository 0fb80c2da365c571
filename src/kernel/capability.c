/* SPDX-License-Identifier: MIT */
#include "kernel/capability.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int sets_write(uint64_t permitted, uint64_t effective)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {
		{ .effective = (uint32_t)effective, .permitted = (uint32_t)permitted },
		{ .effective = (uint32_t)(effective >> 32), .permitted = (uint32_t)(permitted >> 32) },
	};
	return (int)syscall(SYS_capset, &header, data);
}

int capability_keep(uint64_t bounding, uint64_t permitted)
{
	for (int capability = 0; capability < 64; capability++) {
		if (bounding >> capability & 1)
			continue;
		if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0) {
			int number = errno;
			if (number == EINVAL && prctl(PR_CAPBSET_READ, capability, 0, 0, 0) < 0)
				break; /* past the last one this kernel has */
			errno = number;
			return -1;
		}
	}
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		return -1;
	return sets_write(permitted, permitted);
}

int capability_hold(uint64_t mask)
{
	return sets_write(mask, 0);
}
