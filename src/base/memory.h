/* SPDX-License-Identifier: MIT */
/*
 * Memory that ends itself. Allocation never returns NULL: a launcher that cannot get a few kilobytes
 * says so and exits 125. Nothing of this is called between clone and exec.
 */
#pragma once

#include <stddef.h>
#include <stdlib.h>

#include "base/err.h"

void *memory_alloc(size_t count, size_t size); /* zeroed */
void *memory_grow(void *old, size_t count, size_t size);
char *memory_string(const char *text);
char *memory_slice(const char *text, size_t length); /* at most so many bytes of it */
char *memory_format(const char *format, ...) PRINTF(1, 2);

static inline void memory_free_indirect(void *pointer)
{
	free(*(void **)pointer);
}

/* Freed when the variable goes out of scope. */
#define AUTO_FREE __attribute__((cleanup(memory_free_indirect), unused))

/* Hand the pointer on: the variable that owned it becomes NULL. */
#define take_pointer(variable)                                                                     \
	({                                                                                         \
		__typeof__(variable) taken = (variable);                                           \
		(variable) = NULL;                                                                 \
		taken;                                                                             \
	})
