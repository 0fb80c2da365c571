/* SPDX-License-Identifier: MIT */
#include "kernel/pty.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>

#include "base/fd.h"

int pty_open(const char *path, int *ret_master, int *ret_slave)
{
	AUTO_CLOSE int master = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	if (master < 0)
		return -1;
	int locked = 0;
	if (ioctl(master, TIOCSPTLCK, &locked) < 0)
		return -1;
	int slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave < 0)
		return -1;
	*ret_master = take_fd(&master);
	*ret_slave = slave;
	return 0;
}

int pty_configure(int slave, const struct termios *settings, const struct winsize *size)
{
	if (tcsetattr(slave, TCSANOW, settings) < 0)
		return -1;
	return ioctl(slave, TIOCSWINSZ, size) < 0 ? -1 : 0;
}

static void background_noticed(int signal)
{
	(void)signal;
}

int pty_settings_if_front(int terminal, const struct termios *settings)
{
	/* No SA_RESTART: in the background the call ends with EINTR. */
	struct sigaction notice = { .sa_handler = background_noticed }, before;
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGTTOU);
	sigaction(SIGTTOU, &notice, &before);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	int result = tcsetattr(terminal, TCSANOW, settings);
	int number = errno;
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigaction(SIGTTOU, &before, NULL);
	errno = number;
	return result;
}
