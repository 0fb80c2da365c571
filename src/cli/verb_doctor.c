/* SPDX-License-Identifier: MIT */
/*
 * hutch doctor: what works here, found by doing it, and how to get the rest. The last test is the
 * whole thing: the default preset runs a command through the engine. Its result is the exit code: 0
 * when it works, 1 when it does not.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "cli/doctor.h"
#include "cli/request.h"
#include "cli/verbs.h"
#include "engines/guarantees.h"
#include "engines/probe.h"
#include "kernel/landlock.h"
#include "kernel/scope.h"
#include "supervisor/home.h"

enum { RUN_MILLISECONDS = 10000 };

/* --- what is tried --------------------------------------------------------------------------- */

static int try_user_namespace(const struct place *place, struct text *detail, struct err *e)
{
	(void)place;
	(void)detail;
	return probe_user_namespace(e);
}

static int try_own_map(const struct place *place, struct text *detail, struct err *e)
{
	(void)place;
	text_format(detail, "uid %u", geteuid());
	return geteuid() == 0 ? probe_root_map(e) : 0;
}

static int try_mounts(const struct place *place, struct text *detail, struct err *e)
{
	(void)place;
	(void)detail;
	return probe_mounts(e);
}

static int try_processes(const struct place *place, struct text *detail, struct err *e)
{
	(void)place;
	(void)detail;
	return probe_process_namespace(e);
}

static int try_proc(const struct place *place, struct text *detail, struct err *e)
{
	(void)place;
	(void)detail;
	return probe_fresh_proc(e);
}

static int try_network(const struct place *place, struct text *detail, struct err *e)
{
	(void)place;
	(void)detail;
	return probe_network_namespace(e);
}

static int try_landlock(const struct place *place, struct text *detail, struct err *e)
{
	(void)place;
	text_format(detail, "ABI %d", landlock_abi());
	if (probe_landlock(e) == 0)
		return 0;
	return err_hint(e, "Linux 5.13 with CONFIG_SECURITY_LANDLOCK, and landlock in the boot "
			   "parameter lsm=");
}

static int try_scopes(const struct place *place, struct text *detail, struct err *e)
{
	(void)place;
	(void)detail;
	if (probe_abstract_scope(e) == 0)
		return 0;
	return err_hint(e, "Linux 6.12; until then --network off closes abstract sockets");
}

static int try_seccomp(const struct place *place, struct text *detail, struct err *e)
{
	(void)place;
	(void)detail;
	return probe_seccomp(e);
}

static int try_overlay(const struct place *place, struct text *detail, struct err *e)
{
	(void)detail;
	if (!place->directory)
		return err_set(e, 0, "not tried: there is no state directory to try it in");
	if (probe_overlay(place->directory, e) == 0)
		return 0;
	return err_hint(e, "Linux 5.11 with CONFIG_OVERLAY_FS, and a state directory on ext4, xfs, "
			   "btrfs or tmpfs (HUTCH_STATE_DIR)");
}

static int try_nftables(const struct place *place, struct text *detail, struct err *e)
{
	(void)place;
	(void)detail;
	return probe_nftables(e);
}

static int try_tasks(const struct place *place, struct text *detail, struct err *e)
{
	int version;
	(void)place;
	if (probe_cgroup(false, &version, e) == 0) {
		text_format(detail, "pids control group, v%d", version);
		return 0;
	}
	text_add(detail, "RLIMIT_NPROC");
	struct err why = { 0 };
	if (probe_task_limit(&why) == 0)
		return 0;
	return err_hint(e,
		"%s; --tasks is refused. Make a pids control group writable, or run hutch "
		"as an ordinary user",
		why.text);
}

static int try_memory(const struct place *place, struct text *detail, struct err *e)
{
	int version;
	(void)place;
	if (scope_is_reachable()) {
		text_add(detail, "scope of the user's systemd");
		return 0;
	}
	if (probe_cgroup(true, &version, e) == 0) {
		text_format(detail, "memory control group, v%d", version);
		return 0;
	}
	return err_hint(e,
		"--memory is then sampled: RLIMIT_DATA and a look every 50 ms; memfd and "
		"shared memory are not counted. A login with systemd and unified control "
		"groups (systemd.unified_cgroup_hierarchy=1) makes it whole");
}

static int try_nix(const struct place *place, struct text *detail, struct err *e)
{
	if (program_version(place, "nix", detail, e) < 0)
		return err_hint(e, "https://nixos.org/download, or apt-get install nix-bin");
	if (nix_daemon_answers(e) == 0)
		return 0;
	if (access("/nix/var/nix/db", W_OK) == 0)
		text_add(detail, ", without a daemon, the store is yours");
	else
		return err_hint(e, "sudo systemctl enable --now nix-daemon.socket");
	return 0;
}

static int try_direnv(const struct place *place, struct text *detail, struct err *e)
{
	return program_version(place, "direnv", detail, e);
}

static int try_git(const struct place *place, struct text *detail, struct err *e)
{
	return program_version(place, "git", detail, e);
}

static int try_qemu(const struct place *place, struct text *detail, struct err *e)
{
	struct utsname machine;
	char name[100];
	uname(&machine);
	snprintf(name, sizeof name, "qemu-system-%s", machine.machine);
	if (program_version(place, name, detail, e) < 0)
		return err_hint(e, "apt-get install qemu-system, dnf install qemu-kvm");
	return 0;
}

static int try_kvm(const struct place *place, struct text *detail, struct err *e)
{
	(void)place;
	(void)detail;
	if (kvm_answers(e) == 0)
		return 0;
	return err_hint(e,
		"virtual machines are emulated and slow without; if the device is there, "
		"sudo usermod -aG kvm $USER and log in again");
}

static int try_bwrap(const struct place *place, struct text *detail, struct err *e)
{
	return program_version(place, "bwrap", detail, e);
}

static const struct check {
	const char *what;
	const char *purpose;
	int (*try)(const struct place *place, struct text *detail, struct err *e);
	enum standing otherwise; /* MISSING, or WEAKER where something stands in */
} checks[] = {
	{ "user namespaces", "every sandbox", try_user_namespace, STANDING_MISSING },
	{ "own uid inside", "every sandbox", try_own_map, STANDING_MISSING },
	{ "mount interface", "every sandbox", try_mounts, STANDING_MISSING },
	{ "process namespaces", "every sandbox", try_processes, STANDING_MISSING },
	{ "fresh /proc", "every sandbox, but with --proc host", try_proc, STANDING_MISSING },
	{ "network namespaces", "--network off", try_network, STANDING_MISSING },
	{ "landlock", "the second fence", try_landlock, STANDING_WEAKER },
	{ "landlock scopes", "abstract sockets of the host", try_scopes, STANDING_WEAKER },
	{ "seccomp", "filters of system calls", try_seccomp, STANDING_MISSING },
	{ "overlay", "copy-on-write workspaces", try_overlay, STANDING_MISSING },
	{ "nftables", "filtered networks", try_nftables, STANDING_MISSING },
	{ "task limit", "--tasks", try_tasks, STANDING_MISSING },
	{ "memory limit", "--memory", try_memory, STANDING_WEAKER },
	{ "nix", "--tools nix, the preset shell", try_nix, STANDING_MISSING },
	{ "direnv", "--tools direnv", try_direnv, STANDING_MISSING },
	{ "git", "the git name and e-mail inside", try_git, STANDING_MISSING },
	{ "qemu", "virtual machines", try_qemu, STANDING_MISSING },
	{ "kvm", "fast virtual machines", try_kvm, STANDING_WEAKER },
	{ "bwrap", "running what hutch plan --format bwrap prints", try_bwrap, STANDING_MISSING },
};

/* --- the table ------------------------------------------------------------------------------- */

static void row_print(enum standing standing, const char *what, const char *detail,
	const char *purpose, const struct err *e)
{
	static const char *const colours[] = { "\033[32m", "\033[33m", "\033[31m" };
	AUTO_TEXT out = { 0 };
	bool coloured = stdout_is_coloured();
	text_format(&out, "%s%-8s%s %-19s ", coloured ? colours[standing] : "",
		standing_names[standing], coloured ? "\033[0m" : "", what);
	size_t start = out.length;
	text_add_visible(&out, detail);
	int width = (int)(out.length - start);
	text_format(&out, "%*s  for %s\n", width < 28 ? 28 - width : 0, "", purpose);
	if (standing != STANDING_OK)
		doctor_add_lines(&out, e->text);
	if (standing != STANDING_OK && e->hint[0])
		doctor_add_lines(&out, e->hint);
	fputs(out.data, stdout);
	fflush(stdout); /* a check that takes its time should not hide those before it */
}

static void check_print(const struct check *check, const struct place *place)
{
	struct err e = { 0 };
	AUTO_TEXT detail = { 0 };
	enum standing standing =
		check->try(place, &detail, &e) == 0 ? STANDING_OK : check->otherwise;
	bool shown = standing == STANDING_OK && detail.data;
	row_print(standing, check->what, shown ? detail.data : "", check->purpose, &e);
}

/* --- the whole ------------------------------------------------------------------------------- */

/* Without the user's agents, so that none of their state is touched. */
static const struct layers_flag settings[] = {
	{ KEY_PRESET, "agent", "hutch doctor" },
	{ KEY_AGENT, "none", "hutch doctor" },
	{ KEY_TOOLS, "host", "hutch doctor" },
	{ KEY_TIMEOUT, "10s", "hutch doctor" },
};

/* The current directory may be one that no sandbox is made of (the home), or have settings of its
 * own; and a new one would stay behind when this is killed. `true` writes nothing. */
static int workspace_enter(struct err *e)
{
	if (chdir("/usr/share") == 0 || chdir("/usr") == 0)
		return 0;
	return err_set(e, errno, "cannot enter /usr");
}

static int preset_run(struct request *request, const struct home *home, struct err *e)
{
	int code;
	if (request_compile(request, home->source, e) < 0 ||
		probe_plan(&engine_namespace, &request->plan, RUN_MILLISECONDS, &code, e) < 0)
		return -1;
	return code == 0 ? 0 : err_set(e, 0, "a command that should succeed ended with %d", code);
}

static void preset_print(const struct request *request, uint64_t took, int result, struct err *e)
{
	AUTO_TEXT text = { 0 };
	const struct question question = {
		.engine = &engine_namespace,
		.plan = &request->plan,
	};
	putchar('\n');
	if (request->plan.count > 0) {
		guarantees_show(&question, &text);
		printf("The default preset gives these %s\n", text.data);
	}
	text_free(&text);
	if (result == 0) {
		printf("The default preset works: it ran a command in %u ms.\n", (unsigned)took);
		return;
	}
	text_add(&text, "The default preset does not work here:\n");
	doctor_add_lines(&text, e->text);
	if (e->hint[0])
		doctor_add_lines(&text, e->hint);
	fputs(text.data, stdout);
}

static int examine(struct request *request, struct home *home, const char *project, int prepared,
	struct err *e)
{
	const struct place place = { .directory = prepared == 0 ? home->session.directory : NULL,
		.project = project };
	for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++)
		check_print(&checks[i], &place);
	uint64_t start = clock_milliseconds();
	int result = prepared == 0 ? preset_run(request, home, e) : -1;
	preset_print(request, clock_milliseconds() - start, result, e);
	return result;
}

int verb_doctor(struct options *options, int *ret_code, struct err *e)
{
	static char name[] = "true";
	static char *const command[] = { name, NULL };
	struct options mine = *options;
	AUTO_REQUEST request = { .host.directory_fd = -1 };
	struct home home = { 0 };
	struct err why = { 0 };
	if (options->rest.count > 0)
		return err_set(e, 0, "hutch doctor takes no arguments");
	mine.value = (struct layers_flag *)settings;
	mine.count = sizeof settings / sizeof settings[0];
	AUTO_FREE char *project = getcwd(NULL, 0);
	int prepared = workspace_enter(&why);
	if (prepared == 0)
		prepared = request_read(&mine, command, &request, &why);
	if (prepared == 0)
		prepared = home_prepare(&request.policy, &request.host, &request.agents, &home,
			&request.notes, &why);
	*ret_code = examine(&request, &home, project, prepared, &why) < 0;
	if (prepared == 0 && home_finish(&home, &request.notes, &why) < 0)
		notice("%s", why.text);
	for (size_t i = 0; i < request.notes.count; i++)
		notice("%s", request.notes.item[i]);
	return 0;
}
