/* SPDX-License-Identifier: MIT */
/* Capabilities by the names that bubblewrap takes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Of every kernel that this was made for. */
extern const uint64_t bwrap_capabilities_all;

/* The bit of "CAP_KILL", in any case, or "5". */
bool bwrap_capability_find(const char *name, uint64_t *ret_mask);
