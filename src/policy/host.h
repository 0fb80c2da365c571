/* SPDX-License-Identifier: MIT */
/* The facts about this host and this call that compiling needs, gathered once. */
#pragma once

#include <sys/types.h>

#include "base/err.h"
#include "base/strings.h"

struct host {
	uid_t uid;
	gid_t gid;
	char *user;       /* login name; the number when /etc/passwd has none */
	char *home;       /* $HOME, else what /etc/passwd says; absolute and normal */
	char *directory;  /* the current directory, physical */
	int directory_fd; /* the same, O_PATH */
	char *program;    /* this executable; NULL when it has no path any more */
	char *config;     /* ~/.config/hutch, or below $XDG_CONFIG_HOME */
	char *state;      /* ~/.local/state/hutch, below $XDG_STATE_HOME, or $HUTCH_STATE_DIR */
	char *const *variables; /* environ; borrowed */
};

/* Fails with a sentence when there is no usable home or current directory. */
int host_gather(char *const *variables, struct host *ret_host, struct err *e);
void host_free(struct host *host);

/* A variable of the outside environment, or NULL when unset or empty. */
const char *host_variable(const struct host *host, const char *name);

/* `path` with a leading "~/" (or "~") replaced by the home; owned by the caller. */
char *host_expand(const struct host *host, const char *path);

/* Where on the host the things are that are at `path` (absolute, below the home) inside: the same, but
 * for what lies in a directory that XDG_CONFIG_HOME and the like have moved; owned by the caller. */
char *host_outside(const struct host *host, const char *path);

/* The uid and gid of a user given by number or by name in /etc/passwd. */
int host_user(const char *name, uid_t *ret_uid, gid_t *ret_gid, struct err *e);
