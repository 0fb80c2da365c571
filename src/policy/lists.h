/* SPDX-License-Identifier: MIT */
/* Lists of names that are data: share/NAME.list, compiled in. All end with NULL. */
#pragma once

/* Variables that do not pass into the sandbox; NAME* stands for all that begin so. */
extern const char *const environment_drop_list[];
/* Variables that pass when the environment is scoped, besides those that agents name. */
extern const char *const environment_scoped_list[];
/* What the host has of these is shown inside, read-only. Relative names are below /etc. */
extern const char *const etc_list[];
