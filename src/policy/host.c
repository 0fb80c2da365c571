/* SPDX-License-Identifier: MIT */
#include "policy/host.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/path.h"
#include "kernel/account.h"

const char *host_variable(const struct host *host, const char *name)
{
	size_t length = strlen(name);
	for (char *const *entry = host->variables; *entry; entry++)
		if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=')
			return (*entry)[length + 1] ? *entry + length + 1 : NULL;
	return NULL;
}

int host_user(const char *name, uid_t *ret_uid, gid_t *ret_gid, struct err *e)
{
	struct account account;
	uint64_t number;
	if (account_by_name(name, &account)) {
		*ret_uid = account.entry.pw_uid;
		*ret_gid = account.entry.pw_gid;
		return 0;
	}
	if (number_parse(name, "user", 0, 4294967294u, &number, NULL) < 0)
		return err_set(
			e, 0, "there is no user '%s' in /etc/passwd, nor is it a number", name);
	*ret_uid = (uid_t)number;
	*ret_gid = account_by_uid(*ret_uid, &account) ? account.entry.pw_gid : (gid_t)number;
	return 0;
}

/* HOME and USER say it on every ordinary system; /etc/passwd is only asked when one of them does
 * not. */
static int identity_read(struct host *host, struct err *e)
{
	const char *home = host_variable(host, "HOME"), *user = host_variable(host, "USER");
	struct account account;
	bool known = (!home || !user) && account_by_uid(host->uid, &account);
	if (!home)
		home = known ? account.entry.pw_dir : NULL;
	if (!home || home[0] != '/') {
		err_set(e, 0,
			home ? "HOME is '%s', not an absolute path"
			     : "there is no home directory%s",
			home ? home : "");
		return err_hint(e, "set HOME to a directory");
	}
	host->home = path_absolute("/", home);
	host->user = user    ? memory_string(user)
		     : known ? memory_string(account.entry.pw_name)
			     : memory_format("%u", host->uid);
	return 0;
}

static int directory_read(struct host *host, struct err *e)
{
	host->directory = getcwd(NULL, 0);
	if (!host->directory || host->directory[0] != '/') {
		err_set(e, host->directory ? 0 : errno, "cannot tell the current directory");
		return err_hint(e, "was it removed? cd into the project again");
	}
	host->directory_fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (host->directory_fd < 0)
		return err_set(e, errno, "cannot open %s", host->directory);
	return 0;
}

static void program_read(struct host *host)
{
	char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
	if (length <= 0)
		return;
	path[length] = '\0';
	if (access(path, X_OK) == 0) /* not " (deleted)" */
		host->program = memory_string(path);
}

static char *xdg_directory(const struct host *host, const char *variable, const char *fallback)
{
	const char *base = host_variable(host, variable);
	if (base && base[0] == '/')
		return memory_format("%s/hutch", base);
	return memory_format("%s/%s/hutch", strcmp(host->home, "/") ? host->home : "", fallback);
}

int host_gather(char *const *variables, struct host *ret_host, struct err *e)
{
	*ret_host = (struct host){
		.uid = geteuid(), .gid = getegid(), .directory_fd = -1, .variables = variables
	};
	if (identity_read(ret_host, e) < 0 || directory_read(ret_host, e) < 0)
		return -1;
	program_read(ret_host);
	ret_host->config = xdg_directory(ret_host, "XDG_CONFIG_HOME", ".config");
	const char *state = host_variable(ret_host, "HUTCH_STATE_DIR");
	ret_host->state = state && state[0] == '/'
				  ? path_absolute("/", state)
				  : xdg_directory(ret_host, "XDG_STATE_HOME", ".local/state");
	return 0;
}

void host_free(struct host *host)
{
	free(host->user);
	free(host->home);
	free(host->directory);
	free(host->program);
	free(host->config);
	free(host->state);
	fd_close(&host->directory_fd);
}

char *host_expand(const struct host *host, const char *path)
{
	if (path[0] == '~' && (path[1] == '/' || path[1] == '\0'))
		return path[1] ? path_join(host->home, path + 2) : memory_string(host->home);
	return memory_string(path);
}

/* Directories of the home that a variable may have moved elsewhere. Inside they are where they are
 * without it. */
static const struct {
	const char *variable;
	const char *below;
} moved[] = {
	{ "XDG_CONFIG_HOME", ".config" },
	{ "XDG_CACHE_HOME", ".cache" },
	{ "XDG_DATA_HOME", ".local/share" },
	{ "XDG_STATE_HOME", ".local/state" },
};

char *host_outside(const struct host *host, const char *path)
{
	struct stat info;
	for (size_t i = 0; i < sizeof moved / sizeof moved[0]; i++) {
		AUTO_FREE char *usual = path_join(host->home, moved[i].below);
		const char *base = host_variable(host, moved[i].variable);
		if (!base || base[0] != '/' || !path_is_within(path, usual))
			continue;
		AUTO_FREE char *joined = memory_format("%s/%s", base, path + strlen(usual));
		AUTO_FREE char *place = path_absolute("/", joined);
		/* Not every program asks these variables: what is there decides. */
		if (stat(place, &info) == 0 || stat(path, &info) < 0)
			return take_pointer(place);
	}
	return memory_string(path);
}
