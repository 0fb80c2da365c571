# SPDX-License-Identifier: MIT
"""Attempts on processes, /proc, the terminal, sockets, secrets, and at failing: 10 to 26."""
import ctypes
import os
import re
import signal
import socket
import subprocess
import time

from attempt import IS_ROOT, attempt, list_names, only
from attempts_files import fixture
from world import SECRET, Terminal, changed, children, command_lines, end_all, reap, snapshot


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
    # Killed before it had its lock, a session is taken for one that is just being made, for a minute.
    for name in world.sessions():
        os.utime(world.state / "sessions" / name, (0, 0))
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


# On a machine with nix only. Nothing to switch off: the file is not mounted, but written without them.
@attempt(22, "tokens in the settings of nix")
def nix_tokens(world):
    nix = world.home / ".config" / "nix"
    nix.mkdir()
    (nix / "nix.conf").write_text(f"cores = 1\naccess-tokens = github.com={SECRET}\n!include tokens.conf\n")
    (nix / "tokens.conf").write_text(f"extra-access-tokens = gitlab.com=PAT:{SECRET}\n")
    done = world.run([], ["sh", "-c", f"grep -r {SECRET} ~/.config --exclude-dir=project; true"])
    return done.stdout or None


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


@attempt(25, "a sandbox where none can be made", "no_user_namespaces,seccomp,landlock,root_nesting,root_groups")
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
