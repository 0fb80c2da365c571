/* SPDX-License-Identifier: MIT */
/*
 * Init leads the session and owns the terminal; the command is its child in a process group of its
 * own. Were the command the leader, its group would be an orphaned one, which the kernel never
 * stops, and Ctrl-Z would be lost.
 *
 * Nothing inside can signal init: everything is blocked, and the kernel keeps SIGKILL and SIGSTOP
 * of its own children from the first process of a namespace.
 */
#include "engines/init.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "kernel/process.h"
#include "kernel/pty.h"
#include "loop/loop.h"
#include "protocol/message.h"

enum {
	COMMAND_STACK = 256 * 1024, /* confine() included; only what is touched becomes memory */
	TIME_LIMIT_GRACE_MS = 2000, /* from SIGTERM to the end */
	REAP_MOST = 64,             /* children in one turn of the loop */
};

struct inside {
	const struct init *init;
	int slave; /* -1: no terminal */
	pid_t command;
	bool late; /* the time limit has passed */
	struct loop loop;
	struct loop_watch channel;
	struct loop_signals children;
	struct loop_timer limit;
};

/* What the vforked child and init share until the command is executed. */
struct attempt {
	const struct inside *inside;
	bool failed;
	struct err err;
	struct execution execution;
};

static noreturn void report_error(const struct init *init, const struct err *e)
{
	message_send_error(init->channel, e);
	_exit(e->exit_code ? e->exit_code : EXIT_HUTCH);
}

/* The supervisor takes the code from the exit status if the message does not reach it. */
static noreturn void report_end(const struct inside *inside, enum message_kind kind, int code)
{
	message_send(inside->init->channel, kind, kind == MESSAGE_EXITED ? code : 0, -1);
	_exit(code);
}

static const char *environment_get(char *const *environment, const char *name)
{
	size_t length = strlen(name);
	for (; *environment; environment++)
		if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=')
			return *environment + length + 1;
	return NULL;
}

static int execution_failed(struct attempt *attempt, const char *search)
{
	const char *file = attempt->inside->init->command[0], *path = attempt->execution.path;
	struct err *e = &attempt->err;
	int number = errno;
	if (number == ENOENT && path[0]) {
		err_set(e, 0, "cannot start %s: the interpreter or loader that it names is missing",
			path);
		err_hint(e, "the sandbox does not show that file; add its directory as a read-only "
			    "path");
	} else if (number == ENOENT && strchr(file, '/')) {
		err_set(e, 0, "no such file in the sandbox: %s", file);
		err_hint(e, "a file outside may be hidden inside; hutch plan lists what is shown");
	} else if (number == ENOENT) {
		err_set(e, 0, "command not found in the sandbox: %s", file);
		err_hint(e, "PATH there is %s", search ? search : "not set");
	} else {
		err_set(e, number, "cannot start %s", path[0] ? path : file);
		if (number == EACCES)
			err_hint(e, "it is no program, or its file system is mounted without exec");
	}
	e->exit_code = number == ENOENT && !path[0] ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
	return -1;
}

/* The sandbox's terminal takes the place of every descriptor that is one: with only stderr left on
 * the host's, a command could switch echo off there and read a password. */
static int terminal_take(const struct inside *inside, struct err *e)
{
	if (inside->slave < 0)
		return 0;
	if (inside->init->start->foreground && tcsetpgrp(inside->slave, getpid()) < 0)
		return err_set(e, errno, "cannot put the command in front of its terminal");
	for (int fd = 0; fd < 3; fd++)
		if (isatty(fd) && dup2(inside->slave, fd) < 0)
			return err_set(e, errno, "cannot give the command its terminal");
	return 0;
}

static void signals_restore(const struct start *start)
{
	if (start->child_ignored)
		signal(SIGCHLD, SIG_IGN);
	sigprocmask(SIG_SETMASK, &start->blocked, NULL);
}

static int command_prepare(const struct inside *inside, struct err *e)
{
	const struct init *init = inside->init;
	if (setpgid(0, 0) < 0)
		return err_set(e, errno, "cannot make the command's process group");
	if (terminal_take(inside, e) < 0)
		return -1;
	/* Closed by the exec and not now: confinement may still want some. */
	if (close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) < 0)
		return err_set(e, errno, "cannot close descriptors for the command");
	if (init->directory && chdir(init->directory) < 0) {
		err_set(e, errno, "cannot enter %s in the sandbox", init->directory);
		return err_hint(e, "choose a directory that exists inside");
	}
	return init->confine ? init->confine(init->confine_data, e) : 0;
}

/* Runs on its own stack in init's memory, while init waits. */
static int command_main(void *data)
{
	struct attempt *attempt = data;
	const struct init *init = attempt->inside->init;
	if (command_prepare(attempt->inside, &attempt->err) == 0) {
		const char *search = environment_get(init->environment, "PATH");
		signals_restore(init->start);
		process_execute(
			init->argv0, init->command, init->environment, search, &attempt->execution);
		execution_failed(attempt, search);
	}
	attempt->failed = true;
	_exit(EXIT_HUTCH);
}

/* vfork, and not fork, because init's page tables need not be copied for an exec. */
static int command_start(struct inside *inside, struct err *e)
{
	static struct attempt attempt;
	char *stack = mmap(NULL, COMMAND_STACK, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (stack == MAP_FAILED)
		return err_set(e, errno, "cannot map a stack for the command");
	attempt.inside = inside;
	inside->command = clone(
		command_main, stack + COMMAND_STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, &attempt);
	if (inside->command < 0)
		return err_set(e, errno, "cannot start a process for the command");
	munmap(stack, COMMAND_STACK);
	if (!attempt.failed)
		return 0;
	*e = attempt.err;
	return -1;
}

static void command_signal(const struct inside *inside, int signal)
{
	/* The group is gone if the command moved to another one. */
	if (kill(-inside->command, signal) < 0)
		kill(inside->command, signal);
}

/* Signals are blocked in init, so it may do this from the background too. */
static void terminal_give(const struct inside *inside, pid_t group)
{
	if (inside->slave >= 0)
		tcsetpgrp(inside->slave, group);
	command_signal(inside, SIGCONT);
}

static void obey(struct inside *inside, const struct message *order)
{
	switch (order->kind) {
	case MESSAGE_SIGNAL:
		if (order->number > 0)
			command_signal(inside, order->number);
		break;
	case MESSAGE_FOREGROUND:
		terminal_give(inside, inside->command);
		break;
	case MESSAGE_BACKGROUND:
		terminal_give(inside, getpgrp());
		break;
	case MESSAGE_GO:
	case MESSAGE_READY:
	case MESSAGE_STOPPED:
	case MESSAGE_EXITED:
	case MESSAGE_TIMED_OUT:
	case MESSAGE_ERROR:
	case MESSAGE_COUNT:
		break;
	}
}

static void channel_ready(struct loop_watch *watch, uint32_t events)
{
	(void)events;
	struct message order;
	/* Without a supervisor nobody limits, relays or reports: everything ends. */
	if (message_receive(watch->fd, FROM_SUPERVISOR, &order) != 1)
		_exit(EXIT_HUTCH);
	obey(watch->data, &order);
}

static void command_changed(struct inside *inside, int status)
{
	if (WIFSTOPPED(status)) {
		message_send(inside->init->channel, MESSAGE_STOPPED, WSTOPSIG(status), -1);
		return;
	}
	if (inside->late)
		report_end(inside, MESSAGE_TIMED_OUT, EXIT_TIME_LIMIT);
	report_end(inside, MESSAGE_EXITED, process_exit_code(status));
}

/* Orphans come to init to be reaped; only the command is of interest. Where they come faster than they go,
 * the channel and the clock must have their turn all the same. */
static void children_changed(struct loop_signals *signals, int signal)
{
	(void)signal;
	struct inside *inside = signals->data;
	int status;
	pid_t pid;
	for (int i = 0; i < REAP_MOST; i++) {
		if ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) <= 0)
			return;
		if (pid == inside->command)
			command_changed(inside, status);
	}
	kill(getpid(), SIGCHLD); /* blocked, and so the loop comes back to it */
}

static void limit_reached(struct loop_timer *timer)
{
	struct inside *inside = timer->data;
	if (inside->late)
		report_end(inside, MESSAGE_TIMED_OUT, EXIT_TIME_LIMIT);
	inside->late = true;
	command_signal(inside, SIGTERM);
	command_signal(inside, SIGCONT); /* a stopped command would not see it */
	loop_timer_set(timer, TIME_LIMIT_GRACE_MS, 0);
}

static int terminal_make(struct inside *inside, int *ret_master, struct err *e)
{
	const struct start *start = inside->init->start;
	AUTO_CLOSE int master = -1;
	if (pty_open("/dev/ptmx", &master, &inside->slave) < 0)
		return err_set(e, errno, "cannot open a terminal on the sandbox's /dev/ptmx");
	if (pty_configure(inside->slave, &start->settings, &start->size) < 0)
		return err_set(e, errno, "cannot set up the sandbox's terminal");
	if (ioctl(inside->slave, TIOCSCTTY, 0) < 0)
		return err_set(e, errno, "cannot take the sandbox's terminal");
	*ret_master = take_fd(&master);
	return 0;
}

/* A session of its own, with a terminal or without: /dev/tty must not be the host's. */
static int session_make(struct inside *inside, struct err *e)
{
	AUTO_CLOSE int master = -1;
	if (setsid() < 0)
		return err_set(e, errno, "cannot make a session");
	if (inside->init->start->terminal && terminal_make(inside, &master, e) < 0)
		return -1;
	if (message_send(inside->init->channel, MESSAGE_READY, 0, master) < 0)
		return err_set(e, errno, "cannot report to the supervisor");
	return 0;
}

static int loop_prepare(struct inside *inside, struct err *e)
{
	sigset_t children;
	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	if (loop_open(&inside->loop, e) < 0 ||
		loop_add(&inside->loop, &inside->channel, inside->init->channel, EPOLLIN,
			channel_ready, inside, e) < 0 ||
		loop_signals_add(&inside->loop, &inside->children, &children, children_changed,
			inside, e) < 0)
		return -1;
	uint64_t limit = inside->init->start->timeout_ms;
	if (limit && loop_timer_add(&inside->loop, &inside->limit, limit_reached, inside, e) < 0)
		return -1;
	return 0;
}

static int go_await(int channel, struct err *e)
{
	struct message order;
	int got = message_receive(channel, FROM_SUPERVISOR, &order);
	if (got < 0)
		return err_set(e, errno, "cannot hear the supervisor");
	if (got != 1 || order.kind != MESSAGE_GO)
		_exit(EXIT_HUTCH); /* it is gone */
	return 0;
}

/* A pipe that only init still held would keep its other end waiting. */
static void stdio_release(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; fd < 3; fd++)
		if (null < 0)
			close(fd);
		else if (fd != null)
			dup3(null, fd, O_CLOEXEC);
	if (null > 2)
		close(null);
}

static int inside_run(struct inside *inside, struct err *e)
{
	if (session_make(inside, e) < 0 || loop_prepare(inside, e) < 0)
		return -1;
	if (go_await(inside->init->channel, e) < 0 || command_start(inside, e) < 0)
		return -1;
	stdio_release();
	if (inside->init->start->timeout_ms)
		loop_timer_set(&inside->limit, inside->init->start->timeout_ms, 0);
	return loop_run(&inside->loop, e);
}

noreturn void init_run(const struct init *init)
{
	static struct inside inside; /* static, as the child of vfork reads it */
	struct err e = { 0 };
	sigset_t all;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	signal(SIGCHLD, SIG_DFL);
	/* Cleared by every change of ids, so it is set now; if the supervisor is gone already, its
	 * channel says so. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	inside.init = init;
	inside.slave = -1;
	inside_run(&inside, &e);
	report_error(init, &e);
}
