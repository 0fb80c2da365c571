/* SPDX-License-Identifier: MIT */
/* Names that the files of this folder share. */
#pragma once

#include <stdbool.h>

#define SESSION_PREFIX "sessions/"
#define SESSION_GONE ".gone" /* ends the name of what is only to be removed */
#define SESSION_SPARE "spare"
#define SESSION_NONE                                                                               \
	{                                                                                          \
		.state_fd = -1, .directory_fd = -1, .home_fd = -1, .lock = -1                      \
	}

enum {
	SESSION_ID_LENGTH = 12, /* of five bits: 45 of milliseconds since 1970, 15 of chance */
	SESSION_PATH_SIZE = sizeof SESSION_PREFIX + SESSION_ID_LENGTH,
};

bool session_id_is_valid(const char *id);
