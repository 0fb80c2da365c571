/* SPDX-License-Identifier: MIT */
/*
 * Theory. Options are read in their order by one table (bwrap_options.def), each by a function of a
 * few lines (bwrap_options.c), into operations; phases may come mixed and are put in order at the end,
 * which keeps the order within each. What holds between options is checked when all are read.
 */
#include "plan/read_bwrap.h"

#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/memory.h"
#include "plan/bwrap_reader.h"

enum { WORDS_MOST = 9000 };

static const char *const namespace_names[NS_COUNT] = { "user", "ipc", "pid", "net", "uts",
	"cgroup" };

static int option_lacks(const struct bwrap_option *option, struct err *e)
{
	const char *name = strcmp(option->name, "--ro-bind-fd") == 0 ? "--bind-fd" : option->name;
	return err_set(e, 0, "%s takes %s", name, option->lack);
}

/* Is it something that an option for the next operation may stand before? */
static bool takes_perms(const struct bwrap_option *option)
{
	static const char *const names[] = { "--perms", "--size", "--tmpfs", "--dir", "--file",
		"--bind-data", "--ro-bind-data" };
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(option->name, names[i]) == 0)
			return true;
	return false;
}

static int check_next(
	const struct bwrap_reader *r, const struct bwrap_option *option, struct err *e)
{
	const char *name = option->name;
	if (r->layer_count && !strstr(name, "overlay"))
		return bwrap_refuse(e,
			"--overlay-src must be followed by another --overlay-src or one of "
			"--overlay, --tmp-overlay, or --ro-overlay");
	if (r->perms_given && !takes_perms(option))
		return bwrap_refuse(e, "--perms must be followed by an option that creates a file");
	if (r->size_given && strcmp(name, "--tmpfs") != 0 && strcmp(name, "--perms") != 0 &&
		strcmp(name, "--size") != 0)
		return bwrap_refuse(e, "--size must be followed by --tmpfs");
	return 0;
}

static int count_words(struct bwrap_reader *r, size_t more, struct err *e)
{
	r->words += more;
	if (r->words > WORDS_MOST)
		return err_set(e, 0, "Exceeded maximum number of arguments %d", WORDS_MOST);
	return 0;
}

/* Read options up to the first word that is none; its index. */
static int read_options(
	struct bwrap_reader *r, char *const *word, size_t count, size_t *ret_used, struct err *e)
{
	size_t i = 0;
	while (i < count && word[i][0] == '-' && r->request->task == BWRAP_RUN) {
		if (strcmp(word[i], "--") == 0) {
			i++;
			break;
		}
		const struct bwrap_option *option = bwrap_option_find(word[i]);
		if (!option)
			return err_set(e, 0, "Unknown option %s", word[i]);
		if (check_next(r, option, e) < 0)
			return -1;
		if (count - ++i < (size_t)option->words)
			return option_lacks(option, e);
		if (option->read(r, option, word + i, e) < 0)
			return -1;
		i += (size_t)option->words;
	}
	*ret_used = i;
	return 0;
}

/* Split what was read at its NULs; one after the last word is not needed. */
int bwrap_args_read(struct bwrap_reader *r, int fd, struct err *e)
{
	enum { MOST = 64 << 20 };
	char *data;
	size_t length, count = 0, used;
	struct err why = { 0 };
	if (fd_read_all(fd, MOST, &data, &length, &why) < 0)
		return err_set(e, why.number, "Can't read --args data");
	strings_take(&r->request->data, data);
	for (size_t i = 0; i < length; i += strlen(data + i) + 1)
		count++;
	if (count_words(r, count, e) < 0)
		return -1;
	AUTO_FREE char **words = memory_alloc(count + 1, sizeof *words);
	count = 0;
	for (size_t i = 0; i < length; i += strlen(data + i) + 1)
		words[count++] = data + i;
	r->in_data = true;
	int result = read_options(r, words, count, &used, e);
	r->in_data = false;
	return result;
}

static void start(
	struct bwrap_reader *r, const struct bwrap_caller *caller, struct bwrap_request *request)
{
	*request = (struct bwrap_request){
		.task = BWRAP_RUN,
		.plan.faithful = true,
		.uid = caller->uid,
		.gid = caller->gid,
		/* Root begins with all it has, anybody else with nothing. */
		.capabilities = caller->uid == 0 ? caller->capabilities : 0,
	};
	*r = (struct bwrap_reader){ .request = request, .caller = caller, .seccomp = -1 };
	for (size_t i = 0; i < FD_COUNT; i++)
		r->descriptor[i] = -1;
}

static int check_userns(struct bwrap_reader *r, struct err *e)
{
	const int *fd = r->descriptor;
	bool user = r->unshare[NS_USER];
	if (fd[FD_USERNS] >= 0 && user)
		return bwrap_refuse(e, "--userns not compatible --unshare-user");
	if (fd[FD_USERNS] >= 0 && r->flag[FLAG_USER_TRY])
		return bwrap_refuse(e, "--userns not compatible --unshare-user-try");
	if (r->flag[FLAG_DISABLE_USERNS] && !user)
		return bwrap_refuse(e, "--disable-userns requires --unshare-user");
	if (r->flag[FLAG_DISABLE_USERNS] && fd[FD_USERNS_BLOCK] >= 0)
		return bwrap_refuse(
			e, "--disable-userns is not compatible with  --userns-block-fd");
	if (fd[FD_USERNS_BLOCK] >= 0 && !user)
		return bwrap_refuse(e, "--userns-block-fd requires --unshare-user");
	if (fd[FD_USERNS_BLOCK] >= 0 && fd[FD_INFO] < 0)
		return bwrap_refuse(e, "--userns-block-fd requires --info-fd");
	return 0;
}

/* Whoever is not root needs a user namespace for all the rest. */
static void choose_userns(struct bwrap_reader *r)
{
	if (r->descriptor[FD_USERNS] >= 0)
		return;
	if (r->caller->uid != 0 || (r->flag[FLAG_USER_TRY] && r->caller->user_namespaces))
		r->unshare[NS_USER] = true;
}

static int check_together(struct bwrap_reader *r, struct err *e)
{
	const int *fd = r->descriptor;
	bool user = r->unshare[NS_USER] || fd[FD_USERNS] >= 0;
	if (r->identity_given[ID_USER] && !user)
		return bwrap_refuse(e, "Specifying --uid requires --unshare-user or --userns");
	if (r->identity_given[ID_GROUP] && !user)
		return bwrap_refuse(e, "Specifying --gid requires --unshare-user or --userns");
	if (r->hostname && !r->unshare[NS_UTS])
		return bwrap_refuse(e, "Specifying --hostname requires --unshare-uts");
	if (r->flag[FLAG_AS_PID_1] && !r->unshare[NS_PID])
		return bwrap_refuse(e, "Specifying --as-pid-1 requires --unshare-pid");
	if (r->flag[FLAG_AS_PID_1] && r->request->locks.count)
		return bwrap_refuse(e, "Specifying --as-pid-1 and --lock-file is not permitted");
	return 0;
}

/* The operations that many options make together. */
static void add_rest(struct bwrap_reader *r)
{
	struct bwrap_request *request = r->request;
	bwrap_add(r, OP_NAMESPACE, "bwrap")->name = "mount";
	for (size_t i = 0; i < NS_COUNT; i++)
		if (r->unshare[i])
			bwrap_add(r, OP_NAMESPACE, "bwrap")->name = namespace_names[i];
	if (r->unshare[NS_USER]) {
		struct op *op = bwrap_add(r, OP_IDENTITY, "bwrap");
		op->uid = request->uid;
		op->gid = request->gid;
	}
	if (r->hostname)
		bwrap_add(r, OP_HOSTNAME, "--hostname")->value = r->hostname;
	if (r->directory)
		bwrap_add(r, OP_CWD, "--chdir")->target = r->directory;
	if (r->flag[FLAG_DISABLE_USERNS])
		bwrap_add(r, OP_NO_USER_NAMESPACES, "--disable-userns");
	if (request->capabilities_given || r->caller->uid != 0)
		bwrap_add(r, OP_CAPABILITIES, "bwrap")->number = request->capabilities;
	bwrap_add(r, OP_NO_NEW_PRIVILEGES, "bwrap");
	if (r->seccomp >= 0)
		bwrap_add(r, OP_SECCOMP_FD, "--seccomp")->fd = r->seccomp;
	/* Without a pid namespace a new procfs could not be mounted: the outer one is shown. */
	bool fresh = r->unshare[NS_PID] || r->descriptor[FD_PIDNS] >= 0;
	for (size_t i = 0; i < request->plan.count; i++)
		if (request->plan.op[i].kind == OP_PROC && !fresh)
			request->plan.op[i].flags = PROC_HOST;
}

static bool is_filter(const struct op *op)
{
	return op->kind == OP_SECCOMP_FD;
}

/* Phases in order, and filters last; within each the order of the words. */
static void sort(struct plan *plan)
{
	if (!plan->count)
		return;
	struct op *sorted = memory_alloc(plan->size, sizeof *sorted);
	size_t count = 0;
	for (unsigned phase = PHASE_NAMESPACES; phase <= PHASE_CONFINEMENT + 1; phase++)
		for (size_t i = 0; i < plan->count; i++)
			if (op_info[plan->op[i].kind].phase + is_filter(&plan->op[i]) == phase)
				sorted[count++] = plan->op[i];
	free(plan->op);
	plan->op = sorted;
}

static void finish(struct bwrap_reader *r, char *const *command)
{
	struct bwrap_request *request = r->request;
	request->userns = r->descriptor[FD_USERNS];
	request->userns2 = r->descriptor[FD_USERNS2];
	request->pidns = r->descriptor[FD_PIDNS];
	request->sync = r->descriptor[FD_SYNC];
	request->block = r->descriptor[FD_BLOCK];
	request->userns_block = r->descriptor[FD_USERNS_BLOCK];
	request->info = r->descriptor[FD_INFO];
	request->status = r->descriptor[FD_STATUS];
	request->new_session = r->flag[FLAG_NEW_SESSION];
	request->die_with_parent = r->flag[FLAG_DIE_WITH_PARENT];
	request->as_pid_1 = r->flag[FLAG_AS_PID_1];
	request->assert_userns_disabled =
		r->flag[FLAG_ASSERT_DISABLED] || r->flag[FLAG_DISABLE_USERNS];
	request->plan.command = command;
	add_rest(r);
	sort(&request->plan);
}

static int read_all(struct bwrap_reader *r, int argc, char *const *argv, struct err *e)
{
	size_t used = 0, count = argc > 1 ? (size_t)argc - 1 : 0;
	if (count_words(r, count, e) < 0 ||
		(count && read_options(r, argv + 1, count, &used, e) < 0))
		return -1;
	if (r->request->task != BWRAP_RUN)
		return 0;
	if (r->layer_count)
		return bwrap_refuse(e,
			"--overlay-src must be followed by another --overlay-src or one of "
			"--overlay, --tmp-overlay, or --ro-overlay");
	if (used == count) {
		r->request->task = BWRAP_USAGE;
		return 0;
	}
	if (check_userns(r, e) < 0)
		return -1;
	choose_userns(r);
	if (check_together(r, e) < 0)
		return -1;
	finish(r, argv + 1 + used);
	return 0;
}

int read_bwrap(int argc, char *const *argv, const struct bwrap_caller *caller,
	struct bwrap_request *ret_request, struct err *e)
{
	struct bwrap_reader r;
	start(&r, caller, ret_request);
	int result = read_all(&r, argc, argv, e);
	free(r.layers);
	return result;
}

void bwrap_request_free(struct bwrap_request *request)
{
	plan_free(&request->plan);
	strings_free(&request->locks);
	strings_free(&request->warnings);
	strings_free(&request->data);
}
