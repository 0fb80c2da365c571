/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/types.h>

/* In a process just cloned into a new user namespace: appear there as `uid` and `gid`, which stand
 * for `outer_uid` and `outer_gid` outside; setgroups(2) is denied. Needs no privilege (for outer uid
 * 0: CAP_SETFCAP in whoever cloned, Linux 5.12). 0, or -1 with errno. */
int userns_map(uid_t uid, uid_t outer_uid, gid_t gid, gid_t outer_gid);

/* The same where there is no /proc but the descriptor `proc` of one. */
int userns_map_at(int proc, uid_t uid, uid_t outer_uid, gid_t gid, gid_t outer_gid);
