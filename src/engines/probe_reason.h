/* SPDX-License-Identifier: MIT */
/* Why something is refused here and what changes it, as a hint to an error whose `number` is the
 * errno. All return -1. */
#pragma once

#include <sys/types.h>

#include "base/err.h"

int reason_user_namespace(struct err *e);
int reason_map(uid_t uid, struct err *e); /* `uid`: who asked, outside */
int reason_proc(struct err *e);
