/* SPDX-License-Identifier: MIT */
#include "engines/probe_reason.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"

/* The first number in a file; `missing` when there is none. */
static long setting(const char *path, long missing)
{
	char *data = NULL;
	long value = missing;
	if (file_read_at(AT_FDCWD, path, 4096, &data, NULL, NULL) == 0 && data[0])
		value = strtol(data, NULL, 10);
	free(data);
	return value;
}

/* Is a line of a file of /proc this one, whatever its spaces? */
static bool status_has(const char *name, const char *value)
{
	char *next, *data = NULL;
	bool found = false;
	if (file_read_at(AT_FDCWD, "/proc/self/status", 1 << 16, &data, NULL, NULL) < 0)
		return false;
	for (char *line = strtok_r(data, "\n", &next); line; line = strtok_r(NULL, "\n", &next)) {
		size_t length = strlen(name);
		if (strncmp(line, name, length) == 0 && line[length] == ':')
			found = strcmp(line + length + 1 + strspn(line + length + 1, "\t "),
					value) == 0;
	}
	free(data);
	return found;
}

/* Does a file around us say that this is a container? */
static bool in_container(void)
{
	return access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0 ||
	       status_has("Seccomp", "2");
}

static const char apparmor_fix[] =
	"AppArmor keeps user namespaces from programs without a profile (Ubuntu 23.10 and later); "
	"install hutch below /usr/local or /usr, and its profile:\n"
	"sudo install -m 0644 share/apparmor/hutch /etc/apparmor.d/hutch\n"
	"sudo apparmor_parser -r /etc/apparmor.d/hutch";

static const struct cause {
	const char *path; /* is... */
	long value;
	const char *fix;
} causes[] = {
	{ "/proc/sys/kernel/unprivileged_userns_clone", 0,
		"the kernel keeps user namespaces from ordinary users:\n"
		"sudo sysctl -w kernel.unprivileged_userns_clone=1\n"
		"(and a line in /etc/sysctl.d to keep it)" },
	{ "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 1, apparmor_fix },
	{ "/proc/sys/user/max_user_namespaces", 0,
		"the number of user namespaces is limited to none; on a host:\n"
		"sudo sysctl -w user.max_user_namespaces=15000\n"
		"inside another sandbox it has to allow nesting (hutch --nesting)" },
};

int reason_user_namespace(struct err *e)
{
	if (!e)
		return -1;
	if (e->number == ENOSYS || e->number == EINVAL)
		return err_hint(e, "this kernel is built without user namespaces (CONFIG_USER_NS)");
	for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++)
		if (setting(causes[i].path, -1) == causes[i].value)
			return err_hint(e, "%s", causes[i].fix);
	if (e->number == ENOSPC || e->number == EUSERS)
		return err_hint(e,
			"a limit is reached: namespaces are nested 32 deep, or too many "
			"exist (/proc/sys/user/max_user_namespaces), or the sandbox around "
			"this one forbids nesting (hutch --nesting)");
	if (in_container())
		return err_hint(e,
			"a container's filter forbids it; start the container with\n"
			"--security-opt seccomp=unconfined --security-opt apparmor=unconfined"
			"\n(Docker and Podman; Kubernetes: seccompProfile Unconfined)");
	return err_hint(e, "nothing known forbids it: is this a chroot, or does a security module "
			   "(SELinux, AppArmor: see the kernel log) refuse it?");
}

int reason_map(uid_t uid, struct err *e)
{
	if (!e)
		return -1;
	if (uid != 0)
		return reason_user_namespace(e);
	return err_hint(e,
		"root needs CAP_SETFCAP for that (Linux 5.12): start the container with\n"
		"--cap-add SETFCAP\n"
		"or run hutch as another user (--user does not help)");
}

int reason_proc(struct err *e)
{
	if (!e)
		return -1;
	if (e->number != EPERM)
		return -1;
	return err_hint(e, "the /proc around this one has parts masked (a container's usual way), "
			   "and the kernel then allows no fresh one; start the container with\n"
			   "--security-opt systempaths=unconfined (Docker) or unmask=ALL (Podman)\n"
			   "or use hutch --proc host, which lists the outer processes inside");
}
