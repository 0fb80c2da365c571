/* SPDX-License-Identifier: MIT */
/*
 * Finding out what works here by doing it, each in a forked child that is killed after three
 * seconds. Only asked for by doctor, plan, --require and limits: a plain run probes nothing.
 *
 * Each returns 0 when the thing works; else -1 with a sentence that says what did not, and where
 * the cause is known a hint with the commands that change it.
 */
#pragma once

#include "engines/engine.h"

/* A user namespace that one's own uid is mapped into, and a mount made in it. */
int probe_user_namespace(struct err *e);

/* For a process with uid 0: the map of uid 0 to itself (CAP_SETFCAP), and of uid 1000 to 0. */
int probe_root_map(struct err *e);
int probe_user_map(struct err *e);

/* open_tree, mount_setattr, move_mount and fsopen (Linux 5.12), each called. */
int probe_mounts(struct err *e);

/* A process namespace with a /proc of its own. */
int probe_process_namespace(struct err *e);
int probe_fresh_proc(struct err *e);

/* A network namespace with a loopback device; nftables with address translation in it. */
int probe_network_namespace(struct err *e);
int probe_nftables(struct err *e);

/* Overlayfs in a user namespace, with whiteouts and replaced directories, on the file system of
 * `directory`, in which it makes and removes a directory. */
int probe_overlay(const char *directory, struct err *e);

/* Landlock's scopes (ABI 6): an abstract socket outside refuses the connection. */
int probe_abstract_scope(struct err *e);

/* Landlock's file rules: a directory outside of them cannot be opened. */
int probe_landlock(struct err *e);

/* A seccomp filter, and notifications of one. */
int probe_seccomp(struct err *e);

/* RLIMIT_NPROC set inside a new user namespace, which holds there and counts nothing else. */
int probe_task_limit(struct err *e);

/* A control group with this controller can be made. Stores 1 or 2. */
int probe_cgroup(bool memory, int *ret_version, struct err *e);

/* Start `plan` in an engine, wait for its command, store its exit code. Fails when the sandbox
 * cannot be made, the command not be started, or after `most` milliseconds. */
int probe_plan(const struct engine *engine, const struct plan *plan, uint64_t most, int *ret_code,
	struct err *e);

/* Run `act(data)` in such a child; for further probes. */
int probe_child(int (*act)(const void *data, struct err *e), const void *data, struct err *e);
