/* SPDX-License-Identifier: MIT */
#include "supervisor/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "kernel/pty.h"

static int first_terminal(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (isatty(fd))
			return fd;
	return -1;
}

static int own_open(int fd, bool is_control)
{
	char path[32];
	const int flags = O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK;
	if (is_control) {
		int opened = open("/dev/tty", flags);
		if (opened >= 0)
			return opened;
	}
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	int opened = open(path, flags);
	/* Last: shared with the shell, and left blocking for its sake. */
	return opened >= 0 ? opened : fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

int terminal_open(struct terminal *terminal, struct err *e)
{
	*terminal = (struct terminal){ .fd = -1 };
	int fd = first_terminal();
	if (fd < 0)
		return 0;
	terminal->is_control = tcgetsid(fd) == getsid(0);
	terminal->fd = own_open(fd, terminal->is_control);
	if (terminal->fd < 0)
		return err_set(e, errno, "cannot open the terminal");
	return 0;
}

bool terminal_is_front(const struct terminal *terminal)
{
	return !terminal->is_control || tcgetpgrp(terminal->fd) == getpgrp();
}

static void settings_make_sane(struct termios *settings)
{
	settings->c_iflag = (settings->c_iflag & IUTF8) | ICRNL | IXON;
	settings->c_oflag = OPOST | ONLCR;
	settings->c_lflag = (settings->c_lflag & TOSTOP) | ICANON | ECHO | ECHOE | ECHOK | ECHOCTL |
			    ECHOKE | ISIG | IEXTEN;
	if (settings->c_cc[VLNEXT] == _POSIX_VDISABLE)
		settings->c_cc[VLNEXT] = 'V' & 0x1f;
}

int terminal_describe(const struct terminal *terminal, bool front, struct termios *ret_settings,
	struct winsize *ret_size, struct err *e)
{
	if (tcgetattr(terminal->fd, ret_settings) < 0)
		return err_set(e, errno, "cannot read the terminal's settings");
	if (!front)
		settings_make_sane(ret_settings);
	if (ioctl(terminal->fd, TIOCGWINSZ, ret_size) < 0)
		*ret_size = (struct winsize){ .ws_row = 24, .ws_col = 80 };
	return 0;
}

static bool settings_equal(const struct termios *a, const struct termios *b)
{
	return a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag && a->c_cflag == b->c_cflag &&
	       a->c_lflag == b->c_lflag && memcmp(a->c_cc, b->c_cc, sizeof a->c_cc) == 0;
}

bool terminal_set_raw(struct terminal *terminal)
{
	struct termios now;
	if (!terminal_is_front(terminal) || tcgetattr(terminal->fd, &now) < 0)
		return false;
	/* After a stop from outside, a shell may have left ours in force: those are not to be
	 * saved. */
	if (terminal->is_raw && settings_equal(&now, &terminal->raw))
		return true;
	terminal->raw = now;
	cfmakeraw(&terminal->raw);
	if (pty_settings_if_front(terminal->fd, &terminal->raw) < 0)
		return false;
	terminal->saved = now;
	/* What the kernel made of them, to compare with later. */
	tcgetattr(terminal->fd, &terminal->raw);
	terminal->is_raw = true;
	return true;
}

void terminal_restore(struct terminal *terminal)
{
	if (!terminal->is_raw)
		return;
	terminal->is_raw = false;
	if (terminal_is_front(terminal))
		pty_settings_if_front(terminal->fd, &terminal->saved);
}

bool terminal_adds_returns(const struct terminal *terminal)
{
	struct termios now;
	return tcgetattr(terminal->fd, &now) == 0 && (now.c_oflag & OPOST) && (now.c_oflag & ONLCR);
}

void terminal_copy_size(const struct terminal *terminal, int master)
{
	struct winsize size;
	if (ioctl(terminal->fd, TIOCGWINSZ, &size) == 0)
		ioctl(master, TIOCSWINSZ, &size);
}

void terminal_close(struct terminal *terminal)
{
	if (terminal->fd < 0)
		return;
	terminal_restore(terminal);
	fd_close(&terminal->fd);
}
