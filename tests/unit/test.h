/* SPDX-License-Identifier: MIT */
/* The whole of the unit-test frame: check() counts and prints, test_done() is what main returns. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int test_failures;

#define check(condition, name)                                                                     \
	do {                                                                                       \
		if (condition) {                                                                   \
			printf("ok - %s\n", name);                                                 \
		} else {                                                                           \
			printf("not ok - %s: %s:%d: %s\n", name, __FILE__, __LINE__, #condition);  \
			test_failures++;                                                           \
		}                                                                                  \
	} while (0)

#define check_string(have, want, name)                                                             \
	do {                                                                                       \
		const char *have_ = (have), *want_ = (want);                                       \
		if (have_ && want_ && strcmp(have_, want_) == 0) {                                 \
			printf("ok - %s\n", name);                                                 \
		} else {                                                                           \
			printf("not ok - %s: %s:%d: have '%s', want '%s'\n", name, __FILE__,       \
				__LINE__, have_ ? have_ : "(null)", want_ ? want_ : "(null)");     \
			test_failures++;                                                           \
		}                                                                                  \
	} while (0)

static inline int test_done(void)
{
	return test_failures ? 1 : 0;
}
