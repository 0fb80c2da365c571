/* SPDX-License-Identifier: MIT */
/*
 * Messages between the supervisor and init over a SOCK_SEQPACKET pair: fixed sizes, one packet
 * each, at most one descriptor. Nothing here allocates or blocks on sending.
 */
#pragma once

#include "base/err.h"

enum message_kind {
#define MESSAGE(name, sender, carries) MESSAGE_##name,
#include "protocol/messages.def"
#undef MESSAGE
	MESSAGE_COUNT
};

enum message_sender { FROM_INIT, FROM_SUPERVISOR };

struct message {
	enum message_kind kind;
	int number;     /* 0 when the kind carries none */
	int fd;         /* owned by the receiver; -1 for none */
	struct err err; /* of a MESSAGE_ERROR, else empty */
};

/* A connected pair, both ends close-on-exec. The first is the supervisor's. 0, or -1. */
int message_pair(int ret_pair[2], struct err *e);

/* Send a message that carries no error. `fd` (-1: none) stays the caller's. 0, or -1 with errno;
 * EAGAIN when the other side has not read for a long time, EPIPE when it is gone. */
int message_send(int socket, enum message_kind kind, int number, int fd);

/* Send an error as MESSAGE_ERROR. */
int message_send_error(int socket, const struct err *error);

/* Receive one message that `sender` may send; waits if the socket does. 1, or 0 when the other side
 * is gone, or -1 with errno (EAGAIN, EPROTO for what is no message of that sender). */
int message_receive(int socket, enum message_sender sender, struct message *ret_message);
