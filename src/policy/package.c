/* SPDX-License-Identifier: MIT */
#include "policy/package.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/path.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* Below the home: neither these, nor what is in them, nor what contains them. */
static const char *const secrets[] = { ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker",
	".password-store", ".netrc", ".git-credentials", ".config/git", ".config/gh",
	".config/gcloud", ".config/op", ".config/sops", ".config/containers", ".config/rclone",
	".config/BraveSoftware", ".config/chromium", ".config/google-chrome", ".config/hutch",
	".local/share/keyrings", ".local/share/kwalletd", ".local/state/hutch", ".mozilla",
	".thunderbird", ".pki", ".terraform.d", ".vault-token", ".npmrc", ".pypirc",
	".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml",
	".gradle/gradle.properties", ".bash_history", ".zsh_history" };

/* Below the home: not these as a whole; something in them may be shown. */
static const char *const shared[] = { ".cache", ".config", ".local", ".local/bin", ".local/lib",
	".local/share", ".local/state", ".var", "bin", "snap" };

/* Below the home: programs that were installed, and nothing of the user's own. */
static const char *const installed[] = { ".asdf", ".bun", ".cargo/bin", ".deno/bin", ".dotnet",
	".elan", ".ghcup", ".juliaup", ".local/lib", ".local/share/claude",
	".local/share/cursor-agent", ".local/share/fnm", ".local/share/mise",
	".local/share/pipx/venvs", ".local/share/pnpm", ".local/share/uv", ".nodenv", ".npm-global",
	".nvm/versions", ".opencode/bin", ".proto", ".pyenv", ".rbenv", ".rustup", ".rye",
	".sdkman/candidates", ".volta", ".yarn/bin", ".config/yarn/global/node_modules",
	"anaconda3", "go/bin", "mambaforge", "miniconda3", "miniforge3" };

static const struct package_manager managers[] = {
	{ ".asdf/shims", ".asdf", "~/.tool-versions and ~/.asdfrc" },
	{ ".cargo/bin/rustup", ".rustup", NULL },
	{ ".dotnet/tools", ".dotnet", NULL },
	{ ".elan/bin", ".elan", NULL },
	{ ".ghcup/bin", ".ghcup", NULL },
	{ ".local/share/mise/shims", ".local/share/mise", "~/.config/mise" },
	{ ".local/share/pnpm", ".local/share/pnpm", NULL },
	{ ".nodenv/shims", ".nodenv", NULL },
	{ ".proto/shims", ".proto", NULL },
	{ ".pyenv/shims", ".pyenv", NULL },
	{ ".rbenv/shims", ".rbenv", NULL },
	{ ".rye/shims", ".rye", NULL },
	{ ".volta/bin", ".volta", NULL },
};

/* What follows "HOME/" in `path`, "" for the home itself, NULL outside. */
static const char *home_relative(const struct package_places *places, const char *path)
{
	const char *homes[] = { places->home, places->real_home };
	for (size_t i = 0; i < COUNT(homes); i++) {
		if (!path_is_within(path, homes[i]))
			continue;
		const char *rest = path + strlen(homes[i]);
		return rest + strspn(rest, "/");
	}
	return NULL;
}

static bool word_is_within(const char *path, const char *parent)
{
	size_t length = strlen(parent);
	return strncmp(path, parent, length) == 0 && (path[length] == '\0' || path[length] == '/');
}

static bool home_is_private(const char *relative)
{
	if (*relative == '\0')
		return true;
	for (size_t i = 0; i < COUNT(secrets); i++)
		if (word_is_within(relative, secrets[i]) || word_is_within(secrets[i], relative))
			return true;
	for (size_t i = 0; i < COUNT(shared); i++)
		if (strcmp(relative, shared[i]) == 0)
			return true;
	return false;
}

bool package_is_private(const struct package_places *places, const char *path)
{
	static const char *const kernel[] = { "/proc", "/dev", "/sys", "/run", "/boot", "/etc/ssh",
		"/etc/ssl/private", "/etc/sudoers.d", "/var/run" };
	const char *relative = home_relative(places, path);
	if (relative && home_is_private(relative))
		return true;
	if (path_is_within(places->home, path) || path_is_within(places->real_home, path) ||
		path_is_within(places->workspace, path) ||
		path_is_within(places->real_workspace, path))
		return true;
	for (size_t i = 0; i < COUNT(kernel); i++)
		if (path_is_within(path, kernel[i]))
			return true;
	return strchr(path + 1, '/') == NULL; /* /opt, /srv, /home */
}

bool package_is_installed(const struct package_places *places, const char *path)
{
	const char *relative = home_relative(places, path);
	for (size_t i = 0; relative && i < COUNT(installed); i++)
		if (word_is_within(relative, installed[i]))
			return true;
	/* Not /opt: what is put there brings its data and its settings along. */
	return path_is_within(path, "/usr") || path_is_within(path, "/nix/store") ||
	       path_is_within(path, "/home/linuxbrew");
}

const struct package_manager *package_manager(const struct package_places *places, const char *file)
{
	const char *relative = home_relative(places, file);
	if (!relative)
		return NULL;
	for (size_t i = 0; i < COUNT(managers); i++)
		if (word_is_within(relative, managers[i].shims))
			return &managers[i];
	return NULL;
}

static bool has(const char *directory, const char *name)
{
	AUTO_FREE char *path = path_join(directory, name);
	return access(path, F_OK) == 0;
}

/* `path` up to and with the first "/NAME/" in it, or NULL. */
static char *up_to(const char *path, const char *name)
{
	size_t length = strlen(name);
	for (const char *at = strstr(path, name); at; at = strstr(at + 1, name))
		if (at > path && at[-1] == '/' && at[length] == '/')
			return memory_slice(path, (size_t)(at - path) + length);
	return NULL;
}

static char *root_homebrew(const char *file)
{
	return up_to(file, ".linuxbrew");
}

/* pnpm keeps each package apart and links them to each other: all of them, or none. */
static char *root_pnpm(const char *file)
{
	char *store = up_to(file, ".pnpm");
	if (!store && strstr(file, "/store/v"))
		store = up_to(file, "links");
	return store;
}

/* Dependencies are hoisted, and a package's native half often lies beside it: the outermost one. */
static char *root_node(const char *file)
{
	return up_to(file, "node_modules");
}

/* A prefix of npm, PREFIX/lib/node_modules with PREFIX/bin: one mount for all that is in it. */
static char *root_node_prefix(const char *file)
{
	AUTO_FREE char *modules = root_node(file);
	if (!modules)
		return NULL;
	AUTO_FREE char *lib = path_parent(modules);
	AUTO_FREE char *prefix = path_parent(lib);
	bool is_prefix = strcmp(path_base(lib), "lib") == 0 && has(prefix, "bin");
	return is_prefix && !has(prefix, ".git") ? take_pointer(prefix) : NULL;
}

/* The same, as little as possible, for when all of it may not be shown. */
static char *root_node_package(const char *file)
{
	char *modules = up_to(file, "node_modules");
	if (!modules)
		return NULL;
	size_t length = strlen(modules) + 1;
	free(modules);
	size_t name = strcspn(file + length, "/");
	if (file[length] == '@' && file[length + name] == '/')
		name += 1 + strcspn(file + length + name + 1, "/");
	return file[length + name] == '/' ? memory_slice(file, length + name) : NULL;
}

char *package_environment(const char *file)
{
	AUTO_FREE char *directory = path_parent(file);
	for (unsigned up = 0; up < 4 && strcmp(directory, "/") != 0; up++) {
		if (has(directory, "pyvenv.cfg"))
			return take_pointer(directory);
		char *parent = path_parent(directory);
		free(directory);
		directory = parent;
	}
	return NULL;
}

/* PREFIX/bin beside PREFIX/lib. Not a source tree, which holds more than a program. */
static char *root_prefix(const char *file)
{
	AUTO_FREE char *directory = path_parent(file);
	if (strcmp(path_base(directory), "bin") != 0)
		return NULL;
	AUTO_FREE char *prefix = path_parent(directory);
	bool is_prefix = has(prefix, "lib") || has(prefix, "lib64") || has(prefix, "gems");
	return is_prefix && !has(prefix, ".git") ? take_pointer(prefix) : NULL;
}

/* A native installer's versions/2.1.0, which replaces itself, or versions/2.1.0/NAME. */
static char *root_versions(const char *file)
{
	AUTO_FREE char *directory = path_parent(file);
	AUTO_FREE char *above = path_parent(directory);
	bool is_version = strcmp(path_base(directory), "versions") == 0 ||
			  strcmp(path_base(above), "versions") == 0;
	return is_version ? take_pointer(directory) : NULL;
}

static char *root_opt(const char *file)
{
	if (strncmp(file, "/opt/", 5) != 0)
		return NULL;
	size_t length = strcspn(file + 5, "/");
	return file[5 + length] == '/' ? memory_slice(file, 5 + length) : NULL;
}

/* What `npm link` leads to. */
static char *root_package_json(const char *file)
{
	AUTO_FREE char *directory = path_parent(file);
	for (unsigned up = 0; up < 6 && strcmp(directory, "/") != 0; up++) {
		if (has(directory, "package.json"))
			return take_pointer(directory);
		char *parent = path_parent(directory);
		free(directory);
		directory = parent;
	}
	return NULL;
}

static char *root_file(const char *file)
{
	return memory_string(file);
}

/* All of what a manager keeps: its versions refer to each other. */
static char *root_managed(const struct package_places *places, const char *file)
{
	const char *relative = home_relative(places, file);
	for (size_t i = 0; relative && i < COUNT(managers); i++)
		if (word_is_within(relative, managers[i].root))
			return memory_slice(
				file, (size_t)(relative - file) + strlen(managers[i].root));
	return NULL;
}

char *package_root(const struct package_places *places, const char *file)
{
	static char *(*const rules[])(const char *file) = { root_homebrew, root_pnpm,
		root_node_prefix, root_node, root_node_package, package_environment, root_prefix,
		root_versions, root_opt, root_package_json, root_file };
	char *managed = root_managed(places, file);
	if (managed)
		return managed;
	for (size_t i = 0; i < COUNT(rules); i++) {
		char *root = rules[i](file);
		if (root && !package_is_private(places, root))
			return root;
		free(root);
	}
	return NULL;
}
