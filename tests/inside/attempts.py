# SPDX-License-Identifier: MIT
"""The attempts, by the numbers of SECURITY.md: see run."""
import array
import ctypes
import os
import pathlib
import re
import signal
import socket
import subprocess
import time
from dataclasses import dataclass

from world import (SECRET, Terminal, changed, children, command_lines, end_all, handle_of, reap,
                   snapshot)

ROOT = pathlib.Path(__file__).resolve().parents[2]
ATTEMPTS = []
IS_ROOT = os.getuid() == 0


@dataclass
class Attempt:
    number: int
    name: str
    function: object
    omit: str
    skip: object
    alone: bool

    def reason_to_skip(self):
        return self.skip() if self.skip else None


def attempt(number, name, omit=None, skip=None, alone=True):
    """`omit`: what hutch-weak leaves out so that the attempt succeeds. None where that shows nothing, since
    the kernel alone keeps the promise: the reason stands beside it. `alone`: it must also fail without the
    second fence, seccomp and Landlock, as on a kernel that has neither, or with --nesting."""
    def register(function):
        ATTEMPTS.append(Attempt(number, name, function, omit, skip, alone))
        return function
    return register


def list_names(name):
    lines = (ROOT / "share" / name).read_text().splitlines()
    return [line.split("#")[0].strip() for line in lines if line.split("#")[0].strip()]


def only(*found):
    return "; ".join(str(one) for one in found if one) or None


# ---- Files ----

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
    # Never the host's own files when the attempt could succeed on them: it truncates and chmods.
    real = [] if IS_ROOT else ["/usr/bin/env", "/usr", "/etc/passwd", "/run/hutch/bin/hutch"]
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


# ---- Processes ----

@attempt(10, "processes of the host", "fresh_proc")
def processes(world):
    mark = f"hutch-mark-{os.getpid()}"
    sleeper = subprocess.Popen(["sh", "-c", "sleep 30; :", mark], start_new_session=True)
    try:
        return world.attempt("processes", mark, os.getpid(), sleeper.pid, os.getppid(), 2)
    finally:
        os.killpg(sleeper.pid, signal.SIGKILL)
        sleeper.wait()


@attempt(11, "descriptors that the caller left open", "close")
def descriptors(world):
    opened = []
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(world.hidden / "socket"))
    for target in range(3, 51):
        source = [os.open(world.secret, os.O_RDWR), os.open(world.hidden, os.O_RDONLY), listener.fileno()][target % 3]
        opened.append(os.dup(source))
        if source != listener.fileno():
            os.close(source)
    try:
        return world.attempt("descriptors", pass_fds=opened)
    finally:
        for fd in opened:
            os.close(fd)
        listener.close()


@attempt(11, "a directory as standard input, output or error", "own_only")
def directory_as_input(world):
    directory = os.open(world.hidden, os.O_RDONLY)
    try:
        return only(world.attempt("descriptors", refusal=True, stdin=directory))
    finally:
        os.close(directory)


def with_terminal(world, *words):
    terminal = Terminal()
    try:
        status = os.fstat(terminal.slave)
        terminal.run(world, [], [world.probe, *words, status.st_dev, status.st_ino, "wanted"])
        output = terminal.output.decode(errors="replace")
        found = world.verdict(0, output, "") if "ESCAPED" in output or "held" in output else f"no answer: {output}"
        return found, terminal.differences()
    finally:
        terminal.close()


# Landlock's file rules: without them /proc/self/fd/0 leads to the file itself.
@attempt(11, "a file given as input, opened again to write", "landlock", alone=False)
def input_written(world):
    with open(world.secret, "rb") as given:
        return world.attempt("reopen", stdin=given)


@attempt(11, "the host's terminal among 0, 1 and 2", "own_terminal")
def host_terminal(world):
    return with_terminal(world, "terminal")[0]


@attempt(12, "capabilities, held or used", "capabilities,seccomp,landlock")
def capabilities(world):
    return world.attempt("capabilities", options=["--user", "0"])


@attempt(12, "running without no_new_privs", "no_new_privileges,seccomp,landlock")
def no_new_privileges(world):
    return world.attempt("capabilities")


# A setuid file's owner has no uid in the sandbox's user namespace: the kernel ignores the bit whatever
# hutch does, so leaving out nosuid and no_new_privs shows nothing.
@attempt(12, "setuid programs and file capabilities")
def setuid(world):
    programs = [path for path in ["/usr/bin/su", "/usr/bin/passwd", "/usr/bin/mount", "/usr/bin/newgrp", "/usr/bin/chsh"]
                if os.path.exists(path)]
    if IS_ROOT:
        for name, owner in [("setuid-probe-1", 65534), ("setuid-probe-2", 1)]:
            path = world.project / name
            path.write_bytes(world.tools.probe.read_bytes())
            os.chown(path, owner, owner)
            path.chmod(0o6755)
            programs.append(path)
        path = world.project / "setuid-probe-3"
        path.write_bytes(world.tools.probe.read_bytes())
        path.chmod(0o755)
        os.setxattr(path, "security.capability", bytes.fromhex("0100000203000000000000000000000000000000"))
        programs.append(path)
    return world.attempt("setuid", os.getuid(), *programs)


@attempt(13, "namespaces made or entered", "no_user_namespaces,seccomp")
def namespaces(world):
    return world.attempt("namespaces")


@attempt(14, "memory, files and descriptors of init", "dumpable,init_capability")
def init(world):
    return world.attempt("init")


# Only the filter keeps this one.
@attempt(14, "limits set on init", "seccomp", alone=False)
def init_limits(world):
    return world.attempt("limit_init")


@attempt(14, "what the user typed, in init's command line", "title")
def title(world):
    return world.attempt("title", "typed-by-the-user", str(world.tools.hutch), "--agent",
                         options=["--hostname", "typed-by-the-user"])


# Init's end is the end of its process namespace: no switch of hutch's changes that.
@attempt(15, "processes that outlive the command")
def outlive(world):
    mark = f"hutch-linger-{os.getpid()}"
    world.attempt("daemon", mark)
    return only(*end_all(mark).values())


def killed_by(world, *signals):
    mark = f"hutch-linger-{os.getpid()}"
    known = children()
    process = world.begin("daemon", mark, "30")
    if len(command_lines(mark)) < 4:
        raise RuntimeError("no process lingers")
    for one in signals:
        os.kill(process.pid, one)
        time.sleep(0.1)
    try:
        process.wait(timeout=15)
    finally:
        left = end_all(mark)
        orphans = reap(known)
    return only(*left.values(), *[f"process {pid}" for pid in orphans])


@attempt(15, "hutch killed", "death_signal,channel")
def killed(world):
    return killed_by(world, signal.SIGKILL)


# Each of these ends hutch as SIGKILL does, or is passed on; the switch is the same as above.
@attempt(15, "hutch ended by other signals, and killed while it is stopped")
def ended(world):
    return only(*[killed_by(world, *signals) for signals in [
        (signal.SIGSEGV,), (signal.SIGTERM,), (signal.SIGABRT,), (signal.SIGHUP,), (signal.SIGSTOP, signal.SIGKILL)]])


# The same switch once more, at moments that nobody can choose.
@attempt(15, "hutch killed at any moment of its start")
def killed_early(world):
    mark, found = f"hutch-linger-{os.getpid()}", []
    before = snapshot(world.project)
    for step in range(40):
        known = children()
        process = world.start([], [world.probe, "linger", mark])
        time.sleep(step * 0.0005)
        process.kill()
        process.communicate()
        found += [f"process {pid}" for pid in reap(known)] + list(end_all(mark).values())
    if changed(before, snapshot(world.project)):
        found.append("the project was changed")
    world.attempt("title", "x")  # sweeps
    return only(*found, *[f"session {name}" for name in world.sessions()])


# ---- /proc ----

@attempt(16, "/proc and /sys", "own_only")
def proc(world):
    return only(world.attempt("proc"), world.attempt("proc", options=["--user", "1000"]),
                world.attempt("proc", options=["--nesting"]))


# For others than root the kernel's own permissions hold.
@attempt(16, "/proc of a sandbox made inside", "root_nesting" if IS_ROOT else None)
def nested(world):
    return only(world.attempt("nested", options=["--nesting"]),
                world.attempt("nested", options=["--nesting", "--user", "1000"]))


# ---- Terminal ----

@attempt(17, "input, settings and size of the host's terminal", "own_terminal")
def inject(world):
    return with_terminal(world, "terminal")[1]


SEQUENCES = [b"\x1b]52;c;aGVsbG8=\x07", b"\x1b]52;c;?\x1b\\", b"\x1b[20t", b"\x1b[21t",
             b"\x1bP$qm\x1b\\", b"\x1bP+q544e\x1b\\", b"\x05", b"\x1b]50;?\x07", b"\x1b]1337;File=name=eA==:eA==\x07",
             b"\x9d52;c;aGVsbG8=\x9c", b"\x1b]1\x1b]52;c;aGVsbG8=\x07"]
MODES = {b"\x1b[?1049h": b"\x1b[?1049l", b"\x1b[?1000h": b"\x1b[?1000l", b"\x1b[?2004h": b"\x1b[?2004l",
         b"\x1b[?25l": b"\x1b[?25h"}


def printed(world, data):
    terminal = Terminal()
    try:
        (world.project / "bytes").write_bytes(data)
        terminal.run(world, [], [world.probe, "print", "bytes"])
        if b"held" not in terminal.output:
            raise RuntimeError(f"nothing came: {terminal.output}")
        return terminal.output
    finally:
        terminal.close()


@attempt(18, "sequences that act on the user's machine", "filter")
def sequences(world):
    output = printed(world, b"before" + b"between".join(SEQUENCES) + b"after")
    return only(*[f"{one} passed" for one in SEQUENCES if one in output])


@attempt(18, "modes that are left on", "filter")
def modes(world):
    output = printed(world, b"".join(MODES))
    return only(*[f"{off} is missing" for off in MODES.values() if off not in output])


# ---- Other ways to meet ----

def ipc_name():
    return str(4711000 + os.getpid() % 1000), f"hutch-ipc-{os.getpid()}"


def host_ipc(world):
    key, name = ipc_name()
    go = world.base / "go"
    maker = subprocess.Popen([world.tools.probe, "ipc_make", key, name, go], stdout=subprocess.PIPE, text=True)
    maker.stdout.readline()
    try:
        return world.attempt("ipc", key, name)
    finally:
        go.touch()
        maker.wait()


@attempt(19, "IPC, files and keys of the host", "namespace@ipc")
def ipc(world):
    return host_ipc(world)


@attempt(19, "keys of the user's session", "keyring,seccomp")
def keys(world):
    return host_ipc(world)


@attempt(19, "another sandbox of the same project", "namespace@ipc")
def two_boxes(world):
    key, name = ipc_name()
    go = world.project / "go"
    maker = world.begin("ipc_make", key, name, go)
    try:
        return world.attempt("ipc", key, name)
    finally:
        go.touch()
        world.end(maker)


def landlock_abi():
    return ctypes.CDLL(None).syscall(444, None, 0, 1)


def listen_abstract(name):
    sockets = []
    for kind, kind_name in [(socket.SOCK_STREAM, "stream"), (socket.SOCK_DGRAM, "dgram"), (socket.SOCK_SEQPACKET, "seq")]:
        one = socket.socket(socket.AF_UNIX, kind)
        one.bind(f"\0{name}-{kind_name}")
        if kind != socket.SOCK_DGRAM:
            one.listen()
        sockets.append(one)
    return sockets


def abstract_attempt(world, options):
    name = f"hutch-abstract-{os.getpid()}"
    sockets = listen_abstract(name)
    try:
        return world.attempt("abstract", name, options=options)
    finally:
        for one in sockets:
            one.close()


@attempt(20, "abstract sockets of the host", "landlock",
         lambda: None if landlock_abi() >= 6 else "this kernel's Landlock is older than ABI 6", alone=False)
def abstract(world):
    return abstract_attempt(world, [])


@attempt(20, "the same without a network", "landlock,namespace@net")
def abstract_off(world):
    return abstract_attempt(world, ["--network", "off"])


def addresses():
    found = ["127.0.0.1", "127.0.0.2", "::1", "192.0.2.1", "2001:db8::1"]
    probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        probe.connect(("192.0.2.1", 9))
        found.append(probe.getsockname()[0])
    except OSError:
        pass
    return found


# The machine below a virtual one is on no network: only the filter keeps a program from it.
@attempt(21, "sockets to the virtual machine's host", "seccomp", alone=False)
def machine(world):
    return world.attempt("families", options=["--network", "off"])


@attempt(21, "the host's network with --network off", "namespace@net")
def network(world):
    listener = socket.create_server(("127.0.0.1", 0))
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    datagrams.bind(("127.0.0.1", 0))
    datagrams.settimeout(0.2)
    found = world.attempt("network", listener.getsockname()[1], datagrams.getsockname()[1], *addresses(),
                          options=["--network", "off"])
    try:
        datagrams.recv(100)
        found = only(found, "a datagram arrived")
    except socket.timeout:
        pass
    listener.close()
    datagrams.close()
    return found


# ---- Secrets ----

@attempt(22, "variables of the drop list", "env_unset")
def environment(world):
    names = [name.replace("*", "X") for name in list_names("environment-drop.list")
             if name not in ("XDG_*", "HUTCH_*", "ENV")]
    return world.attempt("environment", *names, environment={name: "not-to-pass" for name in names})


@attempt(22, "git credentials", "show")
def git_credentials(world):
    (world.home / ".git-credentials").write_text(f"https://u:{SECRET}@example.org\n")
    (world.home / ".netrc").write_text(f"machine example.org password {SECRET}\n")
    (world.home / ".gitconfig").write_text(
        f"[user]\n\tname = A\n\temail = a@b\n[credential]\n\thelper = !echo {SECRET}\n"
        f"[url \"https://{SECRET}@example.org\"]\n\tinsteadOf = x\n")
    world.show = [world.home / ".git-credentials"]
    done = world.run([], ["sh", "-c", "git config --global user.name || grep -r name ~/.config/git; "
                          f"grep -r {SECRET} ~ /etc/gitconfig --exclude-dir=project 2>/dev/null; true"])
    if done.returncode or "A" not in done.stdout:
        raise RuntimeError(f"the name did not pass: {done}")
    return done.stdout if SECRET in done.stdout else None


@attempt(23, "a value of -e in the arguments of hutch", "scrub,title")
def arguments(world):
    secret = "hunter2-hunter2"
    go, ready = world.project / "go", world.project / "made"
    options = ["-e", f"A={secret}", f"-eB={secret}", "--setenv", f"C={secret}", f"--setenv=D={secret}"]
    process = world.start(options, [world.probe, "ready", ready, go])
    process.stdout.readline()
    seen = command_lines(secret)
    inside = world.attempt("arguments", secret[:-1] + secret[-1:], options=options)
    go.touch()
    process.communicate()
    # The attempt's own word is an argument of the other hutch; of the command it is by right.
    return only(*seen.values(), inside if "/proc/1/" in (inside or "") else None)


# ---- The project's settings ----

@attempt(24, "what an untrusted .hutch.yaml asks for", "trust")
def project_file(world):
    settings = {"bind-ro": f"[{world.hidden}]", "bind": f"[{world.hidden}]", "env-file": f"[{world.hidden}/variables]",
                "env": "[STOLEN=1]", "home": "kept=shared", "preset": "shell\ntools: host", "agent": "[claude]"}
    (world.hidden / "variables").write_text("STOLEN=1\n")
    found = []
    for key, value in settings.items():
        (world.project / ".hutch.yaml").write_text(f"{key}: {value}\n")
        found.append(world.attempt("files", world.secret, refusal=True))
        found.append(world.attempt("environment", "STOLEN", refusal=True))
    for line, verb in [("nesting: yes", "namespaces"), ("proc: host", "processes")]:
        (world.project / ".hutch.yaml").write_text(line + "\n")
        found.append(world.attempt(verb, *(["no-such-word", os.getpid()] if verb == "processes" else []), refusal=True))
    return only(*found)


@attempt(24, "a trusted .hutch.yaml that was changed by one byte", "trust")
def project_file_changed(world):
    (world.project / ".hutch.yaml").write_text("env: [A=1]\n")
    allow = subprocess.run([world.tools.hutch, "trust", "allow", "--yes"], cwd=world.project, env=world.environment,
                           stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if allow.returncode:
        allow = subprocess.run([world.tools.hutch, "trust", "--yes", "allow"], cwd=world.project, env=world.environment,
                               stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if allow.returncode or not world.attempt("environment", "A"):
        raise RuntimeError(f"trust is not given: {allow}")
    (world.project / ".hutch.yaml").write_text("env: [B=1]\n")
    return world.attempt("environment", "B")


# ---- Failing ----

def refused(world, options, words=None, **more):
    """A run that must not start its command, and leave nothing."""
    marker = world.project / "reached"
    before = snapshot(world.home)
    done = world.run(options, words or [world.probe, "reached", marker], **more)
    found = []
    if "was started" in done.stdout or marker.exists():
        found.append("the command was started")
    if done.returncode != 125:
        found.append(f"exit code {done.returncode}")
    if not re.fullmatch(r"(hutch: .*\n){1,2}", done.stderr):
        found.append(f"it says {done.stderr!r}")
    marker.unlink(missing_ok=True)
    found += [f"{path} is left" for path in changed(before, snapshot(world.home)) if path != str(world.project)]
    found += [f"session {name}" for name in world.sessions()]
    return only(*found)


@attempt(25, "a mount that cannot be made", "bind@/usr/hutch-missing")
def mount_fails(world):
    return refused(world, ["--bind-ro", f"{fixture(world)}:/usr/hutch-missing"])


# Each is its own check, in the code of its own option.
@attempt(25, "other things that cannot be done")
def others_fail(world):
    return only(*[refused(world, options) for options in [
        ["--bind", world.base / "absent"], ["--require", "no-such-guarantee"], ["--env-file", world.base / "absent"],
        ["--user", "no-such-user"], ["--bind-ro", f"{fixture(world)}:/"]]])


@attempt(25, "a sandbox where none can be made", "no_user_namespaces,seccomp,landlock,root_nesting")
def inside_itself(world):
    # Not as uid 0: without a capability nobody can map that once more.
    done = world.run(["--user", "1000"], ["/run/hutch/bin/hutch", "--agent", "none", "--", world.probe, "reached", "reached"])
    return "the command was started" if "was started" in done.stdout else None


@attempt(26, "files that hutch makes in the project or the home", "own_only")
def nothing_made(world):
    (world.project / ".env").write_text("SECRET=1\n")
    (world.project / "sub").mkdir()
    before = snapshot(world.home, world.hidden)
    directory = fixture(world)
    for options in [[], ["--mask", ".env", "--mask", "absent", "--mask", "sub"], ["--network", "off"], ["--nesting"],
                    ["--bind-ro", f"{directory}:{world.project}/new"], ["--bind-ro", f"{directory}:{world.project}/new/deep"],
                    ["--bind-ro", f"{directory}/file:{world.project}/newfile"], ["--bind-ro", directory], ["--print"],
                    ["--preset", "shell", "--tools", "host"]]:
        world.run(options, ["true"])
    return only(*changed(before, snapshot(world.home, world.hidden)))
