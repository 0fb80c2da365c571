/* SPDX-License-Identifier: MIT */
#pragma once

#include "cli/request.h"

/* What the sandbox is, in one line on stderr. */
void summary_print(const struct request *request);
