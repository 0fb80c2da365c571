/* SPDX-License-Identifier: MIT */
#include "probe.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char found[4096];
static unsigned found_count;

void escaped(const char *format, ...)
{
	size_t used = strlen(found);
	va_list arguments;
	found_count++;
	if (used > sizeof found - 300)
		return;
	if (used)
		used += (size_t)snprintf(found + used, sizeof found - used, "; ");
	va_start(arguments, format);
	vsnprintf(found + used, sizeof found - used, format, arguments);
	va_end(arguments);
}

bool file_contains(const char *path, const char *word)
{
	static char data[256 * 1024];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return false;
	size_t length = 0;
	ssize_t got;
	while (length < sizeof data && (got = read(fd, data + length, sizeof data - length)) > 0)
		length += (size_t)got;
	close(fd);
	return *word && memmem(data, length, word, strlen(word)) != NULL;
}

void wait_for(const char *path)
{
	puts("ready");
	fflush(stdout);
	for (int i = 0; i < 2000 && access(path, F_OK) != 0; i++)
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
}

void directory_each(const char *path, void (*visit)(const char *path, const char *name))
{
	DIR *directory = opendir(path);
	if (!directory)
		return;
	for (struct dirent *entry; (entry = readdir(directory));)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			visit(path, entry->d_name);
	closedir(directory);
}

bool is_number(const char *name)
{
	return *name && name[strspn(name, "0123456789")] == '\0';
}

static const struct verb {
	const char *name;
	verb_function *function;
	const char *help;
} verbs[] = {
#define VERB(name, help) { #name, verb_##name, help },
#include "probe.def"
#undef VERB
};

static const struct verb *verb_find(const char *name)
{
	for (size_t i = 0; name && i < sizeof verbs / sizeof verbs[0]; i++)
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	return NULL;
}

int main(int argc, char **argv)
{
	const struct verb *verb = verb_find(argc > 1 ? argv[1] : NULL);
	if (!verb) {
		for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
			fprintf(stderr, "probe %s %s\n", verbs[i].name, verbs[i].help);
		return 2;
	}
	verb->function(argv + 2);
	if (!found_count) {
		puts("held");
		return 0;
	}
	printf("ESCAPED: %u: %s\n", found_count, found);
	return 1;
}
