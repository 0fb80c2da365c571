/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/strings.h"

/* Add the names of all agents: the built-in ones, then the user's own that are not called like one
 * of those. `config_directory` may be NULL. The files are not opened. */
void agent_names(const char *config_directory, struct strings *ret_names);
