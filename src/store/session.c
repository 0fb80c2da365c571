/* SPDX-License-Identifier: MIT */
/*
 * Who may touch a session directory: whoever holds the flock on its `lock`. Invariants:
 *
 *   1. A run makes the directory, then the lock file, then takes the lock, and only then counts the
 *      session as its own: the lock must be free and the file must still have its name. Otherwise a
 *      sweeper was faster, and the run takes another id.
 *   2. A sweeper takes the lock first and then looks again whether the file still has its name:
 *      another sweeper may have removed it between open and flock.
 *   3. A directory without a lock file belongs to a run that is just being made, unless it is older
 *      than a minute: then the sweeper makes the file and goes on as with any other.
 *   4. What says that there is something to merge, `state`, is removed right after the merge and
 *      before anything else: a removal that is cut short is not merged a second time.
 *   5. A directory whose name ends in ".gone" holds nothing of worth: any sweeper removes it.
 *   6. What a run leaves clean becomes "spare", and the next run's session by a rename, which only one
 *      of them can win: making and removing directories is most of what a session costs. A spare
 *      holds its lock file and a new home: the old one may still be open in another sandbox, to
 *      which the box has sent it through a socket. Its lock is let go before it gets that name.
 */
#include "store/session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/memory.h"
#include "kernel/tree.h"
#include "store/directory.h"
#include "store/session_name.h"
#include "store/state.h"

enum { BEING_MADE_SECONDS = 60, TRIES = 16 };

static void session_free(struct session *session)
{
	fd_close(&session->lock);
	fd_close(&session->home_fd);
	fd_close(&session->directory_fd);
	fd_close(&session->state_fd);
	free(session->id);
	free(session->directory);
	free(session->home);
	*session = (struct session)SESSION_NONE;
}

#define AUTO_SESSION __attribute__((cleanup(session_free))) struct session

void session_abandon(struct session *session)
{
	session_free(session);
}

/* ---- Making ---- */

static void session_name_make(char name[SESSION_PATH_SIZE])
{
	static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	uint64_t number = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
	uint16_t chance = (uint16_t)now.tv_nsec;
	ssize_t got = getrandom(&chance, sizeof chance, GRND_NONBLOCK);
	(void)got; /* the clock will do: a name that is taken is not used */
	number = number << 15 | (chance & 0x7fff);
	char *id = stpcpy(name, SESSION_PREFIX);
	for (int i = SESSION_ID_LENGTH; i-- > 0; number >>= 5)
		id[i] = digits[number & 31];
	id[SESSION_ID_LENGTH] = '\0';
}

/* Take the lock of the session in `directory`. 1: ours. 0: somebody else's, or gone meanwhile. */
static int lock_take(int directory, int flags, int *ret_lock)
{
	AUTO_CLOSE int lock =
		openat(directory, "lock", O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
	struct stat status;
	if (lock < 0)
		return -1;
	if (flock(lock, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? 0 : -1;
	if (fstat(lock, &status) < 0)
		return -1;
	if (status.st_nlink == 0)
		return 0;
	*ret_lock = take_fd(&lock);
	return 1;
}

/* Make the directory with a name of its own. 1: made. 0: try again. */
static int session_make(struct session *session, char name[SESSION_PATH_SIZE])
{
	session_name_make(name);
	bool spare = renameat2(session->state_fd, SESSION_SPARE, session->state_fd, name,
			     RENAME_NOREPLACE) == 0;
	if (!spare && mkdirat(session->state_fd, name, 0700) < 0) {
		if (errno == ENOENT && mkdirat(session->state_fd, "sessions", 0700) == 0)
			return 0;
		return errno == EEXIST ? 0 : -1;
	}
	fd_close(&session->directory_fd);
	session->directory_fd =
		openat(session->state_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (session->directory_fd < 0)
		return errno == ENOENT ? 0 : -1;
	int result = lock_take(session->directory_fd, spare ? 0 : O_CREAT | O_EXCL, &session->lock);
	return result < 0 && (errno == ENOENT || errno == EEXIST) ? 0 : result;
}

static int session_open_home(struct session *session)
{
	session->home_fd = openat(
		session->directory_fd, "home", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return session->home_fd < 0 ? -1 : 0;
}

static void session_set_paths(struct session *session, const char *state, const char *name)
{
	session->id = memory_string(name + sizeof SESSION_PREFIX - 1);
	session->directory = memory_format("%s/%s", state, name);
	session->home = memory_format("%s/home", session->directory);
}

int session_create(struct session *ret_session, struct err *e)
{
	AUTO_SESSION session = SESSION_NONE;
	AUTO_FREE char *state = NULL;
	char name[SESSION_PATH_SIZE];
	if (state_directory_open(true, &session.state_fd, &state, e) < 0)
		return -1;
	int made = 0;
	for (int i = 0; i < TRIES && made == 0; i++)
		made = session_make(&session, name);
	bool home =
		made == 1 && (mkdirat(session.directory_fd, "home", 0700) == 0 || errno == EEXIST);
	if (home && session_open_home(&session) == 0) {
		session_set_paths(&session, state, name);
		*ret_session = session;
		session = (struct session)SESSION_NONE;
		return 0;
	}
	err_set(e, made ? errno : EEXIST, "cannot make a session in the state directory %s", state);
	return err_hint(e, "set HUTCH_STATE_DIR to a place that can be written");
}

/* ---- Ending ---- */

/* Remove all in `directory` but the lock. */
static int directory_clean(int directory)
{
	int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = fd < 0 ? NULL : fdopendir(fd);
	int result = entries ? 0 : -1;
	for (struct dirent *entry; entries && result == 0 && (entry = readdir(entries));) {
		const char *name = entry->d_name;
		if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && strcmp(name, "lock") != 0)
			result = tree_remove_at(directory, name, NULL);
	}
	if (entries)
		closedir(entries);
	return result;
}

/* Make the session a spare, see invariant 6. 0, or -1 when it has to be removed instead. */
static int session_recycle(struct session *session)
{
	char name[SESSION_PATH_SIZE];
	snprintf(name, sizeof name, SESSION_PREFIX "%s", session->id);
	if (directory_clean(session->directory_fd) < 0 ||
		mkdirat(session->directory_fd, "home", 0700) < 0 ||
		fchmodat(session->directory_fd, "home", 0700, 0) < 0) /* whatever the umask is */
		return -1;
	fd_close(&session->lock);
	return renameat2(
		session->state_fd, name, session->state_fd, SESSION_SPARE, RENAME_NOREPLACE);
}

/* All that is large goes while the lock is held; the rest, lock included, under a name that says
 * that anyone may finish it. */
static int session_remove(struct session *session, struct err *e)
{
	char name[SESSION_PATH_SIZE], gone[SESSION_PATH_SIZE + sizeof SESSION_GONE];
	snprintf(name, sizeof name, SESSION_PREFIX "%s", session->id);
	snprintf(gone, sizeof gone, "%s" SESSION_GONE, name);
	if (tree_remove_at(session->directory_fd, "home", e) < 0)
		return err_prefix(e, "%s", session->directory);
	if (renameat(session->state_fd, name, session->state_fd, gone) < 0)
		return errno == ENOENT ? 0 /* a sweeper was faster */
				       : err_set(e, errno, "cannot remove %s", session->directory);
	return tree_remove_at(session->state_fd, gone, e);
}

static int session_finish(struct session *session, struct strings *notes, struct err *e)
{
	if (state_merge(session, notes, e) < 0)
		return -1;
	if (unlinkat(session->directory_fd, "state", 0) < 0 && errno != ENOENT)
		return err_set(e, errno, "cannot remove %s/state", session->directory);
	if (session->recycled && session_recycle(session) == 0)
		return 0;
	return session_remove(session, e);
}

int session_end(struct session *session, struct strings *ret_notes, struct err *e)
{
	int result = session_finish(session, ret_notes, e);
	session_free(session);
	return result;
}

/* ---- Sweeping ---- */

static bool directory_is_old(int directory)
{
	struct stat status;
	if (fstat(directory, &status) < 0)
		return false;
	/* A clock that was set back must not keep it for ever: the distance counts, either way. */
	time_t age = time(NULL) - status.st_mtime;
	return age > BEING_MADE_SECONDS || age < -BEING_MADE_SECONDS;
}

/* Take over the session `id`, if its run is dead. 1: taken. 0: alive, or gone. */
static int session_take(int state_fd, const char *state, const char *id, struct session *session)
{
	char name[SESSION_PATH_SIZE];
	snprintf(name, sizeof name, SESSION_PREFIX "%s", id);
	session->directory_fd =
		openat(state_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (session->directory_fd < 0)
		return 0;
	int taken = lock_take(session->directory_fd, 0, &session->lock);
	if (taken < 0 && errno == ENOENT && directory_is_old(session->directory_fd))
		taken = lock_take(session->directory_fd, O_CREAT, &session->lock);
	if (taken != 1)
		return 0;
	session->state_fd = fcntl(state_fd, F_DUPFD_CLOEXEC, 3);
	if (session->state_fd < 0)
		return 0;
	session_set_paths(session, state, name);
	session_open_home(session); /* a run killed early has none, and nothing to merge */
	return 1;
}

bool session_id_is_valid(const char *id)
{
	return strlen(id) == SESSION_ID_LENGTH &&
	       strspn(id, "0123456789abcdefghjkmnpqrstvwxyz") == SESSION_ID_LENGTH;
}

static bool is_gone(const char *name)
{
	return strlen(name) == SESSION_ID_LENGTH + sizeof SESSION_GONE - 1 &&
	       strcmp(name + SESSION_ID_LENGTH, SESSION_GONE) == 0;
}

static void sweep_one(
	int state_fd, const char *state, const char *id, struct strings *notes, size_t *count)
{
	AUTO_SESSION session = SESSION_NONE;
	struct err e;
	if (session_take(state_fd, state, id, &session) == 0)
		return;
	if (session_finish(&session, notes, &e) == 0)
		*count += 1;
	else if (e.hint[0])
		strings_take(notes, memory_format("session %s: %s (%s)", id, e.text, e.hint));
	else
		strings_take(notes, memory_format("session %s: %s", id, e.text));
}

int session_sweep(struct strings *ret_notes, size_t *ret_count, struct err *e)
{
	AUTO_CLOSE int state_fd = -1;
	AUTO_FREE char *state = NULL;
	size_t count = 0;
	if (ret_count)
		*ret_count = 0;
	if (state_directory_open(false, &state_fd, &state, e) < 0)
		return -1;
	if (state_fd < 0)
		return 0;
	int fd = openat(state_fd, "sessions", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *sessions = fd < 0 ? NULL : fdopendir(fd);
	if (!sessions)
		return errno == ENOENT ? 0 : err_set(e, errno, "cannot list %s/sessions", state);
	for (struct dirent *entry; (entry = readdir(sessions));) {
		if (session_id_is_valid(entry->d_name))
			sweep_one(state_fd, state, entry->d_name, ret_notes, &count);
		else if (is_gone(entry->d_name))
			tree_remove_at(dirfd(sessions), entry->d_name, NULL);
	}
	closedir(sessions);
	if (ret_count)
		*ret_count = count;
	return 0;
}

int session_spare_remove(struct err *e)
{
	AUTO_CLOSE int state_fd = -1;
	if (state_directory_open(false, &state_fd, NULL, e) < 0)
		return -1;
	return state_fd < 0 ? 0 : tree_remove_at(state_fd, SESSION_SPARE, e);
}
