/* SPDX-License-Identifier: MIT */
/*
 * The command of the fault tests: writes down, in the file that argv[1] names, everything by which
 * a whole sandbox differs from a half-made one. Two runs of one plan must say the same.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

extern char **environ;

static void show_file(FILE *out, const char *path)
{
	char data[65536];
	size_t length;
	FILE *file = fopen(path, "re");
	fprintf(out, "== %s\n", path);
	while (file && (length = fread(data, 1, sizeof data, file)) > 0)
		fwrite(data, 1, length, out);
	if (file)
		fclose(file);
}

static void show_links(FILE *out, const char *path)
{
	DIR *directory = opendir(path);
	fprintf(out, "== %s\n", path);
	for (struct dirent *entry; directory && (entry = readdir(directory));) {
		char text[PATH_MAX] = "";
		ssize_t length = readlinkat(dirfd(directory), entry->d_name, text, sizeof text - 1);
		if (length > 0 && atoi(entry->d_name) != dirfd(directory))
			fprintf(out, "%s -> %s\n", entry->d_name, text);
	}
	if (directory)
		closedir(directory);
}

static void show_powers(FILE *out)
{
	static const char *const readable[] = { "/proc/1/mem", "/proc/1/environ", "/proc/1/maps" };
	for (size_t i = 0; i < sizeof readable / sizeof readable[0]; i++) {
		int fd = open(readable[i], O_RDONLY | O_CLOEXEC);
		fprintf(out, "%s %s\n", readable[i], fd < 0 ? "closed" : "open");
		if (fd >= 0)
			close(fd);
	}
	fprintf(out, "signals to init %s\n", kill(1, 0) < 0 ? "refused" : "allowed");
}

static void show_process(FILE *out)
{
	char path[PATH_MAX];
	struct utsname name;
	mode_t mask = umask(0);
	umask(mask);
	fprintf(out, "umask %o\ndirectory %s\nsession %d group %d\n", mask,
		getcwd(path, sizeof path) ? path : "none", getsid(0) == 1, getpgrp() == getpid());
	if (uname(&name) == 0)
		fprintf(out, "host %s\n", name.nodename);
	for (char **entry = environ; *entry; entry++)
		fprintf(out, "environment %s\n", *entry);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	FILE *out = fopen(argv[1], "we");
	if (!out)
		return 3;
	/* An agent's state, changed as agents do it: a new file renamed over the old one. */
	if (argc > 3) {
		char fresh[PATH_MAX];
		snprintf(fresh, sizeof fresh, "%s.new", argv[2]);
		FILE *state = fopen(fresh, "we");
		if (!state || fputs(argv[3], state) < 0 || fclose(state) != 0 ||
			rename(fresh, argv[2]) < 0)
			return 4;
	}
	show_file(out, "/proc/self/mountinfo");
	show_file(out, "/proc/self/status");
	show_file(out, "/proc/self/limits");
	show_file(out, "/proc/sys/user/max_user_namespaces");
	show_file(out, "/proc/self/uid_map");
	show_file(out, "/proc/self/gid_map");
	show_file(out, "/proc/self/setgroups");
	show_links(out, "/proc/self/ns");
	show_links(out, "/proc/self/fd");
	show_powers(out);
	show_process(out);
	return fclose(out) == 0 ? 0 : 5;
}
