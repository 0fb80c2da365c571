/* SPDX-License-Identifier: MIT */
/*
 * D-Bus, as far as StartTransientUnit needs it (D-Bus Specification, "Message Protocol"): values
 * are aligned to their size, structures to 8; strings and arrays begin with their length in 32
 * bits; a signature has one byte for it. Little-endian throughout, which the first byte of a
 * message says.
 */
#include "kernel/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "kernel/cgroup.h"

enum {
	WAIT_MILLISECONDS = 2000,
	MESSAGE_MOST = 65536,
	TYPE_CALL = 1,
	TYPE_RETURN = 2,
	TYPE_ERROR = 3,
	FIELD_PATH = 1,
	FIELD_INTERFACE = 2,
	FIELD_MEMBER = 3,
	FIELD_REPLY_SERIAL = 5,
	FIELD_DESTINATION = 6,
	FIELD_SIGNATURE = 8,
};

/* --- writing --------------------------------------------------------------------------------- */

/* What does not fit is not written, and the message then not sent. */
struct bytes {
	uint8_t data[2048];
	size_t length;
};

static void put(struct bytes *bytes, const void *data, size_t length)
{
	if (bytes->length + length <= sizeof bytes->data)
		memcpy(bytes->data + bytes->length, data, length);
	bytes->length += length;
}

static void put_align(struct bytes *bytes, size_t size)
{
	static const uint8_t zeros[8];
	put(bytes, zeros, (size - bytes->length % size) % size);
}

static void put_byte(struct bytes *bytes, uint8_t value)
{
	put(bytes, &value, 1);
}

static void put_u32(struct bytes *bytes, uint32_t value)
{
	put_align(bytes, sizeof value);
	put(bytes, &value, sizeof value);
}

static void put_string(struct bytes *bytes, const char *text)
{
	put_u32(bytes, (uint32_t)strlen(text));
	put(bytes, text, strlen(text) + 1);
}

static void put_signature(struct bytes *bytes, const char *signature)
{
	put_byte(bytes, (uint8_t)strlen(signature));
	put(bytes, signature, strlen(signature) + 1);
}

/* An array's length does not count the padding before its first element. */
static size_t array_begin(struct bytes *bytes, size_t alignment, size_t *ret_first)
{
	put_u32(bytes, 0);
	size_t at = bytes->length - 4;
	put_align(bytes, alignment);
	*ret_first = bytes->length;
	return at;
}

static void array_end(struct bytes *bytes, size_t at, size_t first)
{
	uint32_t length = (uint32_t)(bytes->length - first);
	if (at + sizeof length <= sizeof bytes->data)
		memcpy(bytes->data + at, &length, sizeof length);
}

static void put_property_text(struct bytes *bytes, const char *name, const char *value)
{
	put_align(bytes, 8);
	put_string(bytes, name);
	put_signature(bytes, "s");
	put_string(bytes, value);
}

static void put_property_number(struct bytes *bytes, const char *name, uint64_t value)
{
	put_align(bytes, 8);
	put_string(bytes, name);
	put_signature(bytes, "t");
	put_align(bytes, sizeof value);
	put(bytes, &value, sizeof value);
}

static void put_property_pid(struct bytes *bytes, pid_t pid)
{
	put_align(bytes, 8);
	put_string(bytes, "PIDs");
	put_signature(bytes, "au");
	put_u32(bytes, sizeof(uint32_t));
	put_u32(bytes, (uint32_t)pid);
}

static void put_field(struct bytes *bytes, uint8_t code, const char *type, const char *value)
{
	put_align(bytes, 8);
	put_byte(bytes, code);
	put_signature(bytes, type);
	if (type[0] == 'g')
		put_signature(bytes, value);
	else
		put_string(bytes, value);
}

struct call {
	uint32_t serial;
	const char *destination;
	const char *path;
	const char *interface;
	const char *member;
	const char *signature; /* NULL: no arguments */
};

/* A bus that is gone is an error, not a signal. */
static int bus_write(int bus, const void *data, size_t length, struct err *e)
{
	for (size_t done = 0; done < length;) {
		ssize_t sent = send(bus, (const char *)data + done, length - done, MSG_NOSIGNAL);
		if (sent < 0 && errno != EINTR)
			return err_set(e, errno, "cannot write to the user's D-Bus");
		done += sent > 0 ? (size_t)sent : 0;
	}
	return 0;
}

static int call_send(int bus, const struct call *call, const struct bytes *body, struct err *e)
{
	struct bytes head = { 0 };
	size_t first;
	put(&head, (const uint8_t[]){ 'l', TYPE_CALL, 0, 1 }, 4);
	put_u32(&head, (uint32_t)body->length);
	put_u32(&head, call->serial);
	size_t at = array_begin(&head, 8, &first);
	put_field(&head, FIELD_PATH, "o", call->path);
	put_field(&head, FIELD_INTERFACE, "s", call->interface);
	put_field(&head, FIELD_MEMBER, "s", call->member);
	put_field(&head, FIELD_DESTINATION, "s", call->destination);
	if (call->signature)
		put_field(&head, FIELD_SIGNATURE, "g", call->signature);
	array_end(&head, at, first);
	put_align(&head, 8);
	if (head.length > sizeof head.data || body->length > sizeof body->data)
		return err_set(e, 0, "a message to systemd is too long");
	if (bus_write(bus, head.data, head.length, e) < 0)
		return -1;
	return bus_write(bus, body->data, body->length, e);
}

/* --- reading --------------------------------------------------------------------------------- */

struct reader {
	const uint8_t *data;
	size_t length;
	size_t at;
};

/* Step over `length` bytes that begin aligned; NULL when they are not there. */
static const uint8_t *take(struct reader *reader, size_t alignment, size_t length)
{
	size_t start = (reader->at + alignment - 1) / alignment * alignment;
	if (start > reader->length || length > reader->length - start)
		return NULL;
	reader->at = start + length;
	return reader->data + start;
}

static bool take_u32(struct reader *reader, uint32_t *ret_value)
{
	const uint8_t *p = take(reader, 4, 4);
	if (p)
		memcpy(ret_value, p, 4);
	return p != NULL;
}

static const char *take_string(struct reader *reader)
{
	uint32_t length;
	if (!take_u32(reader, &length) || length >= MESSAGE_MOST)
		return NULL;
	const uint8_t *p = take(reader, 1, length + 1);
	return p && p[length] == '\0' ? (const char *)p : NULL;
}

/* The serial of the call that a message answers; 0 when it answers none. */
static uint32_t reply_serial(struct reader fields)
{
	for (;;) {
		const uint8_t *code = take(&fields, 8, 1);
		const uint8_t *signature = code ? take(&fields, 1, 3) : NULL;
		uint32_t value = 0;
		if (!signature || signature[0] != 1)
			return 0;
		bool known = signature[1] == 'u'   ? take_u32(&fields, &value)
			     : signature[1] == 'g' ? (code = take(&fields, 1, 1)) &&
							     take(&fields, 1, code[0] + 1u)
						   : take_string(&fields) != NULL;
		if (!known)
			return 0;
		if (*code == FIELD_REPLY_SERIAL && signature[1] == 'u')
			return value;
	}
}

static int bus_read(int bus, void *data, size_t length, struct err *e)
{
	ssize_t got = recv(bus, data, length, MSG_WAITALL);
	if (got == (ssize_t)length)
		return 0;
	return err_set(e, got < 0 ? errno : 0, "the user's D-Bus did not answer");
}

/* One message into `data`; its parts. */
static int message_read(int bus, uint8_t *data, uint8_t *ret_type, struct reader *ret_fields,
	struct reader *ret_body, struct err *e)
{
	uint32_t body, fields;
	if (bus_read(bus, data, 16, e) < 0)
		return -1;
	memcpy(&body, data + 4, 4);
	memcpy(&fields, data + 12, 4);
	size_t padded = ((size_t)fields + 7) / 8 * 8;
	if (data[0] != 'l' || padded > MESSAGE_MOST - 16 || body > MESSAGE_MOST - 16 - padded)
		return err_set(e, 0, "the user's D-Bus sent a message that is not understood");
	if (bus_read(bus, data + 16, padded + body, e) < 0)
		return -1;
	*ret_type = data[1];
	/* 16 is a multiple of 8: alignment inside is the same as from the message's beginning. */
	*ret_fields = (struct reader){ data + 16, fields, 0 };
	*ret_body = (struct reader){ data + 16 + padded, body, 0 };
	return 0;
}

/* Wait for the answer to `serial`; signals and what else comes before it are passed over. */
static int reply_read(int bus, uint32_t serial, struct err *e)
{
	uint8_t *data = malloc(MESSAGE_MOST);
	struct reader fields, body;
	uint8_t type = 0;
	int result = data ? 0 : err_set(e, ENOMEM, "no answer from D-Bus");
	while (result == 0 && type == 0) {
		result = message_read(bus, data, &type, &fields, &body, e);
		if (result == 0 && reply_serial(fields) != serial)
			type = 0;
	}
	if (result == 0 && type != TYPE_RETURN) {
		const char *why = type == TYPE_ERROR ? take_string(&body) : NULL;
		result = err_set(e, 0, "systemd refuses a scope for the sandbox: %s",
			why ? why : "no reason given");
	}
	free(data);
	return result;
}

/* --- the bus --------------------------------------------------------------------------------- */

static int bus_connect(struct err *e)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const struct timeval wait = { .tv_sec = WAIT_MILLISECONDS / 1000 };
	AUTO_CLOSE int bus = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	snprintf(address.sun_path, sizeof address.sun_path, "/run/user/%u/bus", geteuid());
	if (bus < 0 || setsockopt(bus, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait) < 0 ||
		setsockopt(bus, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait) < 0 ||
		connect(bus, (const struct sockaddr *)&address, sizeof address) < 0)
		return err_set(e, errno, "cannot connect to the user's D-Bus");
	return take_fd(&bus);
}

/* EXTERNAL: the kernel tells the daemon who we are; the number, in hexadecimal, is only a claim. */
static int bus_authenticate(int bus, struct err *e)
{
	char uid[16], line[64] = "", answer[128];
	size_t used = 0;
	snprintf(uid, sizeof uid, "%u", geteuid());
	for (const char *p = uid; *p; p++)
		snprintf(line + strlen(line), sizeof line - strlen(line), "%02x", *p);
	char request[128];
	int length = snprintf(request, sizeof request, "%cAUTH EXTERNAL %s\r\n", '\0', line);
	if (bus_write(bus, request, (size_t)length, e) < 0)
		return -1;
	while (used + 1 < sizeof answer && (used == 0 || answer[used - 1] != '\n')) {
		if (bus_read(bus, answer + used, 1, e) < 0)
			return -1;
		used++;
	}
	if (used < 3 || strncmp(answer, "OK ", 3) != 0)
		return err_set(e, 0, "the user's D-Bus does not let us in");
	static const char begin[] = "BEGIN\r\n";
	return bus_write(bus, begin, sizeof begin - 1, e);
}

static int bus_open(struct err *e)
{
	static const struct call hello = { 1, "org.freedesktop.DBus", "/org/freedesktop/DBus",
		"org.freedesktop.DBus", "Hello", NULL };
	const struct bytes nothing = { .length = 0 };
	AUTO_CLOSE int bus = bus_connect(e);
	if (bus < 0 || bus_authenticate(bus, e) < 0 || call_send(bus, &hello, &nothing, e) < 0 ||
		reply_read(bus, hello.serial, e) < 0)
		return -1;
	return take_fd(&bus);
}

static void scope_body(
	const char *name, pid_t pid, uint64_t memory, uint64_t tasks, struct bytes *body)
{
	size_t first;
	put_string(body, name);
	put_string(body, "fail");
	size_t at = array_begin(body, 8, &first);
	put_property_text(body, "Description", "hutch sandbox");
	put_property_text(body, "CollectMode", "inactive-or-failed");
	put_property_pid(body, pid);
	if (memory) {
		put_property_number(body, "MemoryMax", memory);
		put_property_number(body, "MemorySwapMax", 0);
	}
	if (tasks)
		put_property_number(body, "TasksMax", tasks);
	array_end(body, at, first);
	at = array_begin(body, 8, &first); /* further units: none */
	array_end(body, at, first);
}

/* The answer only says that systemd will do it. */
static int scope_wait(pid_t pid, const char *name, struct err *e)
{
	char path[PATH_MAX];
	uint64_t deadline = clock_milliseconds() + WAIT_MILLISECONDS;
	size_t length = strlen(name);
	do {
		size_t used = cgroup_path(pid, NULL, path) < 0 ? 0 : strlen(path);
		if (used > length && strcmp(path + used - length, name) == 0)
			return 0;
		usleep(2000);
	} while (clock_milliseconds() < deadline);
	return err_set(e, 0, "systemd did not move the sandbox into its scope in time");
}

int scope_start(pid_t pid, uint64_t memory, uint64_t tasks, struct err *e)
{
	static const struct call start = { 2, "org.freedesktop.systemd1",
		"/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager",
		"StartTransientUnit", "ssa(sv)a(sa(sv))" };
	struct bytes body = { 0 };
	char name[64];
	AUTO_CLOSE int bus = bus_open(e);
	if (bus < 0)
		return -1;
	snprintf(name, sizeof name, "hutch-%d-%" PRIu64 ".scope", pid, clock_milliseconds());
	scope_body(name, pid, memory, tasks, &body);
	if (call_send(bus, &start, &body, e) < 0 || reply_read(bus, start.serial, e) < 0)
		return -1;
	return scope_wait(pid, name, e);
}

bool scope_is_reachable(void)
{
	char path[128];
	char *data = NULL;
	snprintf(path, sizeof path,
		"/sys/fs/cgroup/user.slice/user-%u.slice/user@%u.service/cgroup.controllers",
		geteuid(), geteuid());
	bool handed_down = file_read_at(AT_FDCWD, path, 4096, &data, NULL, NULL) == 0 &&
			   strstr(data, "memory") && strstr(data, "pids");
	free(data);
	AUTO_CLOSE int bus = handed_down ? bus_open(NULL) : -1;
	return bus >= 0;
}
