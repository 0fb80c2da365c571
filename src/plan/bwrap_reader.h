/* SPDX-License-Identifier: MIT */
/* What read_bwrap.c and bwrap_options.c share: a bubblewrap command line while it is read. */
#pragma once

#include "plan/read_bwrap.h"

enum bwrap_namespace { NS_USER, NS_IPC, NS_PID, NS_NET, NS_UTS, NS_CGROUP, NS_COUNT };

enum bwrap_flag {
	FLAG_LEVEL_PREFIX,
	FLAG_USER_TRY,
	FLAG_DISABLE_USERNS,
	FLAG_ASSERT_DISABLED,
	FLAG_NEW_SESSION,
	FLAG_DIE_WITH_PARENT,
	FLAG_AS_PID_1,
	FLAG_COUNT,
};

enum bwrap_descriptor {
	FD_USERNS,
	FD_USERNS2,
	FD_PIDNS,
	FD_SYNC,
	FD_BLOCK,
	FD_USERNS_BLOCK,
	FD_INFO,
	FD_STATUS,
	FD_COUNT,
};

enum bwrap_identity { ID_USER, ID_GROUP, ID_COUNT };

struct bwrap_reader {
	struct bwrap_request *request;
	const struct bwrap_caller *caller;
	size_t words;
	bool in_data; /* --args is not read from what --args read */
	bool unshare[NS_COUNT];
	bool flag[FLAG_COUNT];
	int descriptor[FD_COUNT];
	bool identity_given[ID_COUNT];
	const char *hostname;
	const char *directory;
	int seccomp; /* -1: none */
	bool seccomp_added;
	bool perms_given, size_given; /* for the next operation */
	mode_t perms;
	uint64_t size;
	const char **layers; /* for the next overlay; ends with NULL */
	size_t layer_count;
};

struct bwrap_option {
	const char *name;
	int words;
	const char *lack;
	int (*read)(struct bwrap_reader *r, const struct bwrap_option *option, char *const *word,
		struct err *e);
	unsigned parameter;
	const char *arguments; /* for help */
	const char *help;
};

/* The option of that name, or NULL. */
const struct bwrap_option *bwrap_option_find(const char *name);

/* Append an operation. */
struct op *bwrap_add(struct bwrap_reader *r, enum op_kind kind, const char *because);

/* An error of one fixed sentence. */
int bwrap_refuse(struct err *e, const char *sentence);

/* The number of a descriptor. */
int bwrap_descriptor_read(const char *text, int *ret_fd, struct err *e);

/* --args: read what is in a descriptor as options. */
int bwrap_args_read(struct bwrap_reader *r, int fd, struct err *e);
