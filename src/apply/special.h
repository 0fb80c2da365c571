/* SPDX-License-Identifier: MIT */
/* The mounts that are more than one mount: /proc with its masks, /dev with its nodes, masks. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "apply/target.h"
#include "plan/plan.h"

int apply_proc(struct tree *tree, const struct op *op, struct err *e);
int apply_dev(struct tree *tree, const struct op *op, struct err *e);

/* Put something empty and read-only, of the same kind, over `place` (O_PATH). -1 with errno. */
int mask_attach(struct tree *tree, int place);
/* Take the names of what masks are made from out of the root again. */
int mask_finish(struct tree *tree);

/* A detached tmpfs; bytes, number of inodes (0: the kernel's default), MOUNT_ATTR_*. Or -1, errno. */
int apply_tmpfs_new(uint64_t size, uint64_t inodes, mode_t perms, uint64_t attributes);
