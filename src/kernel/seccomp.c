/* SPDX-License-Identifier: MIT */
#include "kernel/seccomp.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

int seccomp_install(const struct sock_filter *filter, unsigned short length)
{
	const struct sock_fprog program = { length, (struct sock_filter *)filter };
	/* Before Linux 5.16 a filter also switched off speculative stores, for browsers that run
	 * strangers' code in their own process. Here that is another process, and builds would pay. */
	return (int)syscall(
		SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program);
}
