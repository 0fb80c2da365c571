/* SPDX-License-Identifier: MIT */
/* Bytes as a packet on the channel between init and the supervisor: one that is taken for a message
 * is one that its sender may send, and its sentences end. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "protocol/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static int pair[2] = { -1, -1 };
	struct message message;
	if (pair[0] < 0 && message_pair(pair, NULL) < 0)
		abort();
	if (length < 1 || send(pair[1], bytes + 1, length - 1, MSG_DONTWAIT) < 0)
		return 0;
	enum message_sender sender = bytes[0] & 1 ? FROM_INIT : FROM_SUPERVISOR;
	int got = message_receive(pair[0], sender, &message);
	if (got < 0 && errno != EPROTO)
		abort();
	if (got == 1 && (message.kind >= MESSAGE_COUNT || message.fd >= 0 ||
				strnlen(message.err.text, sizeof message.err.text) ==
					sizeof message.err.text ||
				strnlen(message.err.hint, sizeof message.err.hint) ==
					sizeof message.err.hint))
		abort();
	return 0;
}
