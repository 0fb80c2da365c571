/* SPDX-License-Identifier: MIT */
#include "policy/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/text.h"
#include "formats/yaml.h"

/* No normal path gives this name: it would have "//" in it. */
static const char partial_name[] = "%%partial";

/* "/home/u/x" becomes "%home%u%x" ("%" itself "%25"), so that no two paths share a name. A name may
 * have 255 bytes and a path 4096: a long one is cut into directories whose names end with "+", by
 * which they differ from every file. */
char *trust_file_name(const char *workspace)
{
	enum { PIECE = 200 };
	struct text name = { 0 };
	size_t used = 0;
	for (const char *p = workspace; *p; p++) {
		if (used >= PIECE) {
			text_add(&name, "+/");
			used = 0;
		}
		size_t before = name.length;
		if (*p == '/')
			text_add(&name, "%");
		else if (*p == '%')
			text_add(&name, "%25");
		else
			text_add_bytes(&name, p, 1);
		used += name.length - before;
	}
	return text_take(&name);
}

static char *file_path(const char *state, const char *workspace)
{
	AUTO_FREE char *name = trust_file_name(workspace);
	return memory_format("%s/trust/%s", state, name);
}

/* ---- Looking ---- */

/* 0 with `ret_data` NULL when nothing was accepted. Anything odd is an error, never trust. */
static int accepted_read(const char *path, char **ret_data, size_t *ret_length, struct err *e)
{
	struct stat status;
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (fd < 0 || fstat(fd, &status) < 0)
		return err_set(e, errno, "cannot read %s", path);
	if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 022)) {
		err_set(e, 0, "%s must be a plain file that only you can write", path);
		return err_hint(e, "remove it, then look at the project again with: hutch trust");
	}
	if (fd_read_all(fd, YAML_LIMIT, ret_data, ret_length, e) < 0)
		return err_prefix(e, "%s", path);
	return 0;
}

int trust_look(const char *state, const char *workspace, const char *data, size_t length,
	enum trust *ret_trust, char **ret_accepted, size_t *ret_accepted_length, struct err *e)
{
	AUTO_FREE char *accepted = NULL;
	size_t accepted_length = 0;
	if (ret_accepted)
		*ret_accepted = NULL;
	*ret_trust = TRUST_NONE;
	if (!state)
		return 0;
	AUTO_FREE char *path = file_path(state, workspace);
	if (accepted_read(path, &accepted, &accepted_length, e) < 0)
		return -1;
	if (!accepted)
		return 0;
	if (accepted_length == length && memcmp(accepted, data, length) == 0) {
		*ret_trust = TRUST_SAME;
		return 0;
	}
	*ret_trust = TRUST_CHANGED;
	if (ret_accepted) {
		*ret_accepted = take_pointer(accepted);
		*ret_accepted_length = accepted_length;
	}
	return 0;
}

/* ---- Changing ---- */

/* Every directory above the last component of `path`. */
static int parents_make(const char *path, struct err *e)
{
	AUTO_FREE char *copy = memory_string(path);
	for (char *slash = copy; (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		if (mkdir(copy, 0700) < 0 && errno != EEXIST)
			return err_set(e, errno, "cannot make the directory %s", copy);
		*slash = '/';
	}
	return 0;
}

/* The lock makes the one name enough: what a killed writer left is overwritten by the next. */
static int partial_write(int directory, const char *data, size_t length)
{
	unlinkat(directory, partial_name, 0);
	AUTO_CLOSE int fd = openat(directory, partial_name,
		O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 || fd_write_all(fd, data, length) < 0)
		return -1;
	return fsync(fd);
}

int trust_accept(
	const char *state, const char *workspace, const char *data, size_t length, struct err *e)
{
	AUTO_FREE char *path = file_path(state, workspace);
	if (parents_make(path, e) < 0)
		return -1;
	AUTO_FREE char *parent = path_parent(path);
	AUTO_CLOSE int directory = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory < 0 || flock(directory, LOCK_EX) < 0)
		return err_set(e, errno, "cannot open %s", parent);
	if (partial_write(directory, data, length) < 0 ||
		renameat(directory, partial_name, directory, path_base(path)) < 0) {
		err_set(e, errno, "cannot write %s", path);
		unlinkat(directory, partial_name, 0);
		return -1;
	}
	return 0;
}

int trust_revoke(const char *state, const char *workspace, bool *ret_was, struct err *e)
{
	AUTO_FREE char *path = file_path(state, workspace);
	*ret_was = unlink(path) == 0;
	if (!*ret_was && errno != ENOENT && errno != ENOTDIR)
		return err_set(e, errno, "cannot remove %s", path);
	return 0;
}
