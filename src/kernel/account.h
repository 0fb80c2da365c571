/* SPDX-License-Identifier: MIT */
/* Who /etc/passwd says there is. The file itself is read: a static program that asks the name service
 * would load the host's libraries. */
#pragma once

#include <pwd.h>
#include <stdbool.h>

/* The strings of an entry; a longer entry is passed over. */
struct account {
	struct passwd entry;
	char text[4096];
};

/* The first entry with this uid or name. False when there is none, or no file. */
bool account_by_uid(uid_t uid, struct account *ret_account);
bool account_by_name(const char *name, struct account *ret_account);
