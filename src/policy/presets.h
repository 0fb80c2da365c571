/* SPDX-License-Identifier: MIT */
/* A preset is a named list of settings: a file of share/presets, compiled into a table. */
#pragma once

#include <stddef.h>

struct preset_value {
	const char *key;
	const char *text;
};

struct preset {
	const char *name;
	const struct preset_value *value; /* ends with a NULL key */
};

extern const struct preset presets_builtin[];
extern const size_t presets_builtin_count;
