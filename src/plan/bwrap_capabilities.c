/* SPDX-License-Identifier: MIT */
#include "plan/bwrap_capabilities.h"

#include <stddef.h>
#include <stdlib.h>
#include <strings.h>

/* By number, as in linux/capability.h, which does not change. */
static const char *const names[] = {
	"CAP_CHOWN",
	"CAP_DAC_OVERRIDE",
	"CAP_DAC_READ_SEARCH",
	"CAP_FOWNER",
	"CAP_FSETID",
	"CAP_KILL",
	"CAP_SETGID",
	"CAP_SETUID",
	"CAP_SETPCAP",
	"CAP_LINUX_IMMUTABLE",
	"CAP_NET_BIND_SERVICE",
	"CAP_NET_BROADCAST",
	"CAP_NET_ADMIN",
	"CAP_NET_RAW",
	"CAP_IPC_LOCK",
	"CAP_IPC_OWNER",
	"CAP_SYS_MODULE",
	"CAP_SYS_RAWIO",
	"CAP_SYS_CHROOT",
	"CAP_SYS_PTRACE",
	"CAP_SYS_PACCT",
	"CAP_SYS_ADMIN",
	"CAP_SYS_BOOT",
	"CAP_SYS_NICE",
	"CAP_SYS_RESOURCE",
	"CAP_SYS_TIME",
	"CAP_SYS_TTY_CONFIG",
	"CAP_MKNOD",
	"CAP_LEASE",
	"CAP_AUDIT_WRITE",
	"CAP_AUDIT_CONTROL",
	"CAP_SETFCAP",
	"CAP_MAC_OVERRIDE",
	"CAP_MAC_ADMIN",
	"CAP_SYSLOG",
	"CAP_WAKE_ALARM",
	"CAP_BLOCK_SUSPEND",
	"CAP_AUDIT_READ",
	"CAP_PERFMON",
	"CAP_BPF",
	"CAP_CHECKPOINT_RESTORE",
};

enum { COUNT = sizeof names / sizeof names[0] };

const uint64_t bwrap_capabilities_all = (UINT64_C(1) << COUNT) - 1;

bool bwrap_capability_find(const char *name, uint64_t *ret_mask)
{
	char *end;
	unsigned long number = COUNT;
	if (*name >= '0' && *name <= '9') {
		number = strtoul(name, &end, 10);
		if (*end)
			return false;
	} else {
		for (number = 0; number < COUNT; number++)
			if (strcasecmp(names[number], name) == 0)
				break;
	}
	if (number >= COUNT)
		return false;
	*ret_mask = UINT64_C(1) << number;
	return true;
}
