/* SPDX-License-Identifier: MIT */
#include "apply/limits.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

static const struct limit {
	const char *name;
	int resource; /* -1: not ours */
} limits[] = {
	{ "tasks", RLIMIT_NPROC },
	{ "data", RLIMIT_DATA },
	{ "core", RLIMIT_CORE },
	{ "memory", -1 },
};

int limit_apply(const struct op *op, struct err *e)
{
	for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
		if (strcmp(limits[i].name, op->name) != 0)
			continue;
		if (limits[i].resource < 0)
			return 0;
		/* Where less is allowed already, that is what holds. */
		struct rlimit both;
		__rlimit_resource_t resource = (__rlimit_resource_t)limits[i].resource;
		if (getrlimit(resource, &both) < 0)
			return err_set(e, errno, "cannot read the limit '%s'", op->name);
		if (op->number < both.rlim_max)
			both.rlim_max = op->number;
		if (both.rlim_max < both.rlim_cur)
			both.rlim_cur = both.rlim_max;
		if (setrlimit(resource, &both) < 0)
			return err_set(e, errno, "cannot set the limit '%s'", op->name);
		return 0;
	}
	return err_set(e, 0, "there is no limit called '%s'", op->name);
}
