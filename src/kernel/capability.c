/* SPDX-License-Identifier: MIT */
#include "kernel/capability.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int sets_write(uint64_t permitted, uint64_t effective, uint64_t inheritable)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {
		{ .effective = (uint32_t)effective,
			.permitted = (uint32_t)permitted,
			.inheritable = (uint32_t)inheritable },
		{ .effective = (uint32_t)(effective >> 32),
			.permitted = (uint32_t)(permitted >> 32),
			.inheritable = (uint32_t)(inheritable >> 32) },
	};
	return (int)syscall(SYS_capset, &header, data);
}

int capability_bound(uint64_t bounding)
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
	return 0;
}

int capability_keep(uint64_t bounding, uint64_t permitted)
{
	if (capability_bound(bounding) < 0 ||
		prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		return -1;
	return sets_write(permitted, permitted, 0);
}

int capability_give(uint64_t mask)
{
	if (sets_write(mask, mask, mask) < 0)
		return -1;
	for (int capability = 0; capability < 64; capability++)
		if (mask >> capability & 1 &&
			prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0) < 0 &&
			errno != EINVAL) /* one that this kernel does not have */
			return -1;
	return 0;
}

int capability_permitted(uint64_t *ret_mask)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];
	if (syscall(SYS_capget, &header, data) < 0)
		return -1;
	*ret_mask = (uint64_t)data[1].permitted << 32 | data[0].permitted;
	return 0;
}

int capability_hold(uint64_t mask)
{
	return sets_write(mask, 0, 0);
}
