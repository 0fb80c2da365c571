/* SPDX-License-Identifier: MIT */
#include "loop/loop.h"

#include <errno.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/fd.h"

int loop_open(struct loop *loop, struct err *e)
{
	*loop = (struct loop){ .epoll = epoll_create1(EPOLL_CLOEXEC) };
	return loop->epoll < 0 ? err_set(e, errno, "cannot make an epoll set") : 0;
}

void loop_close(struct loop *loop)
{
	fd_close(&loop->epoll);
}

int loop_add(struct loop *loop, struct loop_watch *watch, int fd, uint32_t events,
	void (*ready)(struct loop_watch *watch, uint32_t events), void *data, struct err *e)
{
	*watch = (struct loop_watch){ .fd = fd, .events = events, .ready = ready, .data = data };
	struct epoll_event event = { .events = events, .data.ptr = watch };
	if (epoll_ctl(loop->epoll, EPOLL_CTL_ADD, fd, &event) == 0)
		return 0;
	watch->fd = -1;
	return err_set(e, errno, "cannot wait for descriptor %d", fd);
}

void loop_change(struct loop *loop, struct loop_watch *watch, uint32_t events)
{
	if (watch->fd < 0 || watch->events == events)
		return;
	watch->events = events;
	struct epoll_event event = { .events = events, .data.ptr = watch };
	epoll_ctl(loop->epoll, EPOLL_CTL_MOD, watch->fd, &event);
}

void loop_remove(struct loop *loop, struct loop_watch *watch)
{
	if (watch->fd < 0)
		return;
	epoll_ctl(loop->epoll, EPOLL_CTL_DEL, watch->fd, NULL);
	watch->fd = -1;
	/* An event of it may wait in the batch that is being dispatched. */
	for (int i = 0; i < loop->batch_count; i++)
		if (loop->batch[i].data.ptr == watch)
			loop->batch[i].data.ptr = NULL;
}

static void timer_ready(struct loop_watch *watch, uint32_t events)
{
	(void)events;
	struct loop_timer *timer = watch->data;
	uint64_t times;
	if (read(watch->fd, &times, sizeof times) == sizeof times)
		timer->expired(timer);
}

int loop_timer_add(struct loop *loop, struct loop_timer *timer,
	void (*expired)(struct loop_timer *timer), void *data, struct err *e)
{
	timer->expired = expired;
	timer->data = data;
	timer->watch.fd = -1;
	AUTO_CLOSE int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (fd < 0)
		return err_set(e, errno, "cannot make a timer");
	if (loop_add(loop, &timer->watch, fd, EPOLLIN, timer_ready, timer, e) < 0)
		return -1;
	take_fd(&fd);
	return 0;
}

static struct timespec milliseconds(uint64_t count)
{
	return (struct timespec){ (time_t)(count / 1000), (long)(count % 1000) * 1000000 };
}

void loop_timer_set(struct loop_timer *timer, uint64_t first, uint64_t every)
{
	struct itimerspec times = { milliseconds(every), milliseconds(first) };
	if (timer->watch.fd >= 0)
		timerfd_settime(timer->watch.fd, 0, &times, NULL);
}

static void owned_remove(struct loop *loop, struct loop_watch *watch)
{
	int fd = watch->fd;
	loop_remove(loop, watch);
	fd_close(&fd);
}

void loop_timer_remove(struct loop *loop, struct loop_timer *timer)
{
	owned_remove(loop, &timer->watch);
}

static void signals_ready(struct loop_watch *watch, uint32_t events)
{
	(void)events;
	struct loop_signals *signals = watch->data;
	struct signalfd_siginfo information;
	if (read(watch->fd, &information, sizeof information) == sizeof information)
		signals->arrived(signals, (int)information.ssi_signo);
}

int loop_signals_add(struct loop *loop, struct loop_signals *signals, const sigset_t *set,
	void (*arrived)(struct loop_signals *signals, int signal), void *data, struct err *e)
{
	signals->arrived = arrived;
	signals->data = data;
	signals->watch.fd = -1;
	AUTO_CLOSE int fd = signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return err_set(e, errno, "cannot wait for signals");
	if (loop_add(loop, &signals->watch, fd, EPOLLIN, signals_ready, signals, e) < 0)
		return -1;
	take_fd(&fd);
	return 0;
}

void loop_signals_remove(struct loop *loop, struct loop_signals *signals)
{
	owned_remove(loop, &signals->watch);
}

int loop_run(struct loop *loop, struct err *e)
{
	loop->stopped = false;
	while (!loop->stopped) {
		int count = epoll_wait(loop->epoll, loop->batch, LOOP_BATCH, -1);
		if (count < 0 && errno != EINTR)
			return err_set(e, errno, "cannot wait for events");
		loop->batch_count = count < 0 ? 0 : count;
		for (int i = 0; i < loop->batch_count && !loop->stopped; i++) {
			struct loop_watch *watch = loop->batch[i].data.ptr;
			if (watch)
				watch->ready(watch, loop->batch[i].events);
		}
		loop->batch_count = 0;
	}
	return 0;
}

void loop_stop(struct loop *loop)
{
	loop->stopped = true;
}
