/* SPDX-License-Identifier: MIT */
/* What `ps` shows of this process, which is also what any other process of the user can read. */
#pragma once

/* Remember where the arguments are; called once, first thing in main. */
void title_init(int argc, char **argv);

/* Overwrite all arguments with `title`. */
void title_set(const char *title);
