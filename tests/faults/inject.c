/* SPDX-License-Identifier: MIT */
/*
 * Run a program and make one system call of one of its processes fail, or kill that process there:
 *
 *     fault-inject ROLE NTH ACTION REPORT PROGRAM [ARGUMENT...]
 *
 * ROLE: supervisor (the program itself), init (the first process of its pid namespace) or command
 * (the second, until it executes something). NTH: which of that process's system calls, from 1.
 * ACTION: an errno to fail with, `kill`, or `list` (nothing fails). REPORT: a file that gets, one a
 * line, `call NUMBER` for each system call seen by `list`, `hit NUMBER` for the one that was met, and
 * `left PID` for each process that was still there three seconds after the program had ended.
 * The exit code is the program's, 128+N when signal N ended it, and 99 after twenty seconds.
 *
 * strace can do nearly that, but it counts the calls of each process by name, and the supervisor and
 * init make calls of the same names.
 */
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum role { ROLE_OTHER, ROLE_SUPERVISOR, ROLE_INIT, ROLE_COMMAND };

enum { PROCESSES_MOST = 256, ACTION_LIST = -1, ACTION_KILL = -2 };

struct process {
	pid_t pid;
	enum role role;
	bool inside; /* between the entry and the exit of a system call */
	bool started;
};

struct injector {
	struct process process[PROCESSES_MOST];
	size_t count;
	enum role role;
	long nth;
	int action;
	FILE *report;
	pid_t main;
	int code; /* -1: the program still runs */
	long seen;
	bool over; /* nothing more to do to anyone */
	bool failing;
};

static volatile sig_atomic_t alarmed;

static void alarm_rang(int signal)
{
	(void)signal;
	alarmed = 1;
}

/* 1: in no namespace of its own. 2: in one; `ret_inner` is its number there. */
static int namespace_depth(pid_t pid, int *ret_inner)
{
	char path[64], line[256];
	int depth = 0;
	snprintf(path, sizeof path, "/proc/%d/status", pid);
	FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof line, file)) {
		if (strncmp(line, "NSpid:", 6) != 0)
			continue;
		char *rest = line + 6;
		for (char *word; (word = strsep(&rest, "\t \n"));)
			if (*word) {
				*ret_inner = atoi(word);
				depth++;
			}
	}
	if (file)
		fclose(file);
	return depth;
}

static enum role role_find(const struct injector *injector, pid_t pid)
{
	int inner = 0;
	if (pid == injector->main)
		return ROLE_SUPERVISOR;
	if (namespace_depth(pid, &inner) != 2)
		return ROLE_OTHER;
	return inner == 1 ? ROLE_INIT : inner == 2 ? ROLE_COMMAND : ROLE_OTHER;
}

static struct process *process_find(struct injector *injector, pid_t pid)
{
	for (size_t i = 0; i < injector->count; i++)
		if (injector->process[i].pid == pid)
			return &injector->process[i];
	if (injector->count == PROCESSES_MOST)
		return NULL;
	struct process *process = &injector->process[injector->count++];
	*process = (struct process){ .pid = pid, .role = role_find(injector, pid) };
	return process;
}

#if defined(__x86_64__)
static void call_skip(pid_t pid)
{
	ptrace(PTRACE_POKEUSER, pid, offsetof(struct user, regs.orig_rax), -1L);
}

static void call_answer(pid_t pid, long result)
{
	ptrace(PTRACE_POKEUSER, pid, offsetof(struct user, regs.rax), result);
}
#elif defined(__aarch64__)
static void call_skip(pid_t pid)
{
	int none = -1;
	struct iovec part = { &none, sizeof none };
	ptrace(PTRACE_SETREGSET, pid, NT_ARM_SYSTEM_CALL, &part);
}

static void call_answer(pid_t pid, long result)
{
	struct user_regs_struct registers;
	struct iovec part = { &registers, sizeof registers };
	ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &part);
	registers.regs[0] = (unsigned long long)result;
	ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &part);
}
#else
#error "no way to change a system call on this machine"
#endif

static void call_entered(struct injector *injector, const struct process *process)
{
	struct __ptrace_syscall_info info = { 0 };
	ptrace(PTRACE_GET_SYSCALL_INFO, process->pid, sizeof info, &info);
	injector->seen++;
	if (injector->action == ACTION_LIST)
		fprintf(injector->report, "call %llu\n", (unsigned long long)info.entry.nr);
	if (injector->action == ACTION_LIST || injector->seen != injector->nth)
		return;
	fprintf(injector->report, "hit %llu\n", (unsigned long long)info.entry.nr);
	if (injector->action == ACTION_KILL) {
		kill(process->pid, SIGKILL);
		injector->over = true;
		return;
	}
	call_skip(process->pid);
	injector->failing = true;
}

static void call_stopped(struct injector *injector, struct process *process)
{
	process->inside = !process->inside;
	if (process->inside) {
		call_entered(injector, process);
	} else if (injector->failing) {
		call_answer(process->pid, -injector->action);
		injector->failing = false;
		injector->over = true;
	}
}

static void resume(const struct injector *injector, const struct process *process, int signal)
{
	bool watched = process->role == injector->role && !injector->over;
	ptrace(watched ? PTRACE_SYSCALL : PTRACE_CONT, process->pid, NULL, (long)signal);
}

static void stopped(struct injector *injector, pid_t pid, int status)
{
	struct process *process = process_find(injector, pid);
	int signal = WSTOPSIG(status), event = status >> 16;
	if (!process) {
		ptrace(PTRACE_CONT, pid, NULL, 0L);
		return;
	}
	if (signal == (SIGTRAP | 0x80)) {
		if (process->role == injector->role && !injector->over)
			call_stopped(injector, process);
		signal = 0;
	} else if (event == PTRACE_EVENT_EXEC) {
		/* What the command executes is not hutch. */
		if (process->role == ROLE_COMMAND)
			process->role = ROLE_OTHER;
		signal = 0;
	} else if (event || (signal == SIGSTOP && !process->started)) {
		signal = 0;
	}
	process->started = true;
	resume(injector, process, signal);
}

static void ended(struct injector *injector, pid_t pid, int status)
{
	for (size_t i = 0; i < injector->count; i++)
		if (injector->process[i].pid == pid)
			injector->process[i] = injector->process[--injector->count];
	if (pid != injector->main)
		return;
	injector->code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	const struct itimerval soon = { .it_value.tv_sec = 3 };
	setitimer(ITIMER_REAL, &soon, NULL);
}

/* Until nothing is left, or time is up. */
static void watch(struct injector *injector)
{
	int status;
	while (!alarmed) {
		pid_t pid = waitpid(-1, &status, __WALL);
		if (pid < 0 && errno != EINTR)
			return;
		if (pid > 0 && WIFSTOPPED(status))
			stopped(injector, pid, status);
		else if (pid > 0)
			ended(injector, pid, status);
	}
	for (size_t i = 0; i < injector->count; i++) {
		fprintf(injector->report, "left %d\n", injector->process[i].pid);
		kill(injector->process[i].pid, SIGKILL);
	}
	if (injector->code < 0)
		injector->code = 99;
}

static int program_start(struct injector *injector, char **argv)
{
	const struct itimerval late = { .it_value.tv_sec = 20 };
	const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
			     PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	injector->main = fork();
	if (injector->main == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(argv[0], argv);
		_exit(127);
	}
	int status;
	if (injector->main < 0 || waitpid(injector->main, &status, 0) < 0 || !WIFSTOPPED(status) ||
		ptrace(PTRACE_SETOPTIONS, injector->main, NULL, options) < 0)
		return -1;
	const struct sigaction action = { .sa_handler = alarm_rang };
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &late, NULL);
	struct process *process = process_find(injector, injector->main);
	if (!process)
		return -1;
	process->started = true;
	resume(injector, process, 0);
	return 0;
}

int main(int argc, char **argv)
{
	static struct injector injector = { .code = -1 };
	if (argc < 6)
		return 2;
	injector.role = argv[1][0] == 's'   ? ROLE_SUPERVISOR
			: argv[1][0] == 'i' ? ROLE_INIT
					    : ROLE_COMMAND;
	injector.nth = atol(argv[2]);
	injector.action = strcmp(argv[3], "list") == 0   ? ACTION_LIST
			  : strcmp(argv[3], "kill") == 0 ? ACTION_KILL
							 : atoi(argv[3]);
	injector.report = fopen(argv[4], "we");
	if (!injector.report || program_start(&injector, argv + 5) < 0)
		return 2;
	watch(&injector);
	fclose(injector.report);
	return injector.code;
}
