/* SPDX-License-Identifier: MIT */
/* Each layout that people's installers make, built below a temporary directory. */
#include "policy/program.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/text.h"
#include "policy/package.h"
#include "tests/unit/test.h"

#define NODE ".nvm/versions/node/v22.1.0"

static char root[64];
static char home[128];
static char workspace[160];

static char *at_home(const char *path)
{
	return path[0] == '/' ? memory_string(path) : path_join(home, path);
}

static void parents(const char *path)
{
	AUTO_FREE char *directory = path_parent(path);
	if (access(directory, F_OK) == 0)
		return;
	parents(directory);
	mkdir(directory, 0755);
}

static void put(const char *path, const void *bytes, size_t length)
{
	AUTO_FREE char *file = at_home(path);
	parents(file);
	AUTO_CLOSE int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	if (fd < 0 || fd_write_all(fd, bytes, length) < 0)
		printf("not ok - fixture: %s\n", file);
}

static void script(const char *path, const char *text)
{
	put(path, text, strlen(text));
}

static void point(const char *path, const char *text)
{
	AUTO_FREE char *file = at_home(path);
	parents(file);
	if (symlink(text, file) < 0)
		printf("not ok - fixture: %s\n", file);
}

/* A program with an interpreter and a run path, as small as they come. */
static void elf(const char *path, const char *loader, const char *run_path)
{
	struct {
		Elf64_Ehdr file;
		Elf64_Phdr header[3];
		Elf64_Dyn dynamic[3];
		char loader[128];
		char strings[128];
	} image = { 0 };
	memcpy(image.file.e_ident, ELFMAG, SELFMAG);
	image.file.e_ident[EI_CLASS] = ELFCLASS64;
	image.file.e_ident[EI_DATA] = ELFDATA2LSB;
	image.file.e_phoff = sizeof image.file;
	image.file.e_phentsize = sizeof(Elf64_Phdr);
	image.file.e_phnum = 3;
	image.header[0] =
		(Elf64_Phdr){ .p_type = PT_LOAD, .p_vaddr = 0x1000, .p_filesz = sizeof image };
	size_t loader_at = (size_t)((char *)image.loader - (char *)&image);
	size_t dynamic_at = (size_t)((char *)image.dynamic - (char *)&image);
	size_t strings_at = (size_t)((char *)image.strings - (char *)&image);
	image.header[1] = (Elf64_Phdr){
		.p_type = PT_INTERP, .p_offset = loader_at, .p_filesz = sizeof image.loader
	};
	image.header[2] = (Elf64_Phdr){
		.p_type = PT_DYNAMIC, .p_offset = dynamic_at, .p_filesz = sizeof image.dynamic
	};
	image.dynamic[0] = (Elf64_Dyn){ .d_tag = DT_STRTAB, .d_un.d_ptr = 0x1000 + strings_at };
	image.dynamic[1] = (Elf64_Dyn){ .d_tag = DT_RUNPATH, .d_un.d_val = 1 };
	snprintf(image.loader, sizeof image.loader, "%s", loader);
	snprintf(image.strings + 1, sizeof image.strings - 1, "%s", run_path);
	put(path, &image, sizeof image);
}

static void native(const char *path)
{
	elf(path, "", "");
}

static bool writable(const char *path, const void *data)
{
	(void)data;
	AUTO_FREE char *state = at_home(".claude");
	return path_is_within(path, state);
}

static bool visible(const char *path, const void *data)
{
	return path_is_within(path, "/usr") || path_is_within(path, "/bin") ||
	       path_is_within(path, "/lib64") || writable(path, data);
}

/* "~" for the home and "." for the workspace, so that expectations can be read. */
static void add_short(struct text *t, const char *path)
{
	const struct {
		const char *long_form, *short_form;
	} places[] = { { workspace, "." }, { home, "~" }, { root, "ROOT" } };
	for (const char *p = path; *p;) {
		size_t i = 0;
		while (i < 3 && strncmp(p, places[i].long_form, strlen(places[i].long_form)) != 0)
			i++;
		if (i < 3) {
			text_add(t, places[i].short_form);
			p += strlen(places[i].long_form);
		} else {
			text_add_bytes(t, p++, 1);
		}
	}
}

static const char *const install[] = { "~/.native/bin", "~/.tool/*/bin", NULL };

static void expect(const char *command, const char *path, const char *want, const char *name)
{
	struct program program;
	struct err e = { 0 };
	AUTO_TEXT t = { 0 };
	AUTO_TEXT path_text = { 0 };
	for (const char *p = path; *p; p++)
		text_format(&path_text, *p == '~' ? "%s" : "%.1s", *p == '~' ? home : p);
	struct program_request request = { .command = command,
		.path = text_take(&path_text),
		.home = home,
		.workspace = workspace,
		.install = install,
		.visible = visible,
		.writable = writable };
	if (program_find(&request, &program, &e) < 0)
		text_format(&t, "error %s", e.text);
	add_short(&t, program.path ? program.path : "none");
	for (size_t i = 0; i < program.read_only.count; i++) {
		text_add(&t, " +");
		add_short(&t, program.read_only.item[i]);
	}
	for (size_t i = 0; i < program.link_count; i++) {
		text_add(&t, " @");
		add_short(&t, program.link[i].path);
	}
	for (size_t i = 0; i < program.notes.count; i++) {
		text_add(&t, " !");
		add_short(&t, program.notes.item[i]);
	}
	check_string(t.data, want, name);
	program_free(&program);
	free((char *)request.path);
}

static void node_layouts(void)
{
	native(NODE "/bin/node");
	script(NODE "/lib/node_modules/npm/index.js", "");
	script(".npm-global/lib/node_modules/pkg/cli.js", "#!/usr/bin/env node\n");
	script(".npm-global/lib/node_modules/pkg-linux-x64/native", "");
	point(".npm-global/bin/pkg", "../lib/node_modules/pkg/cli.js");
	expect("pkg", "~/.npm-global/bin:~/" NODE "/bin:/usr/bin",
		"~/.npm-global/bin/pkg +~/.npm-global +~/" NODE, "npm prefix with node from nvm");
	script(NODE "/lib/node_modules/@scope/code/cli.js",
		"#!/usr/bin/env -S node --no-warnings\n");
	point(NODE "/bin/code", "../lib/node_modules/@scope/code/cli.js");
	expect("code", "~/" NODE "/bin:/usr/bin", "~/" NODE "/bin/code +~/" NODE,
		"all of it in nvm: one directory");
	script(".bun/install/global/node_modules/pkg/cli.js", "#!/usr/bin/env bun\n");
	point(".bun/bin/bunpkg", "../install/global/node_modules/pkg/cli.js");
	native(".bun/bin/bun");
	expect("bunpkg", "~/.bun/bin",
		"~/.bun/bin/bunpkg +~/.bun/install/global/node_modules +~/.bun/bin/bun"
		" @~/.bun/bin/bunpkg",
		"bun");
	expect("bunpkg", "~/nothing:~/.bun/bin:",
		"~/.bun/bin/bunpkg"
		" +~/.bun/install/global/node_modules +~/.bun/bin/bun @~/.bun/bin/bunpkg",
		"absent and empty elements of PATH");
	script(".config/yarn/global/node_modules/y/cli.js", "#!/usr/bin/env absent-node\n");
	point(".yarn/bin/y", "../../.config/yarn/global/node_modules/y/cli.js");
	expect("y", "~/.yarn/bin",
		"~/.yarn/bin/y +~/.config/yarn/global/node_modules @~/.yarn/bin/y"
		" !'y' is run by 'absent-node', which is not on PATH",
		"yarn, and an interpreter that is nowhere");
}

static void pnpm_layouts(void)
{
	script("pnpm/5/.pnpm/x@1/node_modules/x/cli.js", "#!/usr/bin/env node\n");
	script("pnpm/5/.pnpm/dep@1/node_modules/dep/index.js", "");
	point("pnpm/5/node_modules/x", "../.pnpm/x@1/node_modules/x");
	script("pnpm/x", "#!/bin/sh\nbasedir=$(dirname \"$(echo \"$0\" | sed 's,x,y,')\")\n"
			 "if [ -x \"$basedir/node\" ]; then\n"
			 "  exec \"$basedir/node\"  \"$basedir/5/node_modules/x/cli.js\" \"$@\"\n"
			 "else\n"
			 "  exec node  \"$basedir/5/node_modules/x/cli.js\" \"$@\"\nfi\n");
	expect("x", "~/pnpm:~/" NODE "/bin",
		"~/pnpm/x +~/pnpm/x +~/pnpm/5/.pnpm +~/" NODE " @~/pnpm/5/node_modules/x",
		"pnpm outside its usual place");
	script(".local/share/pnpm/x", "#!/bin/sh\nexec node \"$basedir/absent.js\"\n");
	expect("x", "~/.local/share/pnpm:~/" NODE "/bin",
		"~/.local/share/pnpm/x +~/.local/share/pnpm +~/" NODE, "pnpm's usual place");
}

static void python_layouts(void)
{
	AUTO_FREE char *shebang =
		memory_format("#!%s/.local/share/pipx/venvs/aider/bin/python\n", home);
	script(".local/share/pipx/venvs/aider/pyvenv.cfg", "home = /usr/bin\n");
	script(".local/share/pipx/venvs/aider/bin/aider", shebang);
	point(".local/share/pipx/venvs/aider/bin/python", "/usr/bin/env");
	point(".local/bin/aider", "../share/pipx/venvs/aider/bin/aider");
	expect("aider", "~/.local/bin",
		"~/.local/bin/aider +~/.local/share/pipx/venvs/aider @~/.local/bin/aider", "pipx");

	AUTO_FREE char *long_shebang =
		memory_format("#!/bin/sh\n'''exec' \"%s/.local/share/uv/tools/t/bin/python\" "
			      "\"$0\" \"$@\"\n' '''\n",
			home);
	script(".local/share/uv/tools/t/pyvenv.cfg", "");
	script(".local/share/uv/tools/t/bin/t", long_shebang);
	native(".local/share/uv/python/cpython-3.12/bin/python3.12");
	script(".local/share/uv/python/cpython-3.12/lib/python3.12/os.py", "");
	AUTO_FREE char *python = at_home(".local/share/uv/python/cpython-3.12/bin/python3.12");
	point(".local/share/uv/tools/t/bin/python", python);
	point(".local/bin/t", "../share/uv/tools/t/bin/t");
	expect("t", "~/.local/bin",
		"~/.local/bin/t +~/.local/share/uv/tools/t +~/.local/share/uv/python/cpython-3.12"
		" @~/.local/bin/t",
		"uv tool with its long first line");
	expect(".venv/bin/absent", "", "none", "a path that is not there");

	script(".local/bin/usertool", "#!/usr/bin/python3\n");
	script(".local/lib/python3.11/site-packages/usertool.py", "");
	expect("usertool", "~/.local/bin",
		"~/.local/bin/usertool +~/.local/bin/usertool +~/.local/lib/python3.11",
		"pip --user");
}

static void native_layouts(void)
{
	native(".local/share/claude/versions/2.1.0");
	AUTO_FREE char *claude = at_home(".local/share/claude/versions/2.1.0");
	point(".local/bin/claude", claude);
	expect("claude", "~/.local/bin",
		"~/.local/bin/claude +~/.local/share/claude/versions @~/.local/bin/claude",
		"native installer");
	script(".local/share/cursor-agent/versions/7/cursor-agent",
		"#!/usr/bin/env bash\nexec \"$SCRIPT_DIR/node\" \"$SCRIPT_DIR/index.js\" \"$@\"\n");
	native(".local/share/cursor-agent/versions/7/node");
	point(".local/bin/cursor-agent", "../share/cursor-agent/versions/7/cursor-agent");
	expect("cursor-agent", "~/.local/bin:/usr/bin",
		"~/.local/bin/cursor-agent +~/.local/share/cursor-agent/versions/7"
		" @~/.local/bin/cursor-agent",
		"native installer, a directory for each version");
	native(".cargo/bin/rg");
	expect("rg", "~/.cargo/bin", "~/.cargo/bin/rg +~/.cargo/bin/rg", "cargo");
	native(".cargo/bin/rustup");
	script(".rustup/settings.toml", "");
	point(".cargo/bin/cargo", "rustup");
	expect("cargo", "~/.cargo/bin",
		"~/.cargo/bin/cargo +~/.cargo/bin/rustup +~/.rustup @~/.cargo/bin/cargo", "rustup");
	elf("tool/bin/t", "/nowhere/ld.so", "$ORIGIN/../parts:/usr/lib");
	script("tool/parts/libt.so", "");
	expect("t", "~/tool/bin", "~/tool/bin/t +~/tool/bin/t +~/tool/parts",
		"libraries beside the program");
	AUTO_FREE char *loader = at_home("loader/ld.so");
	native("loader/ld.so");
	elf("alien/x", loader, "");
	expect("x", "~/alien",
		"~/alien/x +~/alien/x"
		" !'x' is started by the loader ~/loader/ld.so, which is not visible inside",
		"a loader of its own");
	native(".native/bin/agent");
	expect("agent", "/usr/bin", "~/.native/bin/agent +~/.native/bin/agent", "install:");
	native(".tool/v9/bin/versioned");
	native(".tool/v10/bin/versioned");
	expect("versioned", "", "~/.tool/v10/bin/versioned +~/.tool/v10/bin/versioned",
		"install: with a version");
}

static void managers(void)
{
	script(".asdf/shims/thing",
		"#!/usr/bin/env bash\nexec asdf-absent exec \"thing\" \"$@\"\n");
	expect("thing", "~/.asdf/shims:/usr/bin",
		"~/.asdf/shims/thing +~/.asdf !'thing' is a stand-in of ~/.asdf, which also reads"
		" ~/.tool-versions and ~/.asdfrc: not visible inside",
		"asdf");
	native(".local/share/mise/installs/node/22/bin/node");
	point(".local/share/mise/shims/node", "/usr/bin/env");
	expect("node", "~/.local/share/mise/shims",
		"~/.local/share/mise/shims/node +~/.local/share/mise !'node' is a stand-in of"
		" ~/.local/share/mise, which also reads ~/.config/mise: not visible inside",
		"mise");
	native(".volta/bin/volta-shim");
	point(".volta/bin/v", "volta-shim");
	expect("v", "~/.volta/bin", "~/.volta/bin/v +~/.volta", "volta");
}

static void scripts(void)
{
	script(".claude/local/node_modules/code/cli.js", "#!/usr/bin/env node\n");
	point(".claude/local/node_modules/.bin/claude", "../code/cli.js");
	AUTO_FREE char *text = memory_format("#!/bin/bash\nexec \"%s/.claude/local/node_modules"
					     "/.bin/claude\" \"$@\"\n",
		home);
	script(".claude/local/claude", text);
	expect("claude", "~/.claude/local:~/" NODE "/bin", "~/.claude/local/claude +~/" NODE,
		"a wrapper with an absolute path");
	script("bin/wrapped", "#!/bin/sh\n# exec nothing\nPATH=$HOME/x\n"
			      "exec env A=1 \"$HOME/.cargo/bin/rg\" \"$@\"\n");
	expect("wrapped", "~/bin", "~/bin/wrapped +~/bin/wrapped +~/.cargo/bin/rg",
		"a wrapper in ~/bin");
	script("bin/opaque", "#!/bin/sh\neval \"$SOMETHING\"\n");
	expect("opaque", "~/bin",
		"~/bin/opaque +~/bin/opaque"
		" !~/bin/opaque is a shell script: what it starts may not be visible inside",
		"a wrapper that cannot be read");
	script("bin/a", "#!/bin/sh\nexec \"$HOME/bin/b\"\n");
	script("bin/b", "#!/bin/sh\nexec \"$HOME/bin/a\"\n");
	expect("a", "~/bin", "~/bin/a +~/bin/a +~/bin/b", "scripts that start each other");
}

static void project(void)
{
	script("src/project/node_modules/p/cli.js", "#!/usr/bin/env node\n");
	point("src/project/node_modules/.bin/p", "../p/cli.js");
	expect("p", "node_modules/.bin:~/" NODE "/bin", "./node_modules/.bin/p +~/" NODE,
		"a relative element of PATH");
	expect("./node_modules/.bin/p", "~/" NODE "/bin", "./node_modules/.bin/p +~/" NODE,
		"a command with a slash");
	native("src/project/.venv/bin/tool");
	expect(".venv/bin/tool", "", "./.venv/bin/tool", "a native tool in the project");
	script("src/linked/package.json", "{}");
	script("src/linked/bin/cli.js", "#!/usr/bin/env node\n");
	AUTO_FREE char *linked = at_home("src/linked");
	point(".npm-global/lib/node_modules/linked", linked);
	point(".npm-global/bin/linked", "../lib/node_modules/linked/bin/cli.js");
	expect("linked", "~/.npm-global/bin:~/" NODE "/bin",
		"~/.npm-global/bin/linked +~/src/linked +~/" NODE " @~/.npm-global/bin/linked"
		" @~/.npm-global/lib/node_modules/linked",
		"npm link");
	expect("true", "/usr/bin", "/usr/bin/true", "a program of the system");
	expect("", "/usr/bin", "none", "no command");
}

#define ASKED                                                                                      \
	", which is not shown: what asks for it can be written by the command itself;"             \
	" --bind-ro "

/* What a box can write does not open more to the next one. */
static void tainted(void)
{
	script("other/package.json", "{}");
	script("other/cli.js", "#!/usr/bin/env node\n");
	point("src/project/run", "../../other/cli.js");
	expect("./run", "~/" NODE "/bin",
		"./run !'./run' leads to ~/other" ASKED "~/other shows it",
		"a link in the workspace");
	script("src/project/exec", "#!/bin/sh\nexec \"$HOME/other/cli.js\"\n");
	expect("./exec", "~/" NODE "/bin",
		"./exec !'./exec' leads to ~/other" ASKED "~/other shows it",
		"a script in the workspace");
	AUTO_FREE char *line = memory_format("#!%s/bin/mine\n", home);
	script("src/project/line", line);
	native("bin/mine");
	expect("./line", "~/bin",
		"./line !'./line' leads to ~/bin/mine" ASKED "~/bin/mine shows it",
		"a first line in the workspace");
	script("src/project/name", "#!/usr/bin/env mine\n");
	expect("./name", "~/bin:/usr/bin",
		"./name !'./name' leads to ~/bin/mine" ASKED "~/bin/mine shows it",
		"a name in the workspace");
	check(!package_is_installed(&(struct package_places){ home, home, home, home }, "/opt/x"),
		"what lies in /opt may be more than a program");
	point("jump", "src/project/run");
	point("bin/jump", "../jump");
	expect("jump", "~/bin:~/" NODE "/bin",
		"~/bin/jump @~/bin/jump @~/jump !'jump' leads to ~/other" ASKED "~/other shows it",
		"a link that goes through the workspace");
	script(".claude/hooked", "#!/bin/sh\nexec \"$HOME/bin/mine\"\n");
	expect("hooked", "~/.claude:/usr/bin",
		"~/.claude/hooked !'hooked' leads to ~/bin/mine" ASKED "~/bin/mine shows it",
		"a script in an agent's state");
	elf("src/project/built", "", "$ORIGIN/../../other");
	expect("./built", "", "./built", "libraries that a program in the workspace names");
	AUTO_FREE char *python = at_home(".local/share/uv/python/cpython-3.12/bin/python3.12");
	script("src/project/.venv/pyvenv.cfg", "");
	point("src/project/.venv/bin/python", python);
	expect(".venv/bin/python", "", "./.venv/bin/python +~/.local/share/uv/python/cpython-3.12",
		"an environment in the workspace has its Python");
}

static void private_places(void)
{
	native(".ssh/agent");
	point("bin/key", "../.ssh/agent");
	expect("key", "~/bin",
		"~/bin/key @~/bin/key"
		" !'key' needs ~/.ssh/agent, which is not visible inside: it lies in a private "
		"place",
		"nothing of ~/.ssh");
	script("lib/x", "");
	native("bin/plain");
	expect("plain", "~/bin", "~/bin/plain +~/bin/plain", "~/bin beside ~/lib: not the home");
	script("package.json", "{}");
	script("pyvenv.cfg", "");
	script("bin/js", "#!/usr/bin/env node\n");
	expect("js", "~/bin:~/" NODE "/bin", "~/bin/js +~/bin/js +~/" NODE,
		"marks in the home: not the home");
	point("bin/circle", "circle");
	expect("circle", "~/bin", "none", "a loop of links");
	point("bin/null", "/dev/null");
	expect("null", "~/bin", "none", "a device");
	native("src/node_modules/own/bin/x");
	snprintf(workspace, sizeof workspace, "%s/src/node_modules/work", home);
	expect("x", "~/src/node_modules/own/bin",
		"~/src/node_modules/own/bin/x +~/src/node_modules/own",
		"not what contains the workspace");
}

/* /home/u is a link on many machines: inside it is a directory. */
static void linked_home(void)
{
	char link[96];
	snprintf(link, sizeof link, "%s/linked-home", root);
	if (symlink(home, link) < 0)
		printf("not ok - fixture: %s\n", link);
	snprintf(home, sizeof home, "%s", link);
	snprintf(workspace, sizeof workspace, "%s/src/project", home);
	native(".cargo/bin/other");
	expect("other", "~/.cargo/bin", "~/.cargo/bin/other +~/.cargo/bin/other",
		"a home behind a link");
}

int main(void)
{
	snprintf(root, sizeof root, "/tmp/hutch-program-XXXXXX");
	if (!mkdtemp(root))
		return 1;
	snprintf(home, sizeof home, "%s/home/u", root);
	snprintf(workspace, sizeof workspace, "%s/src/project", home);
	node_layouts();
	pnpm_layouts();
	python_layouts();
	native_layouts();
	managers();
	scripts();
	project();
	tainted();
	private_places();
	linked_home();
	AUTO_FREE char *remove = memory_format("rm -rf %s", root);
	return system(remove) ? 1 : test_done();
}
