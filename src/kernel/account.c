/* SPDX-License-Identifier: MIT */
#include "kernel/account.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void file_close(FILE **file)
{
	if (*file)
		fclose(*file);
}

static bool find(bool (*matches)(const struct passwd *entry, const void *key), const void *key,
	struct account *account)
{
	__attribute__((cleanup(file_close))) FILE *file = fopen("/etc/passwd", "re");
	struct passwd *found;
	int result = file ? 0 : ENOENT;
	while (result == 0 || result == ERANGE) {
		result = fgetpwent_r(
			file, &account->entry, account->text, sizeof account->text, &found);
		if (result == 0 && matches(&account->entry, key))
			return true;
	}
	return false;
}

static bool is_uid(const struct passwd *entry, const void *key)
{
	return entry->pw_uid == *(const uid_t *)key;
}

static bool is_name(const struct passwd *entry, const void *key)
{
	return strcmp(entry->pw_name, key) == 0;
}

bool account_by_uid(uid_t uid, struct account *ret_account)
{
	return find(is_uid, &uid, ret_account);
}

bool account_by_name(const char *name, struct account *ret_account)
{
	return find(is_name, name, ret_account);
}
