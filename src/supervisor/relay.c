/* SPDX-License-Identifier: MIT */
#include "supervisor/relay.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"

/* Reads of what the kernel can still hold of a terminal whose writers are dead, and then some. More
 * would come from a writer outside, to whom the terminal was handed through a socket. */
enum { RELAY_REST = 64 };

static bool is_empty(const struct relay_buffer *buffer)
{
	return buffer->start == buffer->end;
}

static void update(struct relay *relay)
{
	uint32_t terminal = 0, master = 0;
	if (relay->reading && is_empty(&relay->keys))
		terminal |= EPOLLIN;
	if (!is_empty(&relay->output))
		terminal |= EPOLLOUT;
	else
		master |= EPOLLIN;
	if (!is_empty(&relay->keys))
		master |= EPOLLOUT;
	loop_change(relay->loop, &relay->terminal_watch, terminal);
	loop_change(relay->loop, &relay->master_watch, master);
}

/* Write what the buffer holds. False: the other side is gone. */
static bool buffer_write(struct relay_buffer *buffer, const uint8_t *bytes, int fd)
{
	while (!is_empty(buffer)) {
		ssize_t written = write(fd, bytes + buffer->start, buffer->end - buffer->start);
		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0 && errno != EAGAIN)
			return false;
		if (written <= 0)
			return true;
		buffer->start += (size_t)written;
	}
	buffer->start = buffer->end = 0;
	return true;
}

/* The terminal is gone for good; what is still written inside has no reader. */
static void hang_up(struct relay *relay)
{
	if (relay->hung_up)
		return;
	relay->hung_up = true;
	relay->reading = false;
	relay->output.start = relay->output.end = 0;
	loop_remove(relay->loop, &relay->terminal_watch);
	relay->notify(relay->data, RELAY_HUNG_UP);
}

static void output_write(struct relay *relay)
{
	if (relay->hung_up)
		relay->output.start = relay->output.end = 0;
	else if (!buffer_write(&relay->output, relay->output_bytes, relay->terminal->fd))
		hang_up(relay);
}

/* A terminal that is not raw adds a carriage return to every line feed; the one inside has done so
 * already. A pair that is split between two reads keeps its second one, which nobody sees. */
static size_t drop_returns(uint8_t *bytes, size_t length)
{
	size_t kept = 0;
	for (size_t i = 0; i < length; i++)
		if (bytes[i] != '\r' || i + 1 == length || bytes[i + 1] != '\n')
			bytes[kept++] = bytes[i];
	return kept;
}

/* Read once from the master and show it. False: there is nothing (EAGAIN) or never will be. */
static bool output_read(struct relay *relay)
{
	ssize_t got;
	do
		got = read(relay->master, relay->chunk, sizeof relay->chunk);
	while (got < 0 && errno == EINTR);
	if (got <= 0) {
		if (got == 0 || errno != EAGAIN)
			loop_remove(relay->loop, &relay->master_watch);
		return false;
	}
	size_t length = (size_t)got;
	if (relay->raw)
		memcpy(relay->output_bytes, relay->chunk, length);
	else
		length = filter_feed(&relay->filter, relay->chunk, length, relay->output_bytes);
	if (!relay->terminal->is_raw && !relay->hung_up && terminal_adds_returns(relay->terminal))
		length = drop_returns(relay->output_bytes, length);
	relay->output = (struct relay_buffer){ 0, length };
	output_write(relay);
	return true;
}

/* After the command's end: read to the end, then reset, then say so. */
static void finish(struct relay *relay)
{
	while (is_empty(&relay->output)) {
		if (relay->rest && output_read(relay)) {
			relay->rest--;
			continue;
		}
		if (relay->finished) {
			relay->finishing = false;
			relay->notify(relay->data, RELAY_DRAINED);
			return;
		}
		relay->finished = true;
		if (!relay->raw)
			relay->output.end = filter_finish(&relay->filter, relay->output_bytes);
		output_write(relay);
	}
	update(relay);
}

static void keys_read(struct relay *relay)
{
	ssize_t got = read(relay->terminal->fd, relay->keys_bytes, sizeof relay->keys_bytes);
	if (got > 0) {
		relay->keys = (struct relay_buffer){ 0, (size_t)got };
		buffer_write(&relay->keys, relay->keys_bytes, relay->master);
	} else if (got < 0 && errno == EIO && !terminal_is_front(relay->terminal)) {
		relay->notify(relay->data, RELAY_LOST);
	} else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
		hang_up(relay);
	}
}

static void terminal_ready(struct loop_watch *watch, uint32_t events)
{
	struct relay *relay = watch->data;
	if (events & (EPOLLHUP | EPOLLERR)) {
		hang_up(relay);
		return;
	}
	if (events & EPOLLOUT)
		output_write(relay);
	if ((events & EPOLLIN) && relay->reading && is_empty(&relay->keys))
		keys_read(relay);
	if (relay->finishing)
		finish(relay);
	else
		update(relay);
}

static void master_ready(struct loop_watch *watch, uint32_t events)
{
	struct relay *relay = watch->data;
	if ((events & EPOLLOUT) && !buffer_write(&relay->keys, relay->keys_bytes, relay->master))
		relay->keys.start = relay->keys.end = 0;
	if ((events & (EPOLLIN | EPOLLHUP)) && is_empty(&relay->output))
		output_read(relay);
	else if (events & EPOLLHUP)
		loop_remove(relay->loop, &relay->master_watch); /* relay_finish reads the rest */
	update(relay);
}

int relay_open(struct relay *relay, struct loop *loop, struct terminal *terminal, int master,
	struct err *e)
{
	memset(relay, 0, offsetof(struct relay, keys_bytes));
	relay->loop = loop;
	relay->terminal = terminal;
	relay->master = master;
	relay->terminal_watch.fd = relay->master_watch.fd = -1;
	filter_init(&relay->filter);
	if (loop_add(loop, &relay->terminal_watch, terminal->fd, 0, terminal_ready, relay, e) < 0)
		return -1;
	return loop_add(loop, &relay->master_watch, master, EPOLLIN, master_ready, relay, e);
}

void relay_read_keys(struct relay *relay, bool reading)
{
	relay->reading = reading && !relay->hung_up;
	update(relay);
}

void relay_send_end(struct relay *relay)
{
	struct termios settings;
	if (!is_empty(&relay->keys) || tcgetattr(relay->master, &settings) < 0)
		return;
	relay->keys_bytes[0] = settings.c_cc[VEOF];
	relay->keys = (struct relay_buffer){ 0, 1 };
	buffer_write(&relay->keys, relay->keys_bytes, relay->master);
	update(relay);
}

void relay_drain(struct relay *relay, int milliseconds)
{
	uint64_t end = clock_milliseconds() + (uint64_t)milliseconds;
	for (uint64_t now; (now = clock_milliseconds()) < end;) {
		struct pollfd wait = { relay->terminal->fd, POLLOUT, 0 };
		if (!is_empty(&relay->output) && poll(&wait, 1, (int)(end - now)) <= 0)
			break;
		output_write(relay);
		if (is_empty(&relay->output) && !output_read(relay))
			break;
	}
	update(relay);
}

void relay_finish(struct relay *relay)
{
	relay->finishing = true;
	relay->rest = RELAY_REST;
	relay->reading = false;
	relay->keys.start = relay->keys.end = 0;
	finish(relay);
}

void relay_close(struct relay *relay)
{
	if (relay->master < 0)
		return;
	loop_remove(relay->loop, &relay->terminal_watch);
	loop_remove(relay->loop, &relay->master_watch);
	fd_close(&relay->master);
}
