/* SPDX-License-Identifier: MIT */
/* After the run: from the private home back to the host. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/memory.h"
#include "base/path.h"
#include "formats/json_merge.h"
#include "kernel/confined.h"
#include "store/session.h"
#include "store/state.h"
#include "store/state_entry.h"
#include "store/state_host.h"
#include "store/state_kept.h"

enum { LOCK_WAIT_MS = 30000, PUT_TRIES = 5 };

/* One file on its way back. */
struct merge {
	struct session *session;
	const struct state_entry *entry;
	struct strings *notes;
	struct json_bytes base, box; /* the data is owned */
};

/* What the confined child works on, and what it answers in front of the merged bytes. */
struct work {
	struct json_bytes base, host, box;
	bool merge; /* else only: is the box's version well-formed? */
};

struct work_answer {
	unsigned conflicts;
};

extern char **environ;

static int parse_work(const void *input, struct text *ret_answer, struct err *e)
{
	const struct work *work = input;
	/* A child is a copy of this process. What it parses goes back into a file that boxes read:
	 * the environment, with its keys, must not be there to be found. */
	for (char **variable = environ; *variable; variable++)
		memset(*variable, 0, strlen(*variable));
	AUTO_TEXT merged = { 0 };
	struct work_answer answer = { 0 };
	if (work->merge ? json_merge(
				  work->base, work->host, work->box, &merged, &answer.conflicts, e)
			: json_check(work->box, "the version inside", e))
		return -1;
	text_add_bytes(ret_answer, &answer, sizeof answer);
	if (merged.length)
		text_add_bytes(ret_answer, merged.data, merged.length);
	return 0;
}

/* ---- The box's version ---- */

enum box_version { BOX_SAME, BOX_CHANGED, BOX_GONE, BOX_UNUSABLE };

static void note(struct merge *m, char *sentence)
{
	strings_take(m->notes, sentence);
}

static bool bytes_equal(struct json_bytes a, struct json_bytes b)
{
	return a.data && b.data && a.length == b.length && memcmp(a.data, b.data, a.length) == 0;
}

static int base_read(struct merge *m, struct err *e)
{
	if (!m->entry->has_base)
		return 0;
	AUTO_FREE char *path = memory_format("base.%u", m->entry->number);
	char *data = NULL;
	if (file_read_at(m->session->directory_fd, path, STATE_LIMIT, &data, &m->base.length, e) <
		0)
		return err_prefix(e, "%s", m->session->directory);
	m->base.data = data;
	return 0;
}

/* Read what the box left. `ret_why` says what is wrong with an unusable one. */
static enum box_version box_read(struct merge *m, const char **ret_why)
{
	AUTO_CLOSE int directory = box_directory_open(m->session, m->entry);
	if (directory < 0 && errno == ENOENT)
		return BOX_GONE;
	AUTO_CLOSE int fd =
		directory < 0 ? -1
			      : openat(directory, path_base(m->entry->below),
					O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return BOX_GONE;
	struct stat status;
	*ret_why = "cannot be read";
	if (fd < 0 && errno == EACCES)
		return BOX_UNUSABLE;
	*ret_why = "is not a regular file";
	if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
		return BOX_UNUSABLE;
	*ret_why = "is too large";
	char *data = NULL;
	if (status.st_size > STATE_LIMIT ||
		fd_read_all(fd, STATE_LIMIT, &data, &m->box.length, NULL) < 0)
		return BOX_UNUSABLE;
	m->box.data = data;
	return bytes_equal(m->base, m->box) ? BOX_SAME : BOX_CHANGED;
}

/* Keep the box's version in rejected/ and say so. */
static int reject(struct merge *m, const char *why, struct err *e)
{
	AUTO_FREE char *path = NULL;
	const char *shown = m->entry->shown;
	struct stat status;
	AUTO_CLOSE int directory = box_directory_open(m->session, m->entry);
	const char *name = path_base(m->entry->below);
	bool regular = directory >= 0 &&
		       fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		       S_ISREG(status.st_mode);
	if (!regular) { /* a directory, a link, a fifo: nothing an agent's state could be in */
		note(m, memory_format(
				"%s was left as it was: what the box put there %s", shown, why));
		return 0;
	}
	if (kept_move(m->session, m->entry, &path, e) < 0)
		return -1;
	note(m, memory_format("%s was left as it was, the box's version is kept in %s: %s", shown,
			path, why));
	return 0;
}

/* ---- Merging ---- */

static void note_conflict(struct merge *m, unsigned conflicts, const char *path)
{
	if (m->entry->json)
		note(m, memory_format(
				"%s: %u value%s changed both in the box and outside; the box's "
				"stand, the file as it was outside is kept in %s",
				m->entry->shown, conflicts, conflicts == 1 ? " was" : "s were",
				path));
	else
		note(m, memory_format(
				"%s was changed both in the box and outside; the box's version "
				"stands, the other is kept in %s",
				m->entry->shown, path));
}

/* What shall stand on the host. 0: `ret_result`. 1: the box's version is not usable, `e` says why.
 */
static int result_make(struct merge *m, const struct host_version *host, bool host_is_base,
	struct text *ret_result, unsigned *ret_conflicts, struct err *e)
{
	const struct work work = {
		.base = m->base,
		.host = { host->data, host->length },
		.box = m->box,
		.merge = host->data && !host_is_base,
	};
	AUTO_TEXT answer = { 0 };
	*ret_conflicts = 0;
	if (m->entry->json) {
		size_t limit = JSON_LIMIT + sizeof(struct work_answer);
		if (confined_call(parse_work, &work, limit, m->entry->shown, &answer, e) < 0)
			return 1;
		struct work_answer head;
		if (answer.length < sizeof head)
			return err_set(e, 0, "a bad answer from the confined helper"), 1;
		memcpy(&head, answer.data, sizeof head);
		*ret_conflicts = head.conflicts;
	} else if (work.merge) {
		*ret_conflicts = 1;
	}
	if (m->entry->json && work.merge)
		text_add_bytes(ret_result, answer.data + sizeof(struct work_answer),
			answer.length - sizeof(struct work_answer));
	else /* byte for byte what the agent wrote */
		text_add_bytes(ret_result, m->box.data, m->box.length);
	return 0;
}

/* One try. 0: done. 1: the host's file changed meanwhile. */
static int merge_once(struct merge *m, struct err *e)
{
	AUTO_VERSION host = { 0 };
	AUTO_TEXT result = { 0 };
	struct err why;
	unsigned conflicts;
	if (host_read(m->entry->target, &host, &why) < 0)
		return reject(m, why.text, e);
	const struct json_bytes now = { host.data, host.length };
	if (bytes_equal(now, m->box))
		return 0;
	if (result_make(m, &host, bytes_equal(now, m->base), &result, &conflicts, &why) != 0)
		return reject(m, why.text, e);
	if (bytes_equal(now, (struct json_bytes){ result.data, result.length }))
		return 0;
	/* The host's version is kept before something in it is written over. */
	AUTO_FREE char *kept = NULL;
	if (conflicts && kept_write(m->session, m->entry, host.data, host.length, &kept, e) < 0)
		return -1;
	int put = host_put(m->session, m->entry->target, result.data, result.length, m->entry->mode,
		&host, &why);
	if (put < 0)
		return reject(m, why.text, e);
	if (put == 0 && kept)
		note_conflict(m, conflicts, kept);
	return put;
}

/* Two runs that end at once take turns; one that is stopped while it holds the lock must not hold
 * up the others for ever. */
static int merge_lock(const struct session *session, int *ret_lock, struct err *e)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	AUTO_CLOSE int lock = openat(
		session->state_fd, "merge.lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (lock < 0)
		return err_set(e, errno, "cannot open merge.lock in the state directory");
	uint64_t deadline = clock_milliseconds() + LOCK_WAIT_MS;
	while (flock(lock, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return err_set(e, errno, "cannot lock the state directory");
		if (clock_milliseconds() > deadline) {
			err_set(e, 0, "another hutch has held the state directory's lock for 30 s");
			return err_hint(e, "what this run changed is merged by the next one");
		}
		nanosleep(&pause, NULL);
	}
	*ret_lock = take_fd(&lock);
	return 0;
}

static int merge_changed(struct merge *m, struct err *e)
{
	AUTO_CLOSE int lock = -1;
	if (merge_lock(m->session, &lock, e) < 0)
		return -1;
	for (int i = 0; i < PUT_TRIES; i++) {
		int result = merge_once(m, e);
		if (result <= 0)
			return result;
	}
	return reject(m, "somebody outside kept changing the file", e);
}

static int merge_entry(struct merge *m, struct err *e)
{
	const char *why = NULL;
	if (base_read(m, e) < 0)
		return -1;
	switch (box_read(m, &why)) {
	case BOX_SAME:
		return 0;
	case BOX_CHANGED:
		return merge_changed(m, e);
	case BOX_UNUSABLE:
		return reject(m, why, e);
	case BOX_GONE:
		/* Half of a replacement looks like that too; and a logged-out agent is not worth a
		 * user's settings. */
		if (m->entry->has_base)
			note(m, memory_format(
					"%s was removed in the box; the file outside was left "
					"as it was",
					m->entry->shown));
		return 0;
	}
	return 0;
}

int state_merge(struct session *session, struct strings *ret_notes, struct err *e)
{
	AUTO_FREE char *data = NULL;
	AUTO_FREE struct state_entry *entries = NULL;
	size_t count = 0;
	int result = 0;
	if (state_entry_read(session->directory_fd, &data, &entries, &count, e) < 0)
		return -1;
	for (size_t i = 0; i < count && session->home_fd >= 0; i++) {
		struct merge m = { .session = session, .entry = &entries[i], .notes = ret_notes };
		if (merge_entry(&m, e) < 0)
			result = -1;
		free((char *)m.base.data);
		free((char *)m.box.data);
	}
	return result;
}
