/* SPDX-License-Identifier: MIT */
/* seccomp(2): filters of system calls, Linux 3.17. No opinion on what to refuse is held here. */
#pragma once

struct sock_filter;

/* Put a filter of `length` instructions on the calling thread and all that it starts; it is in
 * addition to those that are there. Needs no_new_privs or CAP_SYS_ADMIN. 0, or -1 with errno: EINVAL
 * for a program that the kernel does not accept. */
int seccomp_install(const struct sock_filter *filter, unsigned short length);
