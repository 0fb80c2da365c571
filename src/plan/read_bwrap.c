/* SPDX-License-Identifier: MIT */
/*
 * Theory. Options are read in their order by one table (bwrap_options.def), each by a function of a
 * few lines, into operations; phases may come mixed and are put in order at the end, which keeps the
 * order within each. What holds between options is checked when all are read.
 */
#include "plan/read_bwrap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fd.h"
#include "base/memory.h"
#include "plan/bwrap_capabilities.h"

enum { WORDS_MOST = 9000 };

enum namespace { NS_USER, NS_IPC, NS_PID, NS_NET, NS_UTS, NS_CGROUP, NS_COUNT };

static const char *const namespace_names[NS_COUNT] = { "user", "ipc", "pid", "net", "uts",
	"cgroup" };

enum flag {
	FLAG_LEVEL_PREFIX,
	FLAG_USER_TRY,
	FLAG_DISABLE_USERNS,
	FLAG_ASSERT_DISABLED,
	FLAG_NEW_SESSION,
	FLAG_DIE_WITH_PARENT,
	FLAG_AS_PID_1,
	FLAG_COUNT,
};

enum descriptor {
	FD_USERNS,
	FD_USERNS2,
	FD_PIDNS,
	FD_SYNC,
	FD_BLOCK,
	FD_USERNS_BLOCK,
	FD_INFO,
	FD_STATUS,
	FD_COUNT,
};

enum identity { ID_USER, ID_GROUP, ID_COUNT };

struct reader {
	struct bwrap_request *request;
	const struct bwrap_caller *caller;
	size_t words;
	bool in_data; /* --args is not read from what --args read */
	bool unshare[NS_COUNT];
	bool flag[FLAG_COUNT];
	int descriptor[FD_COUNT];
	bool identity_given[ID_COUNT];
	const char *hostname;
	const char *directory;
	int seccomp; /* -1: none */
	bool seccomp_added;
	bool perms_given, size_given; /* for the next operation */
	mode_t perms;
	uint64_t size;
	const char **layers; /* for the next overlay; ends with NULL */
	size_t layer_count;
};

struct option {
	const char *name;
	int words;
	const char *lack;
	int (*read)(struct reader *r, const struct option *option, char *const *word, struct err *e);
	unsigned parameter;
};

static int refuse(struct err *e, const char *sentence)
{
	err_set(e, 0, "%s", sentence);
	return -1;
}

/* The last of several counts, and that is said. */
static void warn_twice(struct reader *r, const struct option *option)
{
	strings_take(&r->request->warnings,
		memory_format("Only the last %s option will take effect", option->name));
}

/* --- words ----------------------------------------------------------------------------------- */

/* A whole number in `base`, of digits and nothing else, from 0 to `most`. */
static bool number_read(const char *text, int base, uint64_t most, uint64_t *ret_number)
{
	char *end;
	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*ret_number = strtoull(text, &end, base);
	return errno == 0 && *end == '\0' && *ret_number <= most;
}

static int descriptor_read(const char *text, int *ret_fd, struct err *e)
{
	uint64_t number;
	if (!number_read(text, 10, INT32_MAX, &number))
		return err_set(e, 0, "Invalid fd: %s", text);
	*ret_fd = (int)number;
	return 0;
}

static int mode_read(const struct option *option, const char *text, mode_t *ret_mode, struct err *e)
{
	uint64_t number;
	if (!number_read(text, 8, 07777, &number))
		return err_set(e, 0, "%s takes an octal argument <= 07777", option->name);
	*ret_mode = (mode_t)number;
	return 0;
}

/* --- operations ------------------------------------------------------------------------------ */

static struct op *add(struct reader *r, enum op_kind kind, const char *because)
{
	return plan_add(&r->request->plan, kind, because);
}

static struct op *add_at(
	struct reader *r, enum op_kind kind, const struct option *option, const char *target)
{
	struct op *op = add(r, kind, option->name);
	op->target = target;
	return op;
}

static mode_t perms_take(struct reader *r, mode_t usual)
{
	mode_t perms = r->perms_given ? r->perms : usual;
	r->perms_given = false;
	return perms;
}

static int read_bind(
	struct reader *r, const struct option *option, char *const *word, struct err *e)
{
	(void)e;
	struct op *op = add_at(r, OP_BIND, option, word[1]);
	op->source = word[0];
	op->flags = option->parameter;
	return 0;
}

static int read_bind_fd(
	struct reader *r, const struct option *option, char *const *word, struct err *e)
{
	int fd = -1;
	if (descriptor_read(word[0], &fd, e) < 0)
		return -1;
	const char *source = plan_text(&r->request->plan, "/proc/self/fd/%d", fd);
	struct op *op = add_at(r, OP_BIND_FD, option, word[1]);
	op->fd = fd;
	op->source = source;
	op->flags = option->parameter;
	return 0;
}

/* What needs a target, and takes permissions and size where it can. */
static int read_place(
	struct reader *r, const struct option *option, char *const *word, struct err *e)
{
	(void)e;
	struct op *op = add_at(r, (enum op_kind)option->parameter, option, word[0]);
	if (op->kind == OP_TMPFS || op->kind == OP_DIR)
		op->perms = perms_take(r, 0755);
	if (op->kind == OP_TMPFS && r->size_given) {
		op->size = r->size;
		r->size_given = false;
	}
	return 0;
}

static int data_add(struct reader *r, const struct option *option, char *const *word,
	unsigned flags, struct err *e)
{
	int fd = -1;
	if (descriptor_read(word[0], &fd, e) < 0)
		return -1;
	struct op *op = add_at(r, (enum op_kind)option->parameter, option, word[1]);
	op->fd = fd;
	op->perms = perms_take(r, op->kind == OP_COPY_FD ? 0666 : 0600);
	op->flags = flags;
	return 0;
}

static int read_data(
	struct reader *r, const struct option *option, char *const *word, struct err *e)
{
	return data_add(r, option, word, 0, e);
}

static int read_data_read_only(
	struct reader *r, const struct option *option, char *const *word, struct err *e)
{
	return data_add(r, option, word, BIND_READ_ONLY, e);
}

static int read_link(
	struct reader *r, const struct option *option, char *const *word, struct err *e)
{
	(void)e;
	add_at(r, OP_SYMLINK, option, word[1])->value = word[0];
	return 0;
}

static int read_mode(
	struct reader *r, const struct option *option, char *const *word, struct err *e)
{
	mode_t mode;
	if (mode_read(option, word[0], &mode, e) < 0)
		return -1;
	add_at(r, OP_CHMOD, option, word[1])->perms = mode;
	return 0;
}

/* --- overlays -------------------------------------------------------------------------------- */

static int read_layer(
	struct reader *r, const struct option *option, char *const *word, struct err *e)
{
	(void)option;
	(void)e;
	r->layers = memory_grow(r->layers, r->layer_count + 2, sizeof *r->layers);
	r->layers[r->layer_count++] = word[0];
	r->layers[r->layer_count] = NULL;
	return 0;
}

/* The operation, or NULL with a sentence. */
static struct op *overlay_add(struct reader *r, enum op_kind kind, const struct option *option,
	const char *target, size_t least, struct err *e)
{
	if (r->layer_count < least) {
		err_set(e, 0, "%s requires at least %s --overlay-src", option->name,
			least == 1 ? "one" : "two");
		return NULL;
	}
	struct op *op = add_at(r, kind, option, target);
	op->layers = take_pointer(r->layers); /* the plan frees them */
	r->layer_count = 0;
	return op;
}

static int read_overlay(
	struct reader *r, const struct option *option, char *const *word, struct err *e)
{
	struct op *op = overlay_add(r, OP_OVERLAY, option, word[2], 1, e);
	if (!op)
		return -1;
	op->upper = word[0];
	op->work = word[1];
	return 0;
}

static int read_overlay_plain(
	struct reader *r, const struct option *option, char *const *word, struct err *e)
{
	enum op_kind kind = (enum op_kind)option->parameter;
	return overlay_add(r, kind, option, word[0], kind == OP_TMP_OVERLAY ? 1 : 2, e) ? 0 : -1;
}

/* --- for the next operation ------------------------------------------------------------------- */

static int read_perms(
	struct reader *r, const struct option *option, char *const *word, struct err *e)
{
	if (r->perms_given)
		return refuse(e, "--perms given twice for the same action");
	r->perms_given = true;
	return mode_read(option, word[0], &r->perms, e);
}

static int read_size(
	struct reader *r, const struct option *option, char *const *word, struct err *e)
{
	(void)option;
	if (r->size_given)
		return refuse(e, "--size given twice for the same action");
	r->size_given = true;
	if (!number_read(word[0], 0, UINT64_MAX, &r->size) || r->size == 0)
		return refuse(e, "--size takes a non-zero number of bytes");
	if (r->size > SIZE_MAX / 2)
		return err_set(e, 0, "--size (for tmpfs) is limited to %zu", SIZE_MAX / 2);
	return 0;
}

/* --- environment ----------------------------------------------------------------------------- */

static bool is_variable(const char *name)
{
	return *name && !strchr(name, '=');
}

static int read_clear(
	struct reader *r, const struct option *option, char *const *word, struct err *e)
{
	(void)word;
	(void)e;
	add(r, OP_ENV_CLEAR, option->name);
	return 0;
}

static int read_set(struct reader *r, const struct option *option, char *const *word, struct err *e)
{
	if (!is_variable(word[0]))
		return err_set(e, 0, "setenv failed");
	struct op *op = add(r, OP_ENV_SET, option->name);
	op->name = word[0];
	op->value = word[1];
	return 0;
}

static int read_unset(
	struct reader *r, const struct option *option, char *const *word, struct err *e)
{
	if (!is_variable(word[0]))
		return err_set(e, 0, "unsetenv failed");
	add(r, OP_ENV_UNSET, option->name)->name = word[0];
	return 0;
}

/* --- what is there once ----------------------------------------------------------------------- */

static int read_task(
	struct reader *r, const struct option *option, char *const *word, struct err *e)
{
	(void)word;
	(void)e;
	r->request->task = (enum bwrap_task)option->parameter;
	return 0;
}

static int read_flag(
	struct reader *r, const struct option *option, char *const *word, struct err *e)
{
	(void)word;
	(void)e;
	r->flag[option->parameter] = true;
	r->request->level_prefix = r->flag[FLAG_LEVEL_PREFIX];
	return 0;
}

static int read_unshare(
	struct reader *r, const struct option *option, char *const *word, struct err *e)
{
	(void)word;
	(void)e;
	r->unshare[option->parameter] = true;
	return 0;
}

static int read_unshare_all(
	struct reader *r, const struct option *option, char *const *word, struct err *e)
{
	(void)option;
	(void)word;
	(void)e;
	for (size_t i = 0; i < NS_COUNT; i++)
		r->unshare[i] |= i != NS_USER;
	r->flag[FLAG_USER_TRY] = true;
	return 0;
}

static int read_share_net(
	struct reader *r, const struct option *option, char *const *word, struct err *e)
{
	(void)option;
	(void)word;
	(void)e;
	r->unshare[NS_NET] = false;
	return 0;
}

static int read_descriptor(
	struct reader *r, const struct option *option, char *const *word, struct err *e)
{
	int *fd = &r->descriptor[option->parameter];
	if (*fd >= 0)
		warn_twice(r, option);
	return descriptor_read(word[0], fd, e);
}

static int read_identity(
	struct reader *r, const struct option *option, char *const *word, struct err *e)
{
	uint64_t number;
	bool user = option->parameter == ID_USER;
	if (r->identity_given[option->parameter])
		warn_twice(r, option);
	r->identity_given[option->parameter] = true;
	/* The highest one is no id: it means "leave as it is" to the kernel. */
	if (!number_read(word[0], 10, UINT32_MAX - 1, &number))
		return err_set(e, 0, "Invalid %s: %s", option->name + 2, word[0]);
	if (user)
		r->request->uid = (uid_t)number;
	else
		r->request->gid = (gid_t)number;
	return 0;
}

static int text_once(struct reader *r, const struct option *option, const char **text,
	const char *word)
{
	if (*text)
		warn_twice(r, option);
	*text = word;
	return 0;
}

static int read_hostname(
	struct reader *r, const struct option *option, char *const *word, struct err *e)
{
	(void)e;
	return text_once(r, option, &r->hostname, word[0]);
}

static int read_directory(
	struct reader *r, const struct option *option, char *const *word, struct err *e)
{
	(void)e;
	return text_once(r, option, &r->directory, word[0]);
}

static int read_argv0(
	struct reader *r, const struct option *option, char *const *word, struct err *e)
{
	(void)option;
	if (r->request->plan.argv0)
		return refuse(e, "--argv0 used multiple times");
	r->request->plan.argv0 = word[0];
	return 0;
}

static int read_lock(
	struct reader *r, const struct option *option, char *const *word, struct err *e)
{
	(void)option;
	(void)e;
	strings_add(&r->request->locks, word[0]);
	return 0;
}

static int read_label(
	struct reader *r, const struct option *option, char *const *word, struct err *e)
{
	(void)r;
	(void)option;
	(void)word;
	return refuse(e, "labeling not supported on this system");
}

static int read_seccomp(
	struct reader *r, const struct option *option, char *const *word, struct err *e)
{
	if (r->seccomp_added)
		return refuse(e, "--seccomp cannot be combined with --add-seccomp-fd");
	if (r->seccomp >= 0)
		warn_twice(r, option);
	return descriptor_read(word[0], &r->seccomp, e);
}

static int read_seccomp_add(
	struct reader *r, const struct option *option, char *const *word, struct err *e)
{
	int fd = -1;
	if (r->seccomp >= 0)
		return refuse(e, "--add-seccomp-fd cannot be combined with --seccomp");
	r->seccomp_added = true;
	if (descriptor_read(word[0], &fd, e) < 0)
		return -1;
	add(r, OP_SECCOMP_FD, option->name)->fd = fd;
	return 0;
}

static int read_capability(
	struct reader *r, const struct option *option, char *const *word, struct err *e)
{
	uint64_t mask, *held = &r->request->capabilities;
	r->request->capabilities_given = true;
	if (strcasecmp(word[0], "ALL") == 0)
		mask = bwrap_capabilities_all;
	else if (!bwrap_capability_find(word[0], &mask))
		return err_set(e, 0, "unknown cap: %s", word[0]);
	*held = option->parameter ? *held | mask : *held & ~mask;
	return 0;
}

/* --- the whole ------------------------------------------------------------------------------- */

static int read_args(
	struct reader *r, const struct option *option, char *const *word, struct err *e);

static const struct option options[] = {
#define OPTION(name, words, lack, reader, parameter, arguments, help)                              \
	{ name, words, lack, read_##reader, parameter },
#include "plan/bwrap_options.def"
#undef OPTION
};

const char bwrap_help[] =
#define OPTION(name, words, lack, reader, parameter, arguments, help)                              \
	"    " name " " arguments "\n        " help "\n"
#include "plan/bwrap_options.def"
#undef OPTION
	;

/* Called once per option, of which a command line may have thousands; the table is short. */
static const struct option *option_find(const char *name)
{
	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
		if (strcmp(options[i].name, name) == 0)
			return &options[i];
	return NULL;
}

static int option_lacks(const struct option *option, struct err *e)
{
	const char *name = strcmp(option->name, "--ro-bind-fd") == 0 ? "--bind-fd" : option->name;
	return err_set(e, 0, "%s takes %s", name, option->lack);
}

/* Is it something that an option for the next operation may stand before? */
static bool takes_perms(const struct option *option)
{
	static const char *const names[] = { "--perms", "--size", "--tmpfs", "--dir", "--file",
		"--bind-data", "--ro-bind-data" };
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(option->name, names[i]) == 0)
			return true;
	return false;
}

static int check_next(const struct reader *r, const struct option *option, struct err *e)
{
	const char *name = option->name;
	if (r->layer_count && !strstr(name, "overlay"))
		return refuse(e, "--overlay-src must be followed by another --overlay-src or one of "
				 "--overlay, --tmp-overlay, or --ro-overlay");
	if (r->perms_given && !takes_perms(option))
		return refuse(e, "--perms must be followed by an option that creates a file");
	if (r->size_given && strcmp(name, "--tmpfs") != 0 && strcmp(name, "--perms") != 0 &&
		strcmp(name, "--size") != 0)
		return refuse(e, "--size must be followed by --tmpfs");
	return 0;
}

static int count_words(struct reader *r, size_t more, struct err *e)
{
	r->words += more;
	if (r->words > WORDS_MOST)
		return err_set(e, 0, "Exceeded maximum number of arguments %d", WORDS_MOST);
	return 0;
}

/* Read options up to the first word that is none; its index. */
static int read_options(
	struct reader *r, char *const *word, size_t count, size_t *ret_used, struct err *e)
{
	size_t i = 0;
	while (i < count && word[i][0] == '-' && r->request->task == BWRAP_RUN) {
		if (strcmp(word[i], "--") == 0) {
			i++;
			break;
		}
		const struct option *option = option_find(word[i]);
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
static int read_args(
	struct reader *r, const struct option *option, char *const *word, struct err *e)
{
	enum { MOST = 64 << 20 };
	(void)option;
	int fd = -1;
	char *data;
	size_t length, count = 0, used;
	if (r->in_data)
		return refuse(e, "--args not supported in arguments file");
	if (descriptor_read(word[0], &fd, e) < 0)
		return -1;
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

static void start(struct reader *r, const struct bwrap_caller *caller, struct bwrap_request *request)
{
	*request = (struct bwrap_request){
		.task = BWRAP_RUN,
		.plan.faithful = true,
		.uid = caller->uid,
		.gid = caller->gid,
		/* Root begins with all it has, anybody else with nothing. */
		.capabilities = caller->uid == 0 ? caller->capabilities : 0,
	};
	*r = (struct reader){ .request = request, .caller = caller, .seccomp = -1 };
	for (size_t i = 0; i < FD_COUNT; i++)
		r->descriptor[i] = -1;
}

static int check_userns(struct reader *r, struct err *e)
{
	const int *fd = r->descriptor;
	bool user = r->unshare[NS_USER];
	if (fd[FD_USERNS] >= 0 && user)
		return refuse(e, "--userns not compatible --unshare-user");
	if (fd[FD_USERNS] >= 0 && r->flag[FLAG_USER_TRY])
		return refuse(e, "--userns not compatible --unshare-user-try");
	if (r->flag[FLAG_DISABLE_USERNS] && !user)
		return refuse(e, "--disable-userns requires --unshare-user");
	if (r->flag[FLAG_DISABLE_USERNS] && fd[FD_USERNS_BLOCK] >= 0)
		return refuse(e, "--disable-userns is not compatible with  --userns-block-fd");
	if (fd[FD_USERNS_BLOCK] >= 0 && !user)
		return refuse(e, "--userns-block-fd requires --unshare-user");
	if (fd[FD_USERNS_BLOCK] >= 0 && fd[FD_INFO] < 0)
		return refuse(e, "--userns-block-fd requires --info-fd");
	return 0;
}

/* Whoever is not root needs a user namespace for all the rest. */
static void choose_userns(struct reader *r)
{
	if (r->descriptor[FD_USERNS] >= 0)
		return;
	if (r->caller->uid != 0 || (r->flag[FLAG_USER_TRY] && r->caller->user_namespaces))
		r->unshare[NS_USER] = true;
}

static int check_together(struct reader *r, struct err *e)
{
	const int *fd = r->descriptor;
	bool user = r->unshare[NS_USER] || fd[FD_USERNS] >= 0;
	if (r->identity_given[ID_USER] && !user)
		return refuse(e, "Specifying --uid requires --unshare-user or --userns");
	if (r->identity_given[ID_GROUP] && !user)
		return refuse(e, "Specifying --gid requires --unshare-user or --userns");
	if (r->hostname && !r->unshare[NS_UTS])
		return refuse(e, "Specifying --hostname requires --unshare-uts");
	if (r->flag[FLAG_AS_PID_1] && !r->unshare[NS_PID])
		return refuse(e, "Specifying --as-pid-1 requires --unshare-pid");
	if (r->flag[FLAG_AS_PID_1] && r->request->locks.count)
		return refuse(e, "Specifying --as-pid-1 and --lock-file is not permitted");
	return 0;
}

/* The operations that many options make together. */
static void add_rest(struct reader *r)
{
	struct bwrap_request *request = r->request;
	add(r, OP_NAMESPACE, "bwrap")->name = "mount";
	for (size_t i = 0; i < NS_COUNT; i++)
		if (r->unshare[i])
			add(r, OP_NAMESPACE, "bwrap")->name = namespace_names[i];
	if (r->unshare[NS_USER]) {
		struct op *op = add(r, OP_IDENTITY, "bwrap");
		op->uid = request->uid;
		op->gid = request->gid;
	}
	if (r->hostname)
		add(r, OP_HOSTNAME, "--hostname")->value = r->hostname;
	if (r->directory)
		add(r, OP_CWD, "--chdir")->target = r->directory;
	if (r->flag[FLAG_DISABLE_USERNS])
		add(r, OP_NO_USER_NAMESPACES, "--disable-userns");
	if (request->capabilities_given || r->caller->uid != 0)
		add(r, OP_CAPABILITIES, "bwrap")->number = request->capabilities;
	add(r, OP_NO_NEW_PRIVILEGES, "bwrap");
	if (r->seccomp >= 0)
		add(r, OP_SECCOMP_FD, "--seccomp")->fd = r->seccomp;
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

static void finish(struct reader *r, char *const *command)
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

static int read_all(struct reader *r, int argc, char *const *argv, struct err *e)
{
	size_t used = 0, count = argc > 1 ? (size_t)argc - 1 : 0;
	if (count_words(r, count, e) < 0 || (count && read_options(r, argv + 1, count, &used, e) < 0))
		return -1;
	if (r->request->task != BWRAP_RUN)
		return 0;
	if (r->layer_count)
		return refuse(e, "--overlay-src must be followed by another --overlay-src or one of "
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
	struct reader r;
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
