/* SPDX-License-Identifier: MIT */
/*
 * Landlock as a second fence for changes: should a mount turn out to be writable where the plan means
 * it not to be, or should a descriptor lead out of the sandbox, the command still cannot write there.
 * The ruleset says what the plan's mounts say:
 *
 *	a writable mount	write, make, remove, rename; but make no device
 *	/proc			write to the files that are there
 *	/dev			the same, and ioctl on devices; elsewhere ioctl only where a bind lets
 *				devices work
 *	descriptors 0 to 2	open these files again (/dev/stdin) as they came open: a file given for
 *				reading cannot be written, one given for writing cannot be read
 *	all else		no change
 *
 * Reading, executing and truncating by name are left to the mounts. Each of them would make the kernel
 * walk up from every file that is opened, for reading too: 1.5 microseconds each here, 1.2 times the
 * time of a walk that opens 10,000 files, against 1.03 without. So a hole in the mounts could still
 * let files be read, or emptied. Only where one of the descriptors is a file that came open for
 * reading or for writing alone, reading and truncating are fenced too, so that it stays so.
 *
 * Rights add up on the way from a file to the root, so a read-only mount inside a writable one is
 * read-only by its mount alone. Each rule is made from the descriptor of the mount while it is being
 * attached: no path is looked up again.
 *
 * File rules need ABI 2 (Linux 5.19): with the first, every rename and link from one directory to
 * another fails. They forbid all mounts to whoever is under them, so a plan that allows nesting has
 * none. Scopes (ABI 6, Linux 6.12) keep the command's signals and abstract sockets inside. What the
 * kernel lacks is left out, and the guarantees say so.
 */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "plan/plan.h"

struct ruleset {
	int fd;         /* -1: the plan or the kernel has none */
	uint64_t files; /* the rights on files that it handles; 0: no file rules */
};

/* Start a ruleset for the plan's Landlock operation; the descriptor is the caller's. */
int ruleset_make(const struct plan *plan, struct ruleset *ret_ruleset, struct err *e);

/* What is allowed in a mount. */
enum ruleset_use {
	RULESET_WRITE,   /* everything but devices */
	RULESET_FILES,   /* write to what is there */
	RULESET_DEVICES, /* the same, and ioctl */
};

/* Allow `use` below `mount`, which may be a file; nothing is done without file rules. */
int ruleset_allow(const struct ruleset *ruleset, int mount, enum ruleset_use use, struct err *e);

/* The same by what a plan's mount operation says. */
int ruleset_allow_op(const struct ruleset *ruleset, int mount, const struct op *op, struct err *e);

/* Once the root is entered: allow the files on descriptors 0 to 2 as they are open, and reading. */
int ruleset_finish(const struct ruleset *ruleset, struct err *e);

/* Put the calling thread, and all that it starts, under the ruleset. Allocates nothing. */
int ruleset_enter(const struct ruleset *ruleset, struct err *e);
