/* SPDX-License-Identifier: MIT */
/* A run from start to end: descriptors, loop and limits around the table in session.c. */
#include "supervisor/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "kernel/process.h"
#include "supervisor/session.h"
#include "supervisor/signals.h"

static bool is_gone(const struct box *box)
{
	struct pollfd end = { .fd = box->pidfd, .events = POLLIN };
	return poll(&end, 1, 0) == 1;
}

static void message_happened(struct session *session, struct message *message)
{
	/* The command can stop itself faster than hutch, which stops with it, hears of it: once it is over,
	 * nobody has to continue hutch for each time that is still told of. */
	if (message->kind == MESSAGE_STOPPED && is_gone(&session->box))
		return;
	static const enum event events[MESSAGE_COUNT] = {
		[MESSAGE_READY] = EVENT_READY,
		[MESSAGE_STOPPED] = EVENT_STOPPED,
		[MESSAGE_EXITED] = EVENT_EXITED,
		[MESSAGE_TIMED_OUT] = EVENT_EXITED,
		[MESSAGE_ERROR] = EVENT_ERROR,
	};
	struct cause cause = { message->number, message };
	if (message->kind == MESSAGE_TIMED_OUT)
		cause.number = EXIT_TIME_LIMIT;
	session_happen(session, events[message->kind], &cause);
	fd_close(&message->fd);
}

static void channel_ready(struct loop_watch *watch, uint32_t events)
{
	(void)events;
	struct session *session = watch->data;
	struct message message;
	if (message_receive(watch->fd, FROM_INIT, &message) == 1) {
		message_happened(session, &message);
		return;
	}
	loop_remove(&session->loop, watch);
	session_happen(session, EVENT_CLOSED, &(struct cause){ 0 });
}

static void signal_arrived(struct loop_signals *signals, int signal)
{
	static const enum event events[] = {
		[SIGNAL_FORWARD] = EVENT_FORWARD,
		[SIGNAL_FATAL] = EVENT_FATAL,
		[SIGNAL_RESIZE] = EVENT_RESIZE,
		[SIGNAL_CONTINUE] = EVENT_CONTINUED,
	};
	session_happen(
		signals->data, events[signal_use(signal)], &(struct cause){ .number = signal });
}

static void look_expired(struct loop_timer *timer)
{
	session_happen(timer->data, EVENT_LOOK, &(struct cause){ 0 });
}

static void limit_expired(struct loop_timer *timer)
{
	session_happen(timer->data, EVENT_LIMIT, &(struct cause){ 0 });
}

/* Killed, it closes the channel, and the rest is as if somebody else had. */
static void memory_expired(struct loop_timer *timer)
{
	struct session *session = timer->data;
	struct limits *limits = session->options->limits;
	if (limits_tick(limits))
		process_signal(session->box.pidfd, SIGKILL);
	else
		loop_timer_set(timer, limits_interval(limits), 0);
}

static int start_describe(struct session *session, const struct signals *before,
	struct start *ret_start, struct err *e)
{
	*ret_start = (struct start){
		.timeout_ms = session->options->timeout_ms,
		.keep = session->options->keep,
		.blocked = before->blocked,
		.child_ignored = before->child_ignored,
	};
	if (terminal_open(&session->terminal, e) < 0)
		return -1;
	if (session->terminal.fd < 0)
		return 0;
	bool front = terminal_is_front(&session->terminal);
	session->shared = !isatty(0) || !isatty(1);
	ret_start->terminal = true;
	ret_start->foreground = session->inside_front = front && !session->shared;
	return terminal_describe(
		&session->terminal, front, &ret_start->settings, &ret_start->size, e);
}

static int loop_prepare(struct session *session, const sigset_t *wait, struct err *e)
{
	struct loop *loop = &session->loop;
	if (loop_signals_add(loop, &session->signals, wait, signal_arrived, session, e) < 0)
		return -1;
	if (session->terminal.fd >= 0 &&
		loop_timer_add(loop, &session->look, look_expired, session, e) < 0)
		return -1;
	if (!session->options->timeout_ms)
		return 0;
	if (loop_timer_add(loop, &session->limit, limit_expired, session, e) < 0)
		return -1;
	loop_timer_set(&session->limit, session->options->timeout_ms, 0);
	return 0;
}

/* Put the box under its limits, and look at it from time to time where that is needed. */
static int limits_start(struct session *session, struct err *e)
{
	struct limits *limits = session->options->limits;
	if (!limits || limits_attach(limits, session->box.pid, e) < 0)
		return limits ? -1 : 0;
	if (!limits_interval(limits))
		return 0;
	if (loop_timer_add(&session->loop, &session->memory, memory_expired, session, e) < 0)
		return -1;
	loop_timer_set(&session->memory, limits_interval(limits), 0);
	return 0;
}

static void pipes_release(void)
{
	AUTO_CLOSE int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; fd < 2 && null >= 0; fd++)
		if (!isatty(fd))
			dup3(null, fd, O_CLOEXEC);
}

static int box_run(struct session *session, const struct supervisor_options *options, struct err *e)
{
	pipes_release();
	if (limits_start(session, e) < 0)
		return -1;
	if (options->started && options->started(&session->box, options->data, e) < 0)
		return -1;
	if (loop_add(&session->loop, &session->channel, session->box.channel, EPOLLIN,
		    channel_ready, session, e) < 0)
		return -1;
	/* Before the terminal is raw: a key in that moment is echoed twice at worst, and the start
	 * is a round trip shorter. */
	session_tell(session, MESSAGE_GO, 0);
	return loop_run(&session->loop, e);
}

/* Whatever way it ended: nothing is left inside, and the terminal is the user's again. */
static int box_end(struct session *session, int *ret_signal)
{
	process_signal(session->box.pidfd, SIGKILL);
	int code = process_wait(session->box.pidfd, ret_signal);
	if (session_has_relay(session) && !session->relay.finished) {
		relay_drain(&session->relay, DRAIN_MS);
		relay_finish(&session->relay);
	}
	relay_close(&session->relay);
	fd_close(&session->box.channel);
	fd_close(&session->box.pidfd);
	return code;
}

static int session_result(
	struct session *session, int init_code, int init_signal, int *ret_code, struct err *e)
{
	if (session->failed) {
		*e = session->error;
		return -1;
	}
	if (session->code < 0 && init_signal) {
		err_set(e, 0, "the sandbox was ended from outside by signal %d", init_signal);
		err_hint(e, "its first process was killed, by someone or because memory ran out");
		e->exit_code = 128 + init_signal;
		return -1;
	}
	if (session->code < 0 && init_code == EXIT_HUTCH)
		return err_set(e, 0, "the sandbox's first process ended without saying why");
	*ret_code = session->code < 0 ? init_code : session->code;
	return 0;
}

static int session_run(struct session *session, const struct engine *engine,
	const struct plan *plan, const struct start *start, int *ret_code, struct err *e)
{
	int init_signal = 0;
	if (engine->start(plan, start, &session->box, e) < 0)
		return -1;
	if (box_run(session, session->options, e) < 0) {
		box_end(session, &init_signal);
		return -1;
	}
	int init_code = box_end(session, &init_signal);
	/* Before the other ways to end: running out of memory looks like several of them. */
	if (session->options->limits && limits_finish(session->options->limits, e))
		return -1;
	return session_result(session, init_code, init_signal, ret_code, e);
}

int supervisor_run(const struct engine *engine, const struct plan *plan,
	const struct supervisor_options *options, int *ret_code, struct err *e)
{
	/* Large buffers, of which only what is used becomes memory. */
	static struct session session;
	struct signals before;
	struct start start;
	sigset_t wait;

	memset(&session, 0, offsetof(struct session, relay));
	session.options = options;
	session.loop.epoll = session.box.pidfd = session.box.channel = session.terminal.fd = -1;
	session.relay.master = session.relay.terminal_watch.fd = session.relay.master_watch.fd = -1;
	session.signals.watch.fd = session.look.watch.fd = session.limit.watch.fd = -1;
	session.memory.watch.fd = -1;
	session.channel.fd = -1;
	session.code = -1;
	signals_take(&before, &wait);
	int result = -1;
	if (start_describe(&session, &before, &start, e) == 0 && loop_open(&session.loop, e) == 0 &&
		loop_prepare(&session, &wait, e) == 0)
		result = session_run(&session, engine, plan, &start, ret_code, e);
	if (options->limits)
		limits_finish(options->limits, NULL);
	terminal_close(&session.terminal);
	loop_signals_remove(&session.loop, &session.signals);
	loop_timer_remove(&session.loop, &session.look);
	loop_timer_remove(&session.loop, &session.limit);
	loop_timer_remove(&session.loop, &session.memory);
	loop_close(&session.loop);
	signals_give_back(&before);
	return result;
}
