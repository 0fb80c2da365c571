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
#include "supervisor/session.h"

#include "base/fd.h"
#include "kernel/process.h"
#include "supervisor/signals.h"

enum {
	LOOK_MS = 200,        /* how often to look whether a background job was put in front: shells
				 send nothing to one that runs */
	INIT_GRACE_MS = 4000, /* init keeps the time limit; this long after it, it is not trusted */
};

void session_tell(struct session *session, enum message_kind kind, int number)
{
	message_send(session->box.channel, kind, number, -1);
}

/* Give the command its terminal or take it away, and continue it. */
static void tell_place(struct session *session, bool front)
{
	if (!session->stopped && session->inside_front == front)
		return;
	session->stopped = false;
	session->inside_front = front;
	session_tell(session, front ? MESSAGE_FOREGROUND : MESSAGE_BACKGROUND, 0);
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
	session_happen(data, events[event], &(struct cause){ 0 });
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
	if (!session_has_relay(session))
		return STATE_ENDED;
	relay_read_keys(&session->relay, false);
	loop_timer_set(&session->look, 0, 0);
	return STATE_DRAINING;
}

static enum state draining_closed(struct session *session, const struct cause *cause)
{
	(void)cause;
	session->state = STATE_DRAINING;
	if (!session_has_relay(session))
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
	session_tell(session, MESSAGE_SIGNAL, cause->number);
	return session->state;
}

static enum state plain_resize(struct session *session, const struct cause *cause)
{
	(void)cause;
	session_tell(session, MESSAGE_SIGNAL, SIGWINCH);
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
	session_tell(session, MESSAGE_SIGNAL, SIGCONT);
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
	session_tell(session, MESSAGE_SIGNAL, SIGCONT);
	return STATE_PLAIN;
}

/* Stopped from outside and continued. The command was never stopped and keeps its place inside. */
static enum state front_continued(struct session *session, const struct cause *cause)
{
	(void)cause;
	if (!terminal_set_raw(&session->terminal))
		return go_behind(session);
	terminal_copy_size(&session->terminal, session->relay.master);
	session_tell(session, MESSAGE_SIGNAL, SIGCONT);
	return STATE_FRONT;
}

static enum state behind_continued(struct session *session, const struct cause *cause)
{
	(void)cause;
	if (!session->shared && terminal_is_front(&session->terminal))
		return go_front(session);
	session_tell(session, MESSAGE_SIGNAL, SIGCONT);
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

void session_happen(struct session *session, enum event event, const struct cause *cause)
{
	session->state = table[session->state][event](session, cause);
	if (session->state == STATE_ENDED)
		loop_stop(&session->loop);
}
