/* SPDX-License-Identifier: MIT */
/*
 * States by events. The two states with a terminal mirror the user's: in FRONT the user's terminal
 * is raw, keys go in, and the command is in the foreground of the terminal inside; in BEHIND the
 * user's terminal is left as it is and the command is in the background of its own. There it is
 * stopped by the kernel when it wants the terminal, and that is how the supervisor learns of it.
 *
 * A run whose descriptors 0 and 1 are not both terminals (`shared`) stands in a pipe whose other
 * parts may want the terminal as well. It begins BEHIND even when in front, and comes to the FRONT
 * only when it asks: so two sandboxes in one pipe, or a pager after one, do not fight over the
 * keys.
 */
#include "supervisor/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "kernel/process.h"
#include "loop/loop.h"
#include "protocol/message.h"
#include "supervisor/relay.h"
#include "supervisor/signals.h"
#include "supervisor/terminal.h"

enum {
	LOOK_MS = 200,        /* how often to look whether a background job was put in front: shells
				 send nothing to one that runs */
	DRAIN_MS = 500,       /* for what the terminal has not taken when the command stops */
	INIT_GRACE_MS = 4000, /* init keeps the time limit; this long after it, it is not trusted */
};

enum state {
	STATE_STARTING,
	STATE_PLAIN, /* without a terminal */
	STATE_FRONT,
	STATE_BEHIND,
	STATE_DRAINING, /* the command has ended; its output may not all be shown */
	STATE_ENDED,
	STATE_COUNT
};

enum event {
	EVENT_READY,
	EVENT_STOPPED, /* number: the signal */
	EVENT_EXITED,  /* number: the code */
	EVENT_ERROR,
	EVENT_CLOSED,  /* init is gone */
	EVENT_FATAL,   /* number: the signal */
	EVENT_FORWARD, /* number: the signal */
	EVENT_RESIZE,
	EVENT_CONTINUED,
	EVENT_LOOK,
	EVENT_LOST,    /* no longer in front */
	EVENT_HUNG_UP, /* the user's terminal is gone */
	EVENT_DRAINED,
	EVENT_LIMIT,
	EVENT_COUNT
};

struct session {
	enum state state;
	const struct supervisor_options *options;
	struct box box;
	struct terminal terminal;
	bool shared;       /* not both of descriptors 0 and 1 are terminals */
	bool inside_front; /* the command is in the foreground of its terminal */
	bool stopped;      /* the command is */
	bool failed;       /* `error` is the result */
	bool late;         /* the time limit has passed */
	int code;          /* -1: not known */
	struct err error;
	struct loop loop;
	struct loop_watch channel;
	struct loop_signals signals;
	struct loop_timer look, limit, memory;
	struct relay relay; /* the last, as its buffers need no clearing */
};

struct cause {
	int number;
	struct message *message; /* of those that init sent */
};

static void happen(struct session *session, enum event event, const struct cause *cause);

static void tell(struct session *session, enum message_kind kind, int number)
{
	/* Init reads at once. If it does not, or is gone, the channel tells that as well. */
	message_send(session->box.channel, kind, number, -1);
}

static bool has_relay(const struct session *session)
{
	return session->relay.master >= 0;
}

/* Give the command its terminal or take it away, and continue it. */
static void tell_place(struct session *session, bool front)
{
	if (!session->stopped && session->inside_front == front)
		return;
	session->stopped = false;
	session->inside_front = front;
	tell(session, front ? MESSAGE_FOREGROUND : MESSAGE_BACKGROUND, 0);
}

/* Take the user's terminal and give the command its own. BEHIND if it cannot be had. */
static enum state go_front(struct session *session)
{
	if (!terminal_set_raw(&session->terminal)) {
		tell_place(session, false);
		loop_timer_set(&session->look, LOOK_MS, LOOK_MS);
		return STATE_BEHIND;
	}
	loop_timer_set(&session->look, 0, 0);
	terminal_copy_size(&session->terminal, session->relay.master);
	relay_read_keys(&session->relay, true);
	tell_place(session, true);
	return STATE_FRONT;
}

static enum state go_behind(struct session *session)
{
	relay_read_keys(&session->relay, false);
	terminal_restore(&session->terminal);
	tell_place(session, false);
	if (!session->shared)
		loop_timer_set(&session->look, LOOK_MS, LOOK_MS);
	return STATE_BEHIND;
}

/* Where a run belongs that may have been anywhere. */
static enum state go_to_place(struct session *session)
{
	bool front = !session->shared && terminal_is_front(&session->terminal);
	return front ? go_front(session) : go_behind(session);
}

static enum state end(struct session *session, int code)
{
	session->code = code;
	return STATE_ENDED;
}

static enum state stay(struct session *session, const struct cause *cause)
{
	(void)cause;
	return session->state;
}

static enum state fail(struct session *session)
{
	session->failed = true;
	return STATE_ENDED;
}

static void relay_happened(void *data, enum relay_event event)
{
	static const enum event events[] = {
		[RELAY_LOST] = EVENT_LOST,
		[RELAY_HUNG_UP] = EVENT_HUNG_UP,
		[RELAY_DRAINED] = EVENT_DRAINED,
	};
	happen(data, events[event], &(struct cause){ 0 });
}

static enum state starting_ready(struct session *session, const struct cause *cause)
{
	int master = take_fd(&cause->message->fd);
	if (session->terminal.fd < 0 || master < 0) {
		fd_close(&master);
		return STATE_PLAIN;
	}
	if (relay_open(&session->relay, &session->loop, &session->terminal, master,
		    &session->error) < 0)
		return fail(session);
	session->relay.raw = session->options->terminal_raw;
	session->relay.notify = relay_happened;
	session->relay.data = session;
	return go_to_place(session);
}

static enum state starting_closed(struct session *session, const struct cause *cause)
{
	(void)cause;
	return end(session, -1);
}

static enum state starting_fatal(struct session *session, const struct cause *cause)
{
	process_signal(session->box.pidfd, SIGKILL);
	return end(session, 128 + cause->number);
}

static enum state any_error(struct session *session, const struct cause *cause)
{
	session->error = cause->message->err;
	return fail(session);
}

/* Init is not gone before everything inside is: what it still held open is drained after that. */
static enum state any_exited(struct session *session, const struct cause *cause)
{
	session->code = cause->number;
	if (!has_relay(session))
		return STATE_ENDED;
	relay_read_keys(&session->relay, false);
	loop_timer_set(&session->look, 0, 0);
	return STATE_DRAINING;
}

static enum state draining_closed(struct session *session, const struct cause *cause)
{
	(void)cause;
	session->state = STATE_DRAINING;
	if (!has_relay(session))
		return STATE_ENDED;
	relay_finish(&session->relay);
	return session->state; /* ENDED, if there was nothing to wait for */
}

static enum state draining_drained(struct session *session, const struct cause *cause)
{
	(void)session;
	(void)cause;
	return STATE_ENDED;
}

/* The user does not want to see the rest. */
static enum state draining_fatal(struct session *session, const struct cause *cause)
{
	return end(session, 128 + cause->number);
}

static enum state any_forward(struct session *session, const struct cause *cause)
{
	tell(session, MESSAGE_SIGNAL, cause->number);
	return session->state;
}

static enum state plain_resize(struct session *session, const struct cause *cause)
{
	(void)cause;
	tell(session, MESSAGE_SIGNAL, SIGWINCH);
	return session->state;
}

static enum state terminal_resize(struct session *session, const struct cause *cause)
{
	(void)cause;
	terminal_copy_size(&session->terminal, session->relay.master);
	return session->state;
}

/* Without a terminal inside, what stops the command stops hutch. */
static enum state plain_stopped(struct session *session, const struct cause *cause)
{
	signals_stop_self(cause->number);
	tell(session, MESSAGE_SIGNAL, SIGCONT);
	return STATE_PLAIN;
}

/* An orphaned background job that wants the terminal: nobody can ever put it in front, and the
 * kernel would answer its read with an error. It gets the end of file. */
static enum state give_up_terminal(struct session *session)
{
	loop_timer_set(&session->look, 0, 0);
	tell_place(session, true);
	relay_send_end(&session->relay);
	return STATE_BEHIND;
}

static enum state terminal_stopped(struct session *session, const struct cause *cause)
{
	session->stopped = true;
	bool wants_terminal = cause->number == SIGTTIN || cause->number == SIGTTOU;
	if (wants_terminal && terminal_is_front(&session->terminal))
		return go_front(session);
	relay_read_keys(&session->relay, false);
	relay_drain(&session->relay, DRAIN_MS);
	terminal_restore(&session->terminal);
	bool stopped = signals_stop_self(cause->number);
	if (wants_terminal && !stopped && !terminal_is_front(&session->terminal))
		return give_up_terminal(session);
	return go_to_place(session);
}

static enum state plain_continued(struct session *session, const struct cause *cause)
{
	(void)cause;
	tell(session, MESSAGE_SIGNAL, SIGCONT);
	return STATE_PLAIN;
}

/* Stopped from outside and continued. The command was never stopped and keeps its place inside. */
static enum state front_continued(struct session *session, const struct cause *cause)
{
	(void)cause;
	if (!terminal_set_raw(&session->terminal))
		return go_behind(session);
	terminal_copy_size(&session->terminal, session->relay.master);
	tell(session, MESSAGE_SIGNAL, SIGCONT);
	return STATE_FRONT;
}

static enum state behind_continued(struct session *session, const struct cause *cause)
{
	(void)cause;
	if (!session->shared && terminal_is_front(&session->terminal))
		return go_front(session);
	tell(session, MESSAGE_SIGNAL, SIGCONT);
	return STATE_BEHIND;
}

static enum state behind_look(struct session *session, const struct cause *cause)
{
	(void)cause;
	return terminal_is_front(&session->terminal) ? go_front(session) : STATE_BEHIND;
}

static enum state front_lost(struct session *session, const struct cause *cause)
{
	(void)cause;
	return go_behind(session);
}

/* The terminal inside hangs up as well. */
static enum state terminal_hung_up(struct session *session, const struct cause *cause)
{
	(void)cause;
	loop_timer_set(&session->look, 0, 0);
	relay_close(&session->relay);
	return STATE_PLAIN;
}

static enum state starting_limit(struct session *session, const struct cause *cause)
{
	(void)cause;
	process_signal(session->box.pidfd, SIGKILL);
	return end(session, EXIT_TIME_LIMIT);
}

/* Init ends the command; if it is still there a while later, it is ended itself. */
static enum state running_limit(struct session *session, const struct cause *cause)
{
	if (session->late)
		return starting_limit(session, cause);
	session->late = true;
	loop_timer_set(&session->limit, INIT_GRACE_MS, 0);
	return session->state;
}

typedef enum state step_function(struct session *session, const struct cause *cause);

#define RUNNING                                                                                    \
	[EVENT_READY] = stay, [EVENT_EXITED] = any_exited, [EVENT_ERROR] = any_error,              \
	[EVENT_CLOSED] = draining_closed, [EVENT_FATAL] = any_forward,                             \
	[EVENT_FORWARD] = any_forward, [EVENT_DRAINED] = stay, [EVENT_LIMIT] = running_limit

static step_function *const table[STATE_COUNT][EVENT_COUNT] = {
	[STATE_STARTING] = {
		[EVENT_READY] = starting_ready,
		[EVENT_STOPPED] = stay,
		[EVENT_EXITED] = any_exited,
		[EVENT_ERROR] = any_error,
		[EVENT_CLOSED] = starting_closed,
		[EVENT_FATAL] = starting_fatal,
		[EVENT_FORWARD] = any_forward,
		[EVENT_RESIZE] = stay,
		[EVENT_CONTINUED] = stay,
		[EVENT_LOOK] = stay,
		[EVENT_LOST] = stay,
		[EVENT_HUNG_UP] = stay,
		[EVENT_DRAINED] = stay,
		[EVENT_LIMIT] = starting_limit,
	},
	[STATE_PLAIN] = {
		RUNNING,
		[EVENT_STOPPED] = plain_stopped,
		[EVENT_RESIZE] = plain_resize,
		[EVENT_CONTINUED] = plain_continued,
		[EVENT_LOOK] = stay,
		[EVENT_LOST] = stay,
		[EVENT_HUNG_UP] = stay,
	},
	[STATE_FRONT] = {
		RUNNING,
		[EVENT_STOPPED] = terminal_stopped,
		[EVENT_RESIZE] = terminal_resize,
		[EVENT_CONTINUED] = front_continued,
		[EVENT_LOOK] = stay,
		[EVENT_LOST] = front_lost,
		[EVENT_HUNG_UP] = terminal_hung_up,
	},
	[STATE_BEHIND] = {
		RUNNING,
		[EVENT_STOPPED] = terminal_stopped,
		[EVENT_RESIZE] = terminal_resize,
		[EVENT_CONTINUED] = behind_continued,
		[EVENT_LOOK] = behind_look,
		[EVENT_LOST] = stay,
		[EVENT_HUNG_UP] = terminal_hung_up,
	},
	[STATE_DRAINING] = {
		[EVENT_READY] = stay,
		[EVENT_STOPPED] = stay,
		[EVENT_EXITED] = stay,
		[EVENT_ERROR] = stay,
		[EVENT_CLOSED] = draining_closed,
		[EVENT_FATAL] = draining_fatal,
		[EVENT_FORWARD] = stay,
		[EVENT_RESIZE] = stay,
		[EVENT_CONTINUED] = stay,
		[EVENT_LOOK] = stay,
		[EVENT_LOST] = stay,
		[EVENT_HUNG_UP] = draining_drained,
		[EVENT_DRAINED] = draining_drained,
		[EVENT_LIMIT] = stay,
	},
	[STATE_ENDED] = {[0 ... EVENT_COUNT - 1] = stay},
};

static void happen(struct session *session, enum event event, const struct cause *cause)
{
	session->state = table[session->state][event](session, cause);
	if (session->state == STATE_ENDED)
		loop_stop(&session->loop);
}

static void message_happened(struct session *session, struct message *message)
{
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
	happen(session, events[message->kind], &cause);
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
	happen(session, EVENT_CLOSED, &(struct cause){ 0 });
}

static void signal_arrived(struct loop_signals *signals, int signal)
{
	static const enum event events[] = {
		[SIGNAL_FORWARD] = EVENT_FORWARD,
		[SIGNAL_FATAL] = EVENT_FATAL,
		[SIGNAL_RESIZE] = EVENT_RESIZE,
		[SIGNAL_CONTINUE] = EVENT_CONTINUED,
	};
	happen(signals->data, events[signal_use(signal)], &(struct cause){ .number = signal });
}

static void look_expired(struct loop_timer *timer)
{
	happen(timer->data, EVENT_LOOK, &(struct cause){ 0 });
}

static void limit_expired(struct loop_timer *timer)
{
	happen(timer->data, EVENT_LIMIT, &(struct cause){ 0 });
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
	tell(session, MESSAGE_GO, 0);
	return loop_run(&session->loop, e);
}

/* Whatever way it ended: nothing is left inside, and the terminal is the user's again. */
static int box_end(struct session *session, int *ret_signal)
{
	process_signal(session->box.pidfd, SIGKILL);
	int code = process_wait(session->box.pidfd, ret_signal);
	if (has_relay(session) && !session->relay.finished) {
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
	static struct session
		session; /* large buffers, of which only what is used becomes memory */
	struct signals before;
	struct start start;
	sigset_t wait;

	memset(&session, 0, offsetof(struct session, relay));
	session.options = options;
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
