/* SPDX-License-Identifier: MIT */
/* The mounts of a faithful plan that are more than one mount. */
#pragma once

#include "apply/faithful_places.h"

int faithful_proc(struct faithful *f, const struct op *op, struct err *e);
int faithful_dev(struct faithful *f, const struct op *op, struct err *e);
int faithful_overlay(struct faithful *f, const struct op *op, struct err *e);
