# SPDX-License-Identifier: MIT
"""Attempts on files, mounts, the home, devices: 1 to 9."""
import os
import pathlib
import subprocess

from attempt import IS_ROOT, attempt, list_names, only
from world import changed, handle_of, snapshot


@attempt(1, "files of the host that no mount shows", "show")
def files(world):
    world.show = [world.hidden]
    others = [path for path in ["/root/.profile", "/boot/grub", "/var/log/dpkg.log", "/var/lib/dpkg", "/var/spool", "/srv",
                                "/media", "/mnt", "/sys/class"] if os.path.exists(path)]
    homes = [path for path in pathlib.Path("/home").glob("*")]
    return world.attempt("files", world.secret, world.home / "private", *others, *homes)


# By hand: the capability that open_by_handle_at wants is never there, and the kernel looks for it in the
# first user namespace.
@attempt(1, "files, processes and namespaces by handle")
def handles(world):
    given = [handle for handle in map(handle_of, [world.secret, world.hidden, "/", "/root"]) if handle]
    return world.attempt("handles", *given)


# The kernel's own answer to .. in a directory that has left its mount.
@attempt(1, "the way up from a directory that is moved out of the project")
def moved(world):
    (world.project / "sub" / "deep").mkdir(parents=True)
    go = world.project / "go"
    process = world.begin("moved", "sub/deep", go, "../" + world.secret.name)
    os.rename(world.project / "sub", world.hidden / "sub")
    go.touch()
    return world.end(process)


def fixture(world):
    directory = world.base / "fixture"
    (directory / "sub").mkdir(parents=True)
    (directory / "file").write_text("content\n")
    return directory


@attempt(2, "a directory mounted read-only", "read_only")
def readonly(world):
    directory = fixture(world)
    # For root these are copies, see copies_of_the_host.
    real = ["/usr/bin/env", "/usr", "/etc/passwd"]
    return world.attempt("readonly", directory, *real, options=["--bind-ro", directory])


@attempt(2, "the command's own program, in the user's home", "read_only")
def program(world):
    tool = world.home / ".local" / "bin" / "tool"
    tool.parent.mkdir(parents=True)
    tool.write_bytes(world.tools.probe.read_bytes())
    tool.chmod(0o755)
    done = world.run([], ["tool", "readonly", tool], environment={"PATH": f"{tool.parent}:/usr/bin:/bin"})
    # A running program cannot be opened to write; its mode and times could be changed.
    return world.verdict(done.returncode, done.stdout, done.stderr)


@attempt(2, "mounts made writable, uncovered or covered", "capabilities,seccomp,landlock")
def remount(world):
    directory = fixture(world)
    return world.attempt("remount", "/usr", "/etc/passwd", directory, "/", "/proc/sys", "/proc/keys", "/tmp", "/dev",
                         options=["--bind-ro", directory, "--user", "0"])


BELOW = r"""
mount -t tmpfs tmpfs "$1/sub"
echo content >"$1/sub/file"
shift
exec "$@"
"""


def in_mount_namespace(world, script, words, **more):
    """Where mounts can be made, by a user too, as root of a user namespace."""
    return subprocess.run(["unshare", *([] if IS_ROOT else ["-Ur"]), "-m", "--propagation", "private", "bash", "-c", script, "bash",
                           *map(str, words)], capture_output=True, text=True, timeout=60, cwd=world.project,
                          stdin=subprocess.DEVNULL, env=world.variables(**more))


@attempt(2, "a mount of the host below a read-only one", "read_only")
def below(world):
    directory = fixture(world)
    command = world.command(["--bind-ro", directory], [world.probe, "readonly", directory / "sub"])
    done = in_mount_namespace(world, BELOW, [directory, *command])
    return world.verdict(done.returncode, done.stdout, done.stderr)


@attempt(3, "names in /etc that are not in the list", "show")
def etc(world):
    listed = [name for name in list_names("etc.list") if not name.startswith("/")]
    allowed = {name.split("/")[0] for name in listed}
    # Links of /etc lead on within it: what they lead to is there as well.
    for name in listed:
        real = os.path.realpath(f"/etc/{name}")
        if real.startswith("/etc/"):
            allowed.add(real.split("/")[2])
    world.show = [f"/etc/{name}" for name in sorted(os.listdir("/etc"))
                  if name not in allowed and os.path.isfile(f"/etc/{name}")][:1]
    return world.attempt("etc", *sorted(allowed))


@attempt(4, "links in the project to the host's files", "show")
def links(world):
    world.show = [world.hidden]
    names = {"absolute": world.secret, "directory": world.hidden, "up": "../../hidden/secret", "chain": "absolute",
             "root": f"/proc/1/root{world.secret}", "self": f"/proc/self/root{world.secret}", "loop": "loop"}
    for name, target in names.items():
        (world.project / name).symlink_to(target)
    return world.attempt("links", world.secret, *names)


@attempt(4, "a link of the project that the user names in --bind-ro and --env-file", "beneath")
def named_links(world):
    (world.project / "data").symlink_to(world.hidden)
    (world.hidden / "variables").write_text("STOLEN=1\n")
    (world.project / ".env").symlink_to(world.hidden / "variables")
    return only(world.attempt("links", world.secret, "/seen", "/seen/secret", options=["--bind-ro", "./data:/seen"], refusal=True),
                world.attempt("environment", "STOLEN", options=["--env-file", ".env"], refusal=True))


@attempt(4, "links planted in one agent's state, where another agent's run mounts", "beneath")
def foreign_links(world):
    claude, opencode = world.home / ".claude", world.home / ".config" / "opencode"
    claude.mkdir()
    opencode.mkdir()
    (claude / "skills").symlink_to(world.hidden)
    (claude / "CLAUDE.md").symlink_to(world.secret)
    (opencode / "skills").symlink_to(world.hidden)
    return only(world.attempt("links", world.secret, claude / "skills", claude / "CLAUDE.md", options=["--agent", "opencode"]),
                world.attempt("links", world.secret, opencode / "skills",
                              options=["--preset", "shell", "--tools", "host", "--agent", "none"]))


# A matter of which links are believed, not of one call: there is no switch.
@attempt(4, "links to programs, planted in the project and in an agent's state")
def program_links(world):
    tool = world.hidden / "bin" / "tool"
    tool.parent.mkdir()
    (world.hidden / "package.json").write_text("{}")
    tool.write_bytes(world.tools.probe.read_bytes())
    tool.chmod(0o755)
    found = []
    for directory, options in [(world.project / "node_modules" / ".bin", []), (world.home / ".claude" / "local", []),
                               (world.home / ".claude" / "local", ["--agent", "claude"])]:
        directory.mkdir(parents=True, exist_ok=True)
        for name in ["tool", "claude", "opencode"]:
            if not os.path.lexists(directory / name):
                (directory / name).symlink_to(tool)
        path = {"PATH": f"{directory}:/usr/bin:/bin"}
        for command in ["tool", "claude"]:
            done = world.run(options, [command, "links", world.secret, world.secret], environment=path)
            found += [f"{directory}/{command} is followed: {done.stdout}"] if "ESCAPED" in done.stdout else []
        found.append(world.attempt("files", world.secret, options=options, environment=path, refusal=True))
    return only(*found)


def swapped(world, options, words):
    """Start sandboxes while another one exchanges a directory of the project for a link to the secret."""
    (world.project / "a").mkdir()
    (world.project / "a" / "secret").write_text("harmless\n")
    (world.project / "b").symlink_to(world.hidden)
    before = snapshot(world.hidden)
    process = world.begin("swap", "a", "b", "3")
    found = None
    while process.poll() is None and not found:
        found = world.attempt("links", world.secret, *words, options=options, refusal=True)
    process.communicate()
    return only(found, changed(before, snapshot(world.hidden)))


@attempt(4, "the same link, exchanged in a loop while sandboxes start", "beneath")
def swapped_bind(world):
    return swapped(world, ["--bind-ro", "./a:/seen"], ["/seen"])


# The link is followed inside, where it leads nowhere; what could be broken is the host's side.
@attempt(4, "a place to mount at, exchanged in a loop")
def swapped_target(world):
    return swapped(world, ["--mask", "a/secret", "--bind-ro", f"{fixture(world)}:{world.project}/a"], ["a", "b"])


# Race of a check against a mount: leaving the check out gives a window of microseconds, no certain bite.
@attempt(4, "the workspace itself, exchanged while sandboxes start")
def swapped_workspace(world):
    (world.project / "a").mkdir()
    (world.project / "b").symlink_to(world.hidden)
    (world.project / "a" / "probe").write_bytes(world.tools.probe.read_bytes())
    (world.project / "a" / "probe").chmod(0o755)
    directory = os.open(world.project / "a", os.O_RDONLY)
    process = world.begin("swap", "a", "b", "3")
    found = None
    while process.poll() is None and not found:
        done = world.run([], ["./probe", "links", world.secret, "secret", world.project / "a/secret",
                              world.project / "b/secret"], cwd="/", preexec_fn=lambda: os.fchdir(directory))
        if done.returncode not in (125, 126, 127):
            found = world.verdict(done.returncode, done.stdout, done.stderr)
    os.close(directory)
    process.communicate()
    return found


def memory():
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def runtime():
    return f"/run/user/{os.getuid()}"


def memory_places(world):
    return ["/tmp", "/var/tmp", "/dev/shm", world.home / ".cache", world.home / ".config", world.home / ".local",
            runtime()]


@attempt(5, "writing outside of the writable places", "remount_ro")
def writable(world):
    return world.attempt("writable", "/tmp", "/var/tmp", "/dev/shm", "/dev/pts", runtime(), world.home)


@attempt(5, "writing in /dev", "own_only")
def writable_devices(world):
    return world.attempt("writable", "/dev/shm", "/dev/pts", "/dev/null", "/tmp", "/var", "/run", "/usr", "/etc", "/nix", "/opt",
                         "/", options=[]) or world.attempt("readonly", "/dev")


@attempt(5, "places in memory without a limit", "limits")
def limits(world):
    return world.attempt("limits", memory(), *memory_places(world))


@attempt(5, "filling the runtime directory with bytes, files and links", "limits")
def fill(world):
    most = memory() // 64 + (16 << 20)
    return world.attempt("fill", runtime(), most, max(most // 8192 + 1000, 5000))


@attempt(6, "what another run wrote into its home", "private_home")
def home_again(world):
    (world.base / "shared").mkdir()
    world.run([], [world.probe, "ready", world.home / "marker", "/"])
    return world.attempt("files", world.home / "marker")


@attempt(6, "signs that another run left on the home itself", "private_home")
def home_marked(world):
    (world.base / "shared").mkdir(0o700)
    world.attempt("mark", world.home)
    return world.attempt("marked", world.home)


@attempt(6, "a home that is hard to remove", "session_end")
def litter(world):
    world.attempt("litter", world.home)
    world.attempt("litter", world.home / ".cache")
    return only(*[f"session {name} is left" for name in world.sessions()])


@attempt(7, "device nodes", "nodev" if IS_ROOT else "dev,show")
def devices(world):
    world.show = ["/dev"]
    nodes = []
    if IS_ROOT:
        for name, kind, major, minor in [("null", 0o020666, 1, 3), ("memory", 0o020666, 1, 1), ("disk", 0o060666, 254, 0)]:
            os.mknod(world.project / name, kind, os.makedev(major, minor))
            nodes.append(name)
    return world.attempt("devices", *nodes)


LATER = r"""
set -e
mount --bind "$1" "$1"
mount --make-shared "$1"
cd "$1/home/project"
mkdir -p sub "$1/fixture/sub"
shift
"$@" >out 2>err &
for i in $(seq 500); do grep -q ready out && break; sleep 0.02; done
for place in sub "$BASE/fixture/sub"; do
	mount -t tmpfs tmpfs "$place"
	touch "$place/late"
done
touch go
wait $! || true
cat out err
"""


@attempt(8, "mounts that the host makes later", "private_mounts")
def appear(world):
    fixture(world)
    found = []
    for place in [world.project / "sub" / "late", world.base / "fixture" / "sub" / "late"]:
        (world.project / "go").unlink(missing_ok=True)
        command = world.command(["--bind-ro", world.base / "fixture"], [world.probe, "appear", place, "go"])
        done = in_mount_namespace(world, LATER, [world.base, *command], BASE=str(world.base))
        found.append(world.verdict(done.returncode, done.stdout, done.stderr))
    return only(*found)


@attempt(9, "hutch's own records and settings", "show")
def records(world):
    world.show = [world.state]
    go = world.project / "go"
    other = world.begin("ready", world.home / "other", go)
    session = world.state / "sessions" / world.sessions()[0]
    found = world.attempt("files", world.state, session / "home" / "other", session / "session.json",
                          world.home / ".config" / "hutch", "/etc/hutch/config.yaml")
    go.touch()
    world.end(other)
    return found
