/* SPDX-License-Identifier: MIT */
/* One function per kind of option (bwrap_options.def), each of a few lines. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/text.h"
#include "plan/bwrap_capabilities.h"
#include "plan/bwrap_reader.h"

int bwrap_refuse(struct err *e, const char *sentence)
{
	err_set(e, 0, "%s", sentence);
	return -1;
}

/* The last of several counts, and that is said. */
static void warn_twice(struct bwrap_reader *r, const struct bwrap_option *option)
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

int bwrap_descriptor_read(const char *text, int *ret_fd, struct err *e)
{
	uint64_t number;
	if (!number_read(text, 10, INT32_MAX, &number))
		return err_set(e, 0, "Invalid fd: %s", text);
	*ret_fd = (int)number;
	return 0;
}

static int mode_read(
	const struct bwrap_option *option, const char *text, mode_t *ret_mode, struct err *e)
{
	uint64_t number;
	if (!number_read(text, 8, 07777, &number))
		return err_set(e, 0, "%s takes an octal argument <= 07777", option->name);
	*ret_mode = (mode_t)number;
	return 0;
}

/* --- operations ------------------------------------------------------------------------------ */

struct op *bwrap_add(struct bwrap_reader *r, enum op_kind kind, const char *because)
{
	return plan_add(&r->request->plan, kind, because);
}

static struct op *add_at(struct bwrap_reader *r, enum op_kind kind,
	const struct bwrap_option *option, const char *target)
{
	struct op *op = bwrap_add(r, kind, option->name);
	op->target = target;
	return op;
}

static mode_t perms_take(struct bwrap_reader *r, mode_t usual)
{
	mode_t perms = r->perms_given ? r->perms : usual;
	r->perms_given = false;
	return perms;
}

static int read_bind(
	struct bwrap_reader *r, const struct bwrap_option *option, char *const *word, struct err *e)
{
	(void)e;
	struct op *op = add_at(r, OP_BIND, option, word[1]);
	op->source = word[0];
	op->flags = option->parameter;
	return 0;
}

static int read_bind_fd(
	struct bwrap_reader *r, const struct bwrap_option *option, char *const *word, struct err *e)
{
	int fd = -1;
	if (bwrap_descriptor_read(word[0], &fd, e) < 0)
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
	struct bwrap_reader *r, const struct bwrap_option *option, char *const *word, struct err *e)
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

static int data_add(struct bwrap_reader *r, const struct bwrap_option *option, char *const *word,
	unsigned flags, struct err *e)
{
	int fd = -1;
	if (bwrap_descriptor_read(word[0], &fd, e) < 0)
		return -1;
	struct op *op = add_at(r, (enum op_kind)option->parameter, option, word[1]);
	op->fd = fd;
	op->perms = perms_take(r, op->kind == OP_COPY_FD ? 0666 : 0600);
	op->flags = flags;
	return 0;
}

static int read_data(
	struct bwrap_reader *r, const struct bwrap_option *option, char *const *word, struct err *e)
{
	return data_add(r, option, word, 0, e);
}

static int read_data_read_only(
	struct bwrap_reader *r, const struct bwrap_option *option, char *const *word, struct err *e)
{
	return data_add(r, option, word, BIND_READ_ONLY, e);
}

static int read_link(
	struct bwrap_reader *r, const struct bwrap_option *option, char *const *word, struct err *e)
{
	(void)e;
	add_at(r, OP_SYMLINK, option, word[1])->value = word[0];
	return 0;
}

static int read_mode(
	struct bwrap_reader *r, const struct bwrap_option *option, char *const *word, struct err *e)
{
	mode_t mode = 0;
	if (mode_read(option, word[0], &mode, e) < 0)
		return -1;
	add_at(r, OP_CHMOD, option, word[1])->perms = mode;
	return 0;
}

/* --- overlays -------------------------------------------------------------------------------- */

static int read_layer(
	struct bwrap_reader *r, const struct bwrap_option *option, char *const *word, struct err *e)
{
	(void)option;
	(void)e;
	r->layers = memory_grow(r->layers, r->layer_count + 2, sizeof *r->layers);
	r->layers[r->layer_count++] = word[0];
	r->layers[r->layer_count] = NULL;
	return 0;
}

/* The operation, or NULL with a sentence. */
static struct op *overlay_add(struct bwrap_reader *r, enum op_kind kind,
	const struct bwrap_option *option, const char *target, size_t least, struct err *e)
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
	struct bwrap_reader *r, const struct bwrap_option *option, char *const *word, struct err *e)
{
	struct op *op = overlay_add(r, OP_OVERLAY, option, word[2], 1, e);
	if (!op)
		return -1;
	op->upper = word[0];
	op->work = word[1];
	return 0;
}

static int read_overlay_plain(
	struct bwrap_reader *r, const struct bwrap_option *option, char *const *word, struct err *e)
{
	enum op_kind kind = (enum op_kind)option->parameter;
	return overlay_add(r, kind, option, word[0], kind == OP_TMP_OVERLAY ? 1 : 2, e) ? 0 : -1;
}

/* --- for the next operation ------------------------------------------------------------------- */

static int read_perms(
	struct bwrap_reader *r, const struct bwrap_option *option, char *const *word, struct err *e)
{
	if (r->perms_given)
		return bwrap_refuse(e, "--perms given twice for the same action");
	r->perms_given = true;
	return mode_read(option, word[0], &r->perms, e);
}

static int read_size(
	struct bwrap_reader *r, const struct bwrap_option *option, char *const *word, struct err *e)
{
	(void)option;
	if (r->size_given)
		return bwrap_refuse(e, "--size given twice for the same action");
	r->size_given = true;
	if (!number_read(word[0], 0, UINT64_MAX, &r->size) || r->size == 0)
		return bwrap_refuse(e, "--size takes a non-zero number of bytes");
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
	struct bwrap_reader *r, const struct bwrap_option *option, char *const *word, struct err *e)
{
	(void)word;
	(void)e;
	bwrap_add(r, OP_ENV_CLEAR, option->name);
	return 0;
}

static int read_set(
	struct bwrap_reader *r, const struct bwrap_option *option, char *const *word, struct err *e)
{
	if (!is_variable(word[0]))
		return err_set(e, 0, "setenv failed");
	struct op *op = bwrap_add(r, OP_ENV_SET, option->name);
	op->name = word[0];
	op->value = word[1];
	return 0;
}

static int read_unset(
	struct bwrap_reader *r, const struct bwrap_option *option, char *const *word, struct err *e)
{
	if (!is_variable(word[0]))
		return err_set(e, 0, "unsetenv failed");
	bwrap_add(r, OP_ENV_UNSET, option->name)->name = word[0];
	return 0;
}

/* --- what is there once ----------------------------------------------------------------------- */

static int read_task(
	struct bwrap_reader *r, const struct bwrap_option *option, char *const *word, struct err *e)
{
	(void)word;
	(void)e;
	r->request->task = (enum bwrap_task)option->parameter;
	return 0;
}

static int read_flag(
	struct bwrap_reader *r, const struct bwrap_option *option, char *const *word, struct err *e)
{
	(void)word;
	(void)e;
	r->flag[option->parameter] = true;
	r->request->level_prefix = r->flag[FLAG_LEVEL_PREFIX];
	return 0;
}

static int read_unshare(
	struct bwrap_reader *r, const struct bwrap_option *option, char *const *word, struct err *e)
{
	(void)word;
	(void)e;
	r->unshare[option->parameter] = true;
	return 0;
}

static int read_unshare_all(
	struct bwrap_reader *r, const struct bwrap_option *option, char *const *word, struct err *e)
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
	struct bwrap_reader *r, const struct bwrap_option *option, char *const *word, struct err *e)
{
	(void)option;
	(void)word;
	(void)e;
	r->unshare[NS_NET] = false;
	return 0;
}

static int read_descriptor(
	struct bwrap_reader *r, const struct bwrap_option *option, char *const *word, struct err *e)
{
	int *fd = &r->descriptor[option->parameter];
	if (*fd >= 0)
		warn_twice(r, option);
	return bwrap_descriptor_read(word[0], fd, e);
}

static int read_identity(
	struct bwrap_reader *r, const struct bwrap_option *option, char *const *word, struct err *e)
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

static int text_once(struct bwrap_reader *r, const struct bwrap_option *option, const char **text,
	const char *word)
{
	if (*text)
		warn_twice(r, option);
	*text = word;
	return 0;
}

static int read_hostname(
	struct bwrap_reader *r, const struct bwrap_option *option, char *const *word, struct err *e)
{
	(void)e;
	return text_once(r, option, &r->hostname, word[0]);
}

static int read_directory(
	struct bwrap_reader *r, const struct bwrap_option *option, char *const *word, struct err *e)
{
	(void)e;
	return text_once(r, option, &r->directory, word[0]);
}

static int read_argv0(
	struct bwrap_reader *r, const struct bwrap_option *option, char *const *word, struct err *e)
{
	(void)option;
	if (r->request->plan.argv0)
		return bwrap_refuse(e, "--argv0 used multiple times");
	r->request->plan.argv0 = word[0];
	return 0;
}

static int read_lock(
	struct bwrap_reader *r, const struct bwrap_option *option, char *const *word, struct err *e)
{
	(void)option;
	(void)e;
	strings_add(&r->request->locks, word[0]);
	return 0;
}

static int read_label(
	struct bwrap_reader *r, const struct bwrap_option *option, char *const *word, struct err *e)
{
	(void)r;
	(void)option;
	(void)word;
	return bwrap_refuse(e, "labeling not supported on this system");
}

static int read_seccomp(
	struct bwrap_reader *r, const struct bwrap_option *option, char *const *word, struct err *e)
{
	if (r->seccomp_added)
		return bwrap_refuse(e, "--seccomp cannot be combined with --add-seccomp-fd");
	if (r->seccomp >= 0)
		warn_twice(r, option);
	return bwrap_descriptor_read(word[0], &r->seccomp, e);
}

static int read_seccomp_add(
	struct bwrap_reader *r, const struct bwrap_option *option, char *const *word, struct err *e)
{
	int fd = -1;
	if (r->seccomp >= 0)
		return bwrap_refuse(e, "--add-seccomp-fd cannot be combined with --seccomp");
	r->seccomp_added = true;
	if (bwrap_descriptor_read(word[0], &fd, e) < 0)
		return -1;
	bwrap_add(r, OP_SECCOMP_FD, option->name)->fd = fd;
	return 0;
}

static int read_capability(
	struct bwrap_reader *r, const struct bwrap_option *option, char *const *word, struct err *e)
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

static int read_args(
	struct bwrap_reader *r, const struct bwrap_option *option, char *const *word, struct err *e)
{
	int fd = -1;
	(void)option;
	if (r->in_data)
		return bwrap_refuse(e, "--args not supported in arguments file");
	if (bwrap_descriptor_read(word[0], &fd, e) < 0)
		return -1;
	return bwrap_args_read(r, fd, e);
}

/* --- the table ------------------------------------------------------------------------------- */

static const struct bwrap_option options[] = {
#define OPTION(name, words, lack, reader, parameter, arguments, help)                              \
	{ name, words, lack, read_##reader, parameter, arguments, help },
#include "plan/bwrap_options.def"
#undef OPTION
};

void bwrap_help_add(struct text *out)
{
	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
		AUTO_FREE char *usage =
			memory_format("%s %s", options[i].name, options[i].arguments);
		text_format(out, "    %-28s %s\n", usage, options[i].help);
	}
}

/* Called once per option, of which a command line may have thousands; the table is short. */
const struct bwrap_option *bwrap_option_find(const char *name)
{
	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
		if (strcmp(options[i].name, name) == 0)
			return &options[i];
	return NULL;
}
