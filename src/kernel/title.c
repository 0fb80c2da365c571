/* SPDX-License-Identifier: MIT */
#include "kernel/title.h"

#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>

static char *area; /* the arguments lie one after another on the initial stack */
static size_t area_size;

void title_init(int argc, char **argv)
{
	if (argc < 1)
		return;
	area = argv[0];
	area_size = (size_t)(argv[argc - 1] + strlen(argv[argc - 1]) - area) + 1;
}

void title_set(const char *title)
{
	prctl(PR_SET_NAME, title, 0, 0, 0);
	if (!area)
		return;
	explicit_bzero(area, area_size);
	strncpy(area, title, area_size - 1);
}
