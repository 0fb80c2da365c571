/* SPDX-License-Identifier: MIT */
#pragma once

/* Bring up the loopback device of this network namespace, which has addresses and is down when the
 * namespace is new. 0, or -1 with errno. */
int loopback_up(void);
