/* SPDX-License-Identifier: MIT */
/*
 * Any words as bubblewrap's command line, the last half of them by way of --args if that is asked for.
 * What is read without an error is a plan that breaks no rule.
 */
#include "plan/read_bwrap.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

enum { ARGS_FD = 100 };

static void data_offer(const char *bytes, size_t length)
{
	int fd = memfd_create("args", MFD_CLOEXEC);
	if (fd < 0 || dup2(fd, ARGS_FD) < 0)
		abort();
	close(fd);
	if (write(ARGS_FD, bytes, length) != (ssize_t)length || lseek(ARGS_FD, 0, SEEK_SET) != 0)
		abort();
}

static void must_be_sound(const struct plan *plan)
{
	struct err e = { 0 };
	AUTO_TEXT out = { 0 };
	if (plan_check(plan, &e) < 0)
		abort();
	plan_show_text(plan, &out);
	plan_show_json(plan, &out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	AUTO_FREE char *data = memory_alloc(length + 1, 1);
	AUTO_FREE char **argv = memory_alloc(length + 3, sizeof *argv);
	struct bwrap_caller caller = { .user_namespaces = true, .capabilities = 0xff };
	int argc = 1;
	if (length == 0)
		return 0;
	memcpy(data, bytes, length);
	caller.uid = data[0] & 1 ? 1000 : 0;
	data_offer(data + length / 2, length - length / 2);
	argv[0] = (char *)"bwrap";
	for (size_t i = 1; i < length; i += strlen(data + i) + 1) {
		bool after_args = strcmp(argv[argc - 1], "--args") == 0;
		argv[argc++] = after_args ? (char *)"100" : data + i;
	}
	struct bwrap_request request;
	struct err e = { 0 };
	if (read_bwrap(argc, argv, &caller, &request, &e) < 0) {
		if (!e.text[0])
			abort();
	} else if (request.task == BWRAP_RUN) {
		must_be_sound(&request.plan);
	}
	bwrap_request_free(&request);
	close(ARGS_FD);
	return 0;
}
