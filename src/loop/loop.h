/* SPDX-License-Identifier: MIT */
/*
 * One loop over descriptors, signals and timers. The caller owns every watch, timer and signal set
 * and keeps it in place while it is in the loop; an event allocates nothing. A callback may change,
 * remove or add any of them, its own too.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "base/err.h"

enum { LOOP_BATCH = 8 };

struct loop {
	int epoll;
	bool stopped;
	struct epoll_event batch[LOOP_BATCH]; /* being dispatched */
	int batch_count;
};

struct loop_watch {
	int fd; /* borrowed; -1 when not in a loop */
	uint32_t events;
	void (*ready)(struct loop_watch *watch, uint32_t events);
	void *data;
};

struct loop_timer {
	struct loop_watch watch;
	void (*expired)(struct loop_timer *timer);
	void *data;
};

struct loop_signals {
	struct loop_watch watch;
	void (*arrived)(struct loop_signals *signals, int signal);
	void *data;
};

/* 0, or -1: no descriptor or memory left. */
int loop_open(struct loop *loop, struct err *e);
void loop_close(struct loop *loop); /* does not touch the watches */

/* Call `ready` with what of `events` (EPOLLIN, EPOLLOUT) is possible; EPOLLHUP and EPOLLERR come
 * unasked. Level-triggered. Fails with EPERM for files that are always ready. */
int loop_add(struct loop *loop, struct loop_watch *watch, int fd, uint32_t events,
	void (*ready)(struct loop_watch *watch, uint32_t events), void *data, struct err *e);

/* Ask for other events. Costs nothing when they are the same. */
void loop_change(struct loop *loop, struct loop_watch *watch, uint32_t events);

/* The watch may be freed or used again afterwards. Nothing happens if it is in no loop. */
void loop_remove(struct loop *loop, struct loop_watch *watch);

/* A timer of CLOCK_MONOTONIC, not armed yet. */
int loop_timer_add(struct loop *loop, struct loop_timer *timer,
	void (*expired)(struct loop_timer *timer), void *data, struct err *e);

/* Expire after `first` milliseconds and then every `every` (0: once). `first` 0 disarms. */
void loop_timer_set(struct loop_timer *timer, uint64_t first, uint64_t every);
void loop_timer_remove(struct loop *loop, struct loop_timer *timer);

/* Deliver `set`, which the caller has blocked, as callbacks. */
int loop_signals_add(struct loop *loop, struct loop_signals *signals, const sigset_t *set,
	void (*arrived)(struct loop_signals *signals, int signal), void *data, struct err *e);
void loop_signals_remove(struct loop *loop, struct loop_signals *signals);

/* Dispatch until loop_stop. 0, or -1 when waiting fails. */
int loop_run(struct loop *loop, struct err *e);
void loop_stop(struct loop *loop);
