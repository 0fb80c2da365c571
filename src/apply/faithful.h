/* SPDX-License-Identifier: MIT */
/*
 * Carry out the mount operations of a faithful plan, as bubblewrap would: its order, its permissions,
 * its sentences. What it does otherwise than mounts.h is what bubblewrap does otherwise: places are
 * made wherever they are missing, nothing is limited, /proc is hardly restricted.
 *
 * Deliberate differences: every mount is private (bubblewrap's follow the host's, so that something
 * mounted there later appears inside, writable even below a read-only bind), and absolute links in
 * targets are taken inside the new root.
 */
#pragma once

#include "base/err.h"
#include "plan/plan.h"

/* All mount operations in order, in a new mount namespace of this process alone, then into the new
 * root. Closes the descriptors that operations read from. */
int faithful_mounts(const struct plan *plan, struct err *e);
