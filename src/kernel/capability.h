/* SPDX-License-Identifier: MIT */
/* Capabilities of the calling thread (capset(2), version 3 of the interface, 64 bits). */
#pragma once

#include <stdint.h>

/* Make exactly `permitted` (bit N: capability N) permitted and effective, nothing inheritable or
 * ambient, and leave only `bounding` in the bounding set. 0, or -1 with errno. */
int capability_keep(uint64_t bounding, uint64_t permitted);

/* Leave only `bounding` in the bounding set. 0, or -1 with errno. */
int capability_bound(uint64_t bounding);

/* Make exactly `mask` permitted, effective, inheritable and ambient: a program that is executed has
 * it, whoever runs it. 0, or -1 with errno. */
int capability_give(uint64_t mask);

/* What is permitted now. 0, or -1 with errno. */
int capability_permitted(uint64_t *ret_mask);

/* Drop everything but `mask` from the permitted set and make nothing effective: for a process whose
 * bounding set is done. 0, or -1 with errno. */
int capability_hold(uint64_t mask);
