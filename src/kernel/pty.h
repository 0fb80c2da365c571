/* SPDX-License-Identifier: MIT */
/* Pseudo-terminals: what ptmx, the slave side and foreground groups want of a program. */
#pragma once

#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include <termios.h>

/* Open a new pair through the multiplexer at `path`, both sides close-on-exec and neither the
 * controlling terminal. The slave is taken from the master (TIOCGPTPEER, Linux 4.13), so no path
 * below /dev/pts is trusted. 0, or -1 with errno. The caller owns both. */
int pty_open(const char *path, int *ret_master, int *ret_slave);

/* Give the terminal its settings and size. 0, or -1 with errno. */
int pty_configure(int slave, const struct termios *settings, const struct winsize *size);

/* tcsetattr that does nothing when the process is in the background of its terminal: SIGTTOU is
 * noticed, not obeyed, so there is no moment between a check and the change. 0, or -1 with EINTR
 * or EIO for the background. The caller has SIGTTOU blocked; it is afterwards, too. */
int pty_settings_if_front(int terminal, const struct termios *settings);
