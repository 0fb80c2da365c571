/* SPDX-License-Identifier: MIT */
/*
 * Landlock as a second fence: should a mount turn out to show or allow more than the plan means, the
 * command still cannot use it. What the ruleset lets the command do with files is what the plan's
 * mounts say:
 *
 *	below the root		read, list, execute; nothing of the host that is not below it
 *	a writable mount	write, make, remove, rename; but make no device
 *	/proc			write to the files that are there
 *	/dev			the same, and ioctl on devices; elsewhere ioctl only where a bind lets
 *				devices work
 *	descriptors 0 to 2	opening these files again (/dev/stdin), as they were opened: a file that
 *				came open for reading cannot be opened for writing
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

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "plan/plan.h"

struct ruleset {
	int fd;		/* -1: the plan or the kernel has none */
	uint64_t files; /* the rights on files that it handles; 0: no file rules */
};

/* Start a ruleset for the plan's Landlock operation; the descriptor is the caller's. */
int ruleset_make(const struct plan *plan, struct ruleset *ret_ruleset, struct err *e);

/* What is allowed in a mount, beyond reading. */
enum ruleset_use {
	RULESET_READ,	 /* nothing more; for the root, as what is below it has that from there */
	RULESET_WRITE,	 /* everything but devices */
	RULESET_FILES,	 /* write to what is there */
	RULESET_DEVICES, /* the same, and ioctl */
};

/* Allow `use` below `mount`, which may be a file; nothing is done without file rules. */
int ruleset_allow(const struct ruleset *ruleset, int mount, enum ruleset_use use, struct err *e);

/* The same by what a plan's mount operation says. `is_root`: it is the new root. */
int ruleset_allow_op(const struct ruleset *ruleset, int mount, const struct op *op, bool is_root,
	struct err *e);

/* Allow the files on descriptors 0 to 2 as they are open. */
int ruleset_allow_stdio(const struct ruleset *ruleset, struct err *e);

/* Put the calling thread, and all that it starts, under the ruleset. Allocates nothing. */
int ruleset_enter(const struct ruleset *ruleset, struct err *e);
