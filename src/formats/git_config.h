/* SPDX-License-Identifier: MIT */
/* The least of git's configuration format: one value of one section without subsection, in one file
 * (no includes). Asking git itself would cost more than the rest of a start. */
#pragma once

#include <stddef.h>

/* The last value of SECTION.NAME in `data` (NUL-terminated); names are compared without case. Owned
 * by the caller, NULL when there is none. */
char *git_config_value(const char *data, const char *section, const char *name);

/* `value` as it can stand in a configuration file, in quotes. Owned by the caller. */
char *git_config_quote(const char *value);
