/* SPDX-License-Identifier: MIT */
#include "policy/program.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/text.h"
#include "formats/executable.h"
#include "policy/links.h"
#include "policy/package.h"

/* Files that are looked into for one command: scripts that start scripts end somewhere. */
enum { MOST_FILES = 16, SCRIPT_LIMIT = 8192 };

struct search {
	const struct program_request *request;
	struct program *ret;
	struct package_places places; /* by the function of that name only */
	char *real_home;
	char *real_workspace;
	struct strings seen;
	struct links links;
	const char *known[3];
	bool tainted; /* what is followed now was named by something that the command can write */
};

static void program_follow(struct search *search, const char *path);

static void note(struct search *search, const char *format, ...) PRINTF(2, 3);
static void note(struct search *search, const char *format, ...)
{
	char *sentence = NULL;
	va_list arguments;
	va_start(arguments, format);
	if (vasprintf(&sentence, format, arguments) < 0)
		sentence = memory_string("a part of the program is not visible inside");
	va_end(arguments);
	if (strings_has(&search->ret->notes, sentence))
		free(sentence);
	else
		strings_take(&search->ret->notes, sentence);
}

static bool is_visible(const struct search *search, const char *path)
{
	const struct program_request *request = search->request;
	return path_is_within(path, request->workspace) ||
	       (request->visible && request->visible(path, request->data));
}

static char *real_directory(const char *path)
{
	struct links links = { 0 };
	return memory_string(links_follow(&links, path) == LINKS_FOUND ? links.real : path);
}

/* Made when first wanted: a program of the system needs none of it. */
static const struct package_places *places(struct search *search)
{
	const struct program_request *request = search->request;
	if (!search->real_home) {
		search->real_home = real_directory(request->home);
		search->real_workspace = real_directory(request->workspace);
		search->places = (struct package_places){ request->home, search->real_home,
			request->workspace, search->real_workspace };
	}
	return &search->places;
}

static bool is_writable(struct search *search, const char *path)
{
	const struct program_request *request = search->request;
	if (path_is_within(path, request->workspace) ||
		(request->writable && request->writable(path, request->data)))
		return true;
	return !is_visible(search, path) && path_is_within(path, places(search)->real_workspace);
}

static bool is_shown(const struct search *search, const char *path)
{
	const struct strings *list = &search->ret->read_only;
	for (size_t i = 0; i < list->count; i++)
		if (path_is_within(path, list->item[i]))
			return true;
	return is_visible(search, path);
}

/* Keep the list free of paths within others. */
static void show(struct search *search, const char *path)
{
	struct strings *list = &search->ret->read_only;
	size_t kept = 0;
	if (is_shown(search, path))
		return;
	if (search->tainted && !package_is_installed(places(search), path)) {
		note(search,
			"'%s' leads to %s, which is not shown: what asks for it can be written by "
			"the "
			"command itself; --bind-ro %s shows it",
			search->request->command, path, path);
		return;
	}
	for (size_t i = 0; i < list->count; i++) {
		if (path_is_within(list->item[i], path))
			free(list->item[i]);
		else
			list->item[kept++] = list->item[i];
	}
	list->count = kept;
	strings_add(list, path);
}

static void show_if_allowed(struct search *search, const char *path)
{
	if (is_shown(search, path) || access(path, F_OK) < 0)
		return;
	if (package_is_private(places(search), path))
		note(search, "'%s' may want %s, which is not visible inside",
			search->request->command, path);
	else
		show(search, path);
}

static void link_add(struct search *search, const char *path, const char *text)
{
	struct program *ret = search->ret;
	for (size_t i = 0; i < ret->link_count; i++)
		if (strcmp(ret->link[i].path, path) == 0)
			return;
	ret->link = memory_grow(ret->link, ret->link_count + 1, sizeof *ret->link);
	ret->link[ret->link_count++] =
		(struct program_link){ memory_string(path), memory_string(text) };
}

/* Parts that are found by the place a file has, whether it is a link or not. */
static void show_surroundings(struct search *search, const char *file)
{
	AUTO_FREE char *environment = package_environment(file);
	if (environment && !package_is_private(places(search), environment))
		show(search, environment);
	const struct package_manager *manager = package_manager(places(search), file);
	if (!manager)
		return;
	AUTO_FREE char *root = path_join(search->request->home, manager->root);
	show_if_allowed(search, root);
	if (manager->unseen)
		note(search, "'%s' is a stand-in of %s, which also reads %s: not visible inside",
			search->request->command, root, manager->unseen);
}

static bool link_met(const char *link, const char *text, void *data)
{
	struct search *search = data;
	if (path_is_within(link, "/proc") || path_is_within(link, "/dev"))
		return false;
	search->tainted = search->tainted || is_writable(search, link);
	if (is_visible(search, link))
		return true;
	link_add(search, link, text);
	show_surroundings(search, link);
	return true;
}

/* Where `path` leads, with its links noted; owned, or NULL when that is nowhere. */
static char *resolve(struct search *search, const char *path)
{
	if (links_follow(&search->links, path) != LINKS_FOUND)
		return NULL;
	return memory_string(search->links.real);
}

static void show_package(struct search *search, const char *real)
{
	if (is_visible(search, real))
		return;
	AUTO_FREE char *root = package_root(places(search), real);
	if (root)
		show(search, root);
	else
		note(search,
			"'%s' needs %s, which is not visible inside: it lies in a private place",
			search->request->command, real);
	show_surroundings(search, real);
}

static bool is_program(const char *path)
{
	struct stat status;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0 && stat(path, &status) == 0 &&
	       S_ISREG(status.st_mode);
}

/* The first program `name` in the directories of PATH; owned, or NULL. An empty one is the current
 * directory, as for a shell. */
static char *path_search(const struct program_request *request, const char *name)
{
	const char *at = request->path;
	while (at) {
		size_t length = strcspn(at, ":");
		AUTO_FREE char *word = memory_format("%.*s/%s", (int)length, at, name);
		const char *relative = length ? word : name;
		AUTO_FREE char *file = path_absolute(request->workspace, relative);
		if (is_program(file))
			return take_pointer(file);
		at = at[length] ? at + length + 1 : NULL;
	}
	return NULL;
}

static void follow_name(struct search *search, const char *name)
{
	AUTO_FREE char *file = strchr(name, '/') ? path_absolute(search->request->workspace, name)
						 : path_search(search->request, name);
	if (file)
		program_follow(search, file);
	else
		note(search, "'%s' is run by '%s', which is not on PATH", search->request->command,
			name);
}

/* Words of a shell script, as its directory and the home expand them. */
struct script {
	struct search *search;
	const char *path; /* where it was found */
	const char *real;
	bool env; /* the program is env(1): what comes next is the real one */
	bool any; /* something could be followed */
};

/* $HOME/x and ~/x below the home; any other variable before a slash is most often the script's own
 * directory. Owned; NULL when there is no such file. */
static char *script_expand(const struct script *script, const char *word)
{
	const char *rest = strrchr(word, ')') ? strrchr(word, ')') + 1 : word;
	rest = strchr(rest, '/');
	if (word[0] == '/')
		return is_program(word) || access(word, R_OK) == 0 ? memory_string(word) : NULL;
	if ((word[0] != '$' && word[0] != '~') || !rest || strchr(rest, '$'))
		return NULL;
	AUTO_FREE char *found_in = path_parent(script->path);
	AUTO_FREE char *lies_in = path_parent(script->real);
	const char *bases[] = { script->search->request->home, lies_in, found_in };
	for (size_t i = 0; i < sizeof bases / sizeof bases[0]; i++) {
		AUTO_FREE char *path = path_absolute(bases[i], rest + 1);
		bool is_home = word[0] == '~' || strncmp(word, "$HOME/", 6) == 0 ||
			       strncmp(word, "${HOME}/", 8) == 0;
		if ((i == 0) == is_home && access(path, R_OK) == 0)
			return take_pointer(path);
	}
	return NULL;
}

static void script_word(const char *word, bool first, void *data)
{
	struct script *script = data;
	struct stat status;
	if (script->env && (word[0] == '-' || strchr(word, '=')))
		return;
	first = first || script->env;
	script->env = first && strcmp(path_base(word), "env") == 0;
	AUTO_FREE char *path = script_expand(script, word);
	if (path && (stat(path, &status) < 0 || !S_ISREG(status.st_mode)))
		return;
	if (!path && first && !script->env && !strpbrk(word, "/$`"))
		path = path_search(script->search->request, word);
	if (!path)
		return;
	script->any = script->any || first;
	program_follow(script->search, path);
}

static void follow_shell(struct search *search, int fd, const char *path, const char *real)
{
	AUTO_FREE char *text = memory_alloc(SCRIPT_LIMIT + 1, 1);
	struct script script = { .search = search, .path = path, .real = real };
	if (pread(fd, text, SCRIPT_LIMIT, 0) < 0)
		return;
	executable_shell_words(text, script_word, &script);
	AUTO_FREE char *root = package_root(places(search), real);
	if (!script.any && !is_visible(search, real) && root && strcmp(root, real) == 0)
		note(search, "%s is a shell script: what it starts may not be visible inside",
			real);
}

static bool is_shell(const char *name)
{
	static const char *const shells[] = { "sh", "bash", "dash", "zsh", "ksh", "ash" };
	for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++)
		if (strcmp(name, shells[i]) == 0)
			return true;
	return false;
}

/* `pip install --user` puts the program into X/bin and its modules into X/lib/python3.N. */
static void follow_python(struct search *search, const char *real)
{
	AUTO_FREE char *bin = path_parent(real);
	AUTO_FREE char *prefix = path_parent(bin);
	AUTO_FREE char *lib = path_join(prefix, "lib");
	if (is_shown(search, lib) || strcmp(path_base(bin), "bin") != 0)
		return;
	DIR *directory = opendir(lib);
	for (struct dirent *entry; directory && (entry = readdir(directory));) {
		if (strncmp(entry->d_name, "python3", 7) != 0)
			continue;
		AUTO_FREE char *modules = path_join(lib, entry->d_name);
		show_if_allowed(search, modules);
	}
	if (directory)
		closedir(directory);
}

static void follow_script(struct search *search, int fd, const struct executable *script,
	const char *path, const char *real)
{
	if (script->interpreter[0] != '/')
		return;
	program_follow(search, script->interpreter);
	const char *name = path_base(script->interpreter);
	if (script->name[0]) {
		follow_name(search, script->name);
		name = path_base(script->name);
	}
	if (is_shell(name))
		follow_shell(search, fd, path, real);
	else if (strncmp(name, "python", 6) == 0)
		follow_python(search, real);
}

/* The loader is taken as it is: a file that is not visible is said, and the program does not start.
 */
static void check_loader(struct search *search, const char *loader)
{
	struct links links = { .known = search->known };
	if (loader[0] != '/' || links_follow(&links, loader) != LINKS_FOUND ||
		is_shown(search, links.real))
		return;
	note(search, "'%s' is started by the loader %s, which is not visible inside",
		search->request->command, loader);
}

static void follow_library_path(struct search *search, const char *entry, const char *real)
{
	AUTO_FREE char *origin = path_parent(real);
	bool is_own = strncmp(entry, "$ORIGIN", 7) == 0 || strncmp(entry, "${ORIGIN}", 9) == 0;
	const char *rest = entry + (is_own ? strcspn(entry, "/") : 0);
	if (!is_own && rest[0] != '/')
		return;
	AUTO_FREE char *path = path_absolute(origin, is_own ? rest + (*rest == '/') : rest);
	if (is_shown(search, path) || access(path, F_OK) < 0 || strcmp(path, origin) == 0)
		return;
	AUTO_FREE char *directory = resolve(search, path);
	if (directory)
		show_if_allowed(search, directory);
}

static void follow_elf(struct search *search, const struct executable *elf, const char *real)
{
	check_loader(search, elf->interpreter);
	AUTO_FREE char *entries = memory_string(elf->run_path);
	char *rest = NULL;
	for (char *entry = strtok_r(entries, ":", &rest); entry; entry = strtok_r(NULL, ":", &rest))
		follow_library_path(search, entry, real);
}

static ssize_t file_read(void *data, uint64_t offset, void *buffer, size_t length)
{
	if (offset > INT64_MAX)
		return -1;
	return pread(*(int *)data, buffer, length, (off_t)offset);
}

/* What the file itself says it needs. One that is visible already and no script needs nothing. */
static void look_inside(struct search *search, const char *path, const char *real)
{
	struct stat status;
	if (lstat(real, &status) < 0 || !S_ISREG(status.st_mode)) /* opening a device acts */
		return;
	AUTO_CLOSE int fd = open(real, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	char magic[2];
	if (fd < 0 || pread(fd, magic, sizeof magic, 0) != sizeof magic)
		return;
	if (memcmp(magic, "#!", sizeof magic) != 0 && is_visible(search, real))
		return;
	struct executable executable;
	executable_parse(file_read, &fd, &executable);
	switch (executable.kind) {
	case EXECUTABLE_SCRIPT:
		follow_script(search, fd, &executable, path, real);
		break;
	case EXECUTABLE_ELF:
		follow_elf(search, &executable, real);
		break;
	case EXECUTABLE_OTHER:
		break;
	}
}

static void file_follow(struct search *search, const char *path)
{
	AUTO_FREE char *real = resolve(search, path);
	if (!real) {
		note(search, "'%s' needs %s, which is not there", search->request->command, path);
		return;
	}
	show_package(search, real);
	if (!is_shown(search, real))
		return;
	/* Whoever named it: what an installed program asks for is its own affair. */
	search->tainted = is_writable(search, real);
	look_inside(search, path, real);
}

static void program_follow(struct search *search, const char *path)
{
	bool tainted = search->tainted;
	if (search->seen.count >= MOST_FILES || strings_has(&search->seen, path))
		return;
	strings_add(&search->seen, path);
	file_follow(search, path);
	search->tainted = tainted;
	if (path_is_within(path, "/snap"))
		note(search, "'%s' is a snap: snapd does not start programs inside a sandbox",
			search->request->command);
}

/* Of PREFIX/X/REST/NAME the program whose X is the highest version; owned, or NULL. */
static char *highest_version(const char *prefix, const char *rest, const char *name)
{
	AUTO_FREE char *best = NULL;
	char *found = NULL;
	DIR *directory = opendir(prefix);
	for (struct dirent *entry; directory && (entry = readdir(directory));) {
		if (entry->d_name[0] == '.' || (best && strverscmp(entry->d_name, best) <= 0))
			continue;
		char *file = memory_format("%s/%s%s/%s", prefix, entry->d_name, rest, name);
		if (!is_program(file)) {
			free(file);
			continue;
		}
		free(found);
		free(best);
		found = file;
		best = memory_string(entry->d_name);
	}
	if (directory)
		closedir(directory);
	return found;
}

static char *install_search(const struct program_request *request, const char *name)
{
	for (const char *const *at = request->install; at && *at; at++) {
		bool in_home = strncmp(*at, "~/", 2) == 0;
		AUTO_FREE char *directory = path_absolute(request->home, in_home ? *at + 2 : *at);
		char *star = strstr(directory, "/*");
		if (star) {
			*star = '\0';
			char *file = highest_version(directory, star + 2, name);
			if (file)
				return file;
			continue;
		}
		AUTO_FREE char *file = path_join(directory, name);
		if (is_program(file))
			return take_pointer(file);
	}
	return NULL;
}

static char *command_search(const struct program_request *request)
{
	const char *command = request->command;
	if (strchr(command, '/')) {
		AUTO_FREE char *file = path_absolute(request->workspace, command);
		return is_program(file) ? take_pointer(file) : NULL;
	}
	if (*command == '\0')
		return NULL;
	char *file = path_search(request, command);
	return file ? file : install_search(request, command);
}

/* Links within what is shown are there already. */
static void links_prune(struct search *search)
{
	struct program *ret = search->ret;
	size_t kept = 0;
	for (size_t i = 0; i < ret->link_count; i++) {
		if (is_shown(search, ret->link[i].path)) {
			free(ret->link[i].path);
			free(ret->link[i].text);
		} else {
			ret->link[kept++] = ret->link[i];
		}
	}
	ret->link_count = kept;
}

int program_find(const struct program_request *request, struct program *ret, struct err *e)
{
	*ret = (struct program){ 0 };
	if (!path_is_normal(request->home) || !path_is_normal(request->workspace))
		return err_set(e, 0, "the home %s and the directory %s must be absolute paths",
			request->home, request->workspace);
	ret->path = command_search(request);
	if (!ret->path)
		return 0;
	struct search search = {
		.request = request,
		.ret = ret,
		.known = { request->home, request->workspace },
	};
	search.links.known = search.known;
	search.links.met = link_met;
	search.links.data = &search;
	program_follow(&search, ret->path);
	links_prune(&search);
	strings_free(&search.seen);
	free(search.real_home);
	free(search.real_workspace);
	return 0;
}

void program_free(struct program *program)
{
	free(program->path);
	strings_free(&program->read_only);
	for (size_t i = 0; i < program->link_count; i++) {
		free(program->link[i].path);
		free(program->link[i].text);
	}
	free(program->link);
	strings_free(&program->notes);
	*program = (struct program){ 0 };
}
