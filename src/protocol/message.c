/* SPDX-License-Identifier: MIT */
#include "protocol/message.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"

enum {
	CARRIES_NOTHING = 0,
	CARRIES_NUMBER = 1 << 0,
	CARRIES_FD = 1 << 1, /* or none */
	CARRIES_ERR = 1 << 2,
};

static const struct {
	enum message_sender sender;
	unsigned carries;
} kinds[MESSAGE_COUNT] = {
#define MESSAGE(name, sender, carries) [MESSAGE_##name] = { FROM_##sender, carries },
#include "protocol/messages.def"
#undef MESSAGE
};

/* Both ends are the same program, so the layout is the compiler's. */
struct wire {
	uint32_t kind;
	int32_t number;
	struct err err;
};

static size_t wire_size(enum message_kind kind)
{
	return kinds[kind].carries & CARRIES_ERR ? sizeof(struct wire) : offsetof(struct wire, err);
}

int message_pair(int ret_pair[2], struct err *e)
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret_pair) < 0)
		return err_set(e, errno, "cannot make a socket pair");
	return 0;
}

static int wire_send(int socket, const struct wire *wire, int fd)
{
	struct iovec bytes = { (void *)wire, wire_size((enum message_kind)wire->kind) };
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof fd)];
	} control = { 0 };
	struct msghdr packet = { .msg_iov = &bytes, .msg_iovlen = 1 };

	if (fd >= 0) {
		packet.msg_control = &control;
		packet.msg_controllen = sizeof control.space;
		struct cmsghdr *header = CMSG_FIRSTHDR(&packet);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof fd);
		memcpy(CMSG_DATA(header), &fd, sizeof fd);
	}
	ssize_t sent;
	do
		sent = sendmsg(socket, &packet, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (sent < 0 && errno == EINTR);
	return sent < 0 ? -1 : 0;
}

int message_send(int socket, enum message_kind kind, int number, int fd)
{
	struct wire wire;
	wire.kind = kind;
	wire.number = number;
	return wire_send(socket, &wire, fd);
}

int message_send_error(int socket, const struct err *error)
{
	struct wire wire = { .kind = MESSAGE_ERROR, .err = *error };
	return wire_send(socket, &wire, -1);
}

static int control_fd(struct msghdr *packet)
{
	int fd = -1;
	struct cmsghdr *header = CMSG_FIRSTHDR(packet);
	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
		header->cmsg_len == CMSG_LEN(sizeof fd))
		memcpy(&fd, CMSG_DATA(header), sizeof fd);
	return fd;
}

static bool wire_is_valid(
	const struct wire *wire, size_t size, enum message_sender sender, int flags, int fd)
{
	if (size < offsetof(struct wire, err) || wire->kind >= MESSAGE_COUNT)
		return false;
	enum message_kind kind = (enum message_kind)wire->kind;
	return kinds[kind].sender == sender && size == wire_size(kind) &&
	       !(flags & (MSG_TRUNC | MSG_CTRUNC)) &&
	       (fd < 0 || kinds[kind].carries & CARRIES_FD) &&
	       (wire->number == 0 || kinds[kind].carries & CARRIES_NUMBER);
}

static void message_fill(struct message *message, const struct wire *wire, int fd)
{
	message->kind = (enum message_kind)wire->kind;
	message->number = wire->number;
	message->fd = fd;
	message->err.text[0] = message->err.hint[0] = '\0';
	if (!(kinds[message->kind].carries & CARRIES_ERR))
		return;
	message->err = wire->err;
	message->err.text[sizeof message->err.text - 1] = '\0';
	message->err.hint[sizeof message->err.hint - 1] = '\0';
}

int message_receive(int socket, enum message_sender sender, struct message *ret_message)
{
	struct wire wire;
	struct iovec bytes = { &wire, sizeof wire };
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr packet = { .msg_iov = &bytes,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof control.space };
	ssize_t got;
	do
		got = recvmsg(socket, &packet, MSG_CMSG_CLOEXEC);
	/* ECONNRESET, which is told once, means that the other side ended without having read all that
	 * it was sent. What it sent itself is still to be read: the reason why it ended, for example. */
	while (got < 0 && (errno == EINTR || errno == ECONNRESET));
	if (got < 0)
		return -1;
	if (got == 0)
		return 0;

	AUTO_CLOSE int fd = control_fd(&packet);
	if (!wire_is_valid(&wire, (size_t)got, sender, packet.msg_flags, fd)) {
		errno = EPROTO;
		return -1;
	}
	message_fill(ret_message, &wire, take_fd(&fd));
	return 1;
}
