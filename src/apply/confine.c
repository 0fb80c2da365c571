/* SPDX-License-Identifier: MIT */
#include "apply/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "apply/limits.h"
#include "apply/seccomp.h"
#include "base/fd.h"
#include "kernel/capability.h"
#include "kernel/mount.h"

static const struct op *find(const struct plan *plan, enum op_kind kind)
{
	for (size_t i = plan->count; i-- > 0;)
		if (plan->op[i].kind == kind)
			return &plan->op[i];
	return NULL;
}

/* The limit is per user namespace, and changing it needs CAP_SYS_RESOURCE in this one, which nothing inside
 * will have. `path` is below /proc. */
static int namespaces_forbid(const char *path)
{
	AUTO_CLOSE int host = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (host >= 0 && file_poke_at(host, path, "0") == 0)
		return 0;
	/* Inside another sandbox the /proc that is there may be read-only; any other one will do. */
	AUTO_CLOSE int proc = errno == EROFS ? mount_new("proc", NULL, 0) : -1;
	return proc < 0 ? -1 : file_poke_at(proc, path, "0");
}

int confine_namespaces(const struct plan *plan, bool root, struct err *e)
{
	if (find(plan, OP_NO_USER_NAMESPACES)) {
		if (namespaces_forbid("sys/user/max_user_namespaces") < 0)
			return err_set(e, errno, "cannot forbid further user namespaces");
		return 0;
	}
	/* Whoever makes one may mount the control groups below his own, and to the kernel a real root owns
	 * them: he could freeze and kill the host's processes with them. */
	if (root && namespaces_forbid("sys/user/max_cgroup_namespaces") < 0 && errno != ENOENT)
		return err_set(e, errno, "cannot forbid further namespaces of control groups");
	return 0;
}

/* Init keeps one capability that means nothing in a user namespace: a process with more capabilities
 * than another cannot be reniced, pinned or traced by it. */
static const uint64_t init_mask = UINT64_C(1) << CAP_WAKE_ALARM;

/* Namespaces do not divide the kernel's keyrings: the one of the user's login session, and the
 * secrets in it, would be the command's too. A new one is joined; where the kernel has none at all
 * there is nothing to leave. */
static int keyring_leave(struct err *e)
{
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) >= 0 || errno == ENOSYS)
		return 0;
	err_set(e, errno, "cannot leave the session's keyring");
	if (errno == EDQUOT)
		return err_hint(e, "this user has too many kernel keys: see /proc/key-users, and "
				   "kernel.keys.maxkeys");
	return -1;
}

int confine_start(const struct plan *plan, struct confinement *ret_confinement, struct err *e)
{
	ret_confinement->plan = plan;
	return ruleset_make(plan, &ret_confinement->ruleset, e);
}

int confine_init(const struct confinement *confinement, struct err *e)
{
	const struct plan *plan = confinement->plan;
	if (keyring_leave(e) < 0 || ruleset_finish(&confinement->ruleset, e) < 0)
		return -1;
	const struct op *capabilities = find(plan, OP_CAPABILITIES);
	if (capabilities &&
		capability_keep(capabilities->number, capabilities->number | init_mask) < 0)
		return err_set(e, errno, "cannot drop capabilities");
	if (find(plan, OP_NO_NEW_PRIVILEGES) && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_set(e, errno, "cannot set no_new_privs");
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return err_set(e, errno, "cannot protect init's memory");
	return 0;
}

static int confine_one(const struct confinement *confinement, const struct op *op, struct err *e)
{
	switch (op->kind) {
	case OP_LIMIT:
		return limit_apply(op, e);
	case OP_CAPABILITIES:
		/* The bounding set is init's; of what is left nothing survives the exec. */
		if (op->number == 0 && capability_hold(0) < 0)
			return err_set(e, errno, "cannot drop capabilities");
		return 0;
	case OP_LANDLOCK:
		return ruleset_enter(&confinement->ruleset, e);
	case OP_SECCOMP:
		return seccomp_apply(op->name, e);
	case OP_NAMESPACE:
	case OP_IDENTITY:
	case OP_HOSTNAME:
	case OP_BIND:
	case OP_BIND_FD:
	case OP_TMPFS:
	case OP_OVERLAY:
	case OP_PROC:
	case OP_DEV:
	case OP_DIR:
	case OP_FILE:
	case OP_SYMLINK:
	case OP_MASK:
	case OP_REMOUNT_RO:
	case OP_TMP_OVERLAY:
	case OP_COPY_FD:
	case OP_BIND_DATA:
	case OP_MQUEUE:
	case OP_CHMOD:
	case OP_SECCOMP_FD:
	case OP_ENV_CLEAR:
	case OP_ENV_KEEP:
	case OP_ENV_UNSET:
	case OP_ENV_SET:
	case OP_CWD:
	case OP_NO_USER_NAMESPACES:
	case OP_NO_NEW_PRIVILEGES:
	case OP_COUNT:
		return 0; /* other phases, or done in init */
	}
	return 0;
}

int confine_command(const void *data, struct err *e)
{
	const struct confinement *confinement = data;
	const struct plan *plan = confinement->plan;
	for (size_t i = 0; i < plan->count; i++)
		if (confine_one(confinement, &plan->op[i], e) < 0)
			return err_prefix(e, "%s", plan->op[i].because);
	return 0;
}
