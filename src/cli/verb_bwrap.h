/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/* Is this program called as bubblewrap: under the name `bwrap`, or with `bwrap` as its first word?
 * Then the words of bubblewrap's command line begin at `ret_first`, its own name included. */
bool bwrap_is_called(int argc, char **argv, int *ret_first);

/* The whole program, as bubblewrap: nothing of the user's configuration is looked at. `name` is what
 * usage says. The exit code. */
int bwrap_main(int argc, char **argv, const char *name);
