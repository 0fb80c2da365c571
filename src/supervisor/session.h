/* SPDX-License-Identifier: MIT */
/* One run, as its supervisor sees it. Inside of this folder only. */
#pragma once

#include "loop/loop.h"
#include "protocol/message.h"
#include "supervisor/relay.h"
#include "supervisor/supervisor.h"
#include "supervisor/terminal.h"

enum {
	DRAIN_MS = 500
}; /* for what the terminal does not take, when the command stops or is killed */

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

static inline bool session_has_relay(const struct session *session)
{
	return session->relay.master >= 0;
}

/* Send init a message. It reads at once; if it does not, or is gone, the channel tells as well. */
void session_tell(struct session *session, enum message_kind kind, int number);

/* Take the step that the table has for this event, and leave the loop when the run has ended. */
void session_happen(struct session *session, enum event event, const struct cause *cause);
