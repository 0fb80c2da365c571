/* SPDX-License-Identifier: MIT */
/* The record of a session. No box can write it, so it is read back in this process. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/memory.h"
#include "base/text.h"
#include "store/directory.h"
#include "store/session.h"
#include "store/session_name.h"

enum { RECORD_LIMIT = 4 << 20 }; /* argv can be long */

int session_record(
	const struct session *session, char *const *command, const char *workspace, struct err *e)
{
	AUTO_TEXT record = { 0 };
	text_format(&record,
		"{\"id\":\"%s\",\"pid\":%d,\"started\":%lld,\"workspace\":", session->id, getpid(),
		(long long)time(NULL));
	text_add_json_string(&record, workspace ? workspace : "");
	text_add(&record, ",\"command\":[");
	for (size_t i = 0; command[i]; i++) {
		text_add(&record, i ? "," : "");
		text_add_json_string(&record, command[i]);
	}
	text_add(&record, "]}\n");
	AUTO_CLOSE int fd = openat(session->directory_fd, "session.json",
		O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 || fd_write_all(fd, record.data, record.length) < 0)
		return err_set(e, errno, "cannot write %s/session.json", session->directory);
	return 0;
}

static char *command_show(json_t *command)
{
	AUTO_TEXT words = { 0 };
	size_t i;
	json_t *word;
	json_array_foreach(command, i, word)
	{
		text_add(&words, i ? " " : "");
		text_add_shell_word(&words, json_is_string(word) ? json_string_value(word) : "");
	}
	return text_take(&words);
}

static void record_read(int directory, struct session_info *info)
{
	AUTO_FREE char *data = NULL;
	size_t length = 0;
	json_t *record = NULL;
	if (file_read_at(directory, "session.json", RECORD_LIMIT, &data, &length, NULL) == 0)
		record = json_loadb(data, length, 0, NULL);
	const char *workspace = json_string_value(json_object_get(record, "workspace"));
	info->pid = (pid_t)json_integer_value(json_object_get(record, "pid"));
	info->started = json_integer_value(json_object_get(record, "started"));
	info->workspace = memory_string(workspace ? workspace : "");
	info->command = command_show(json_object_get(record, "command"));
	json_decref(record);
}

/* Does somebody hold the lock? Asked for with a shared lock, let go at once: a run that is being
 * made just then finds its own taken and takes another id. */
static bool session_is_alive(int directory)
{
	AUTO_CLOSE int lock = openat(directory, "lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	return lock >= 0 && flock(lock, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

static int info_order(const void *a, const void *b)
{
	return strcmp(((const struct session_info *)a)->id, ((const struct session_info *)b)->id);
}

static int info_read(int sessions, const char *id, struct session_info *ret_info)
{
	AUTO_CLOSE int directory =
		openat(sessions, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (directory < 0)
		return -1;
	*ret_info = (struct session_info){ .id = memory_string(id) };
	ret_info->alive = session_is_alive(directory);
	record_read(directory, ret_info);
	return 0;
}

int session_list(struct session_info **ret_list, size_t *ret_count, struct err *e)
{
	AUTO_CLOSE int state_fd = -1;
	struct session_info *list = NULL;
	size_t count = 0;
	*ret_list = NULL;
	*ret_count = 0;
	if (state_directory_open(false, &state_fd, NULL, e) < 0)
		return -1;
	if (state_fd < 0)
		return 0;
	int fd = openat(state_fd, "sessions", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *sessions = fd < 0 ? NULL : fdopendir(fd);
	if (!sessions)
		return errno == ENOENT ? 0 : err_set(e, errno, "cannot list the sessions");
	for (struct dirent *entry; (entry = readdir(sessions));) {
		if (!session_id_is_valid(entry->d_name))
			continue;
		list = memory_grow(list, count + 1, sizeof *list);
		if (info_read(dirfd(sessions), entry->d_name, &list[count]) == 0)
			count++;
	}
	closedir(sessions);
	if (count)
		qsort(list, count, sizeof *list, info_order);
	*ret_list = list;
	*ret_count = count;
	return 0;
}

void session_list_free(struct session_info *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(list[i].id);
		free(list[i].workspace);
		free(list[i].command);
	}
	free(list);
}
