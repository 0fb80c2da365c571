/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

/* Milliseconds of CLOCK_MONOTONIC. */
uint64_t clock_milliseconds(void);
