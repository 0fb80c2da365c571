# SPDX-License-Identifier: MIT
"""A throw-away home, project and state directory, and hutch run in them."""
import ctypes
import fcntl
import os
import pathlib
import pty
import select
import shutil
import signal
import stat
import subprocess
import tempfile
import termios
import time
import tty

libc = ctypes.CDLL(None, use_errno=True)
SECRET = "the-secret-itself"
SYS_keyctl = {"x86_64": 250, "aarch64": 219}[os.uname().machine]


def become_reaper():
    """What hutch would leave behind becomes our child and can be seen; and keys of a session of our own."""
    libc.prctl(36, 1, 0, 0, 0)
    libc.syscall(SYS_keyctl, 1, None)


def children():
    return {int(pid) for task in os.listdir("/proc/self/task")
            for pid in pathlib.Path(f"/proc/self/task/{task}/children").read_text().split()}


def command_lines(word):
    """The processes of this machine that have `word` in their arguments, but for this one."""
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            line = pathlib.Path(f"/proc/{name}/cmdline").read_bytes()
        except OSError:
            continue
        if word.encode() in line:
            found[int(name)] = line.replace(b"\0", b" ").decode(errors="replace")
    return found


def parent(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("PPid:"):
            return int(line.split()[1])


def handle_of(path):
    """TYPE:HEX of the file handle of `path`, or None where the file system has none."""
    class Handle(ctypes.Structure):
        _fields_ = [("size", ctypes.c_uint), ("type", ctypes.c_int), ("data", ctypes.c_ubyte * 128)]
    handle, mount = Handle(128), ctypes.c_int()
    if libc.name_to_handle_at(-100, os.fsencode(path), ctypes.byref(handle), ctypes.byref(mount), 0) < 0:
        return None
    return f"{handle.type}:{bytes(handle.data[:handle.size]).hex()}"


def snapshot(*directories):
    """Every name below, with type, mode, size, time and content."""
    seen = {}
    for directory in directories:
        for path in [pathlib.Path(directory), *pathlib.Path(directory).rglob("*")]:
            status = path.lstat()
            content = path.read_bytes() if stat.S_ISREG(status.st_mode) and status.st_size < 1 << 20 else b""
            seen[str(path)] = (status.st_mode, status.st_uid, status.st_size, content,
                               0 if path.is_dir() else status.st_mtime_ns)
    return seen


def changed(before, after):
    return sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))


class Tools:
    """The programs, copied to where the sandbox's user can read them."""

    def __init__(self, base, hutch, probe, weak):
        directory = base / "tools"
        directory.mkdir()
        for name, source in [("hutch", hutch), ("probe", probe), ("hutch-weak", weak)]:
            shutil.copy(source, directory / name)
        self.hutch, self.probe, self.weak = directory / "hutch", directory / "probe", directory / "hutch-weak"


class World:
    def __init__(self, base, tools, omit):
        self.base = pathlib.Path(tempfile.mkdtemp(prefix="world.", dir=base))
        os.chmod(self.base, 0o755)
        self.tools, self.omit = tools, omit
        self.home, self.state = self.base / "home", self.base / "state"
        self.project, self.hidden = self.home / "project", self.base / "hidden"
        self.secret = self.hidden / "secret"
        for directory in [self.home, self.project, self.hidden, self.home / ".config" / "hutch"]:
            directory.mkdir(parents=True, exist_ok=True)
        self.secret.write_text(SECRET + "\n")
        (self.home / "private").write_text(SECRET + "\n")
        (self.home / ".config/hutch/config.yaml").write_text("# nothing\n")
        self.probe = self.project / "probe"
        shutil.copy(tools.probe, self.probe)
        self.show = []  # what hutch-weak mounts besides, when it is asked to `show`
        self.environment = {"HOME": str(self.home), "PATH": "/usr/bin:/bin", "TERM": "dumb", "USER": "tester",
                            "LANG": "C.UTF-8", "HUTCH_STATE_DIR": str(self.state)}
        self.running = []

    def close(self):
        for process in self.running:
            if process.poll() is None:
                process.kill()
                process.wait()
        subprocess.run(["chmod", "-R", "u+rwX", self.base], stderr=subprocess.DEVNULL)
        shutil.rmtree(self.base, ignore_errors=True)

    def variables(self, **more):
        environment = dict(self.environment, **more)
        if self.omit:
            environment["HUTCH_TEST_OMIT"] = self.omit
            environment["HUTCH_TEST_HOME"] = str(self.base / "shared")
            if "show" in self.omit.split(","):
                environment["HUTCH_TEST_SHOW"] = ":".join(map(str, self.show))
        return environment

    def command(self, options, words):
        hutch = self.tools.weak if self.omit else self.tools.hutch
        return [str(word) for word in [hutch, "--agent", "none", *options, "--", *words]]

    def run(self, options, words, environment=None, cwd=None, **more):
        more.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.run(self.command(options, words), cwd=cwd or self.project, capture_output=True, text=True,
                              errors="surrogateescape", timeout=120,
                              env=self.variables(**(environment or {})), **more)

    def say(self, words):
        """What hutch itself says: one of its verbs, or a run of `true`."""
        words = words or ["--agent", "none", "--", "true"]
        hutch = self.tools.weak if self.omit else self.tools.hutch
        return subprocess.run([hutch, *words, *(["--", "true"] if words == ["plan"] else [])], cwd=self.project, capture_output=True,
                              text=True, errors="surrogateescape", timeout=60, stdin=subprocess.DEVNULL, env=self.variables())

    def attempt(self, verb, *arguments, options=(), refusal=False, **more):
        """Run a verb in a sandbox; the escape's detail, or None. With `refusal`, not to run it is as good."""
        done = self.run(options, [self.probe, verb, *arguments], **more)
        return self.verdict(done.returncode, done.stdout, done.stderr, refusal)

    @staticmethod
    def verdict(code, output, errors, refusal=False):
        if "ESCAPED: " in output:
            return output[output.index("ESCAPED: "):]
        if code == 0 and output.rstrip().endswith("held"):
            return None
        if refusal and code == 125 and errors.startswith("hutch: "):
            return None
        raise RuntimeError(f"exit code {code}: {output} {errors}")

    def start(self, options, words, **more):
        more.setdefault("stdin", subprocess.DEVNULL)
        process = subprocess.Popen(self.command(options, words), cwd=self.project, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=self.variables(), **more)
        self.running.append(process)
        return process

    def begin(self, verb, *arguments, options=()):
        """The same in the background, once it has said that it is ready."""
        process = self.start(options, [self.probe, verb, *arguments])
        line = process.stdout.readline()
        if line.strip() not in ("ready", "started"):
            raise RuntimeError(f"{verb}: {line} {process.stdout.read()} {process.stderr.read()}")
        return process

    def end(self, process):
        output, errors = process.communicate(timeout=60)
        return self.verdict(process.returncode, output, errors)

    def sessions(self):
        directory = self.state / "sessions"
        return sorted(os.listdir(directory)) if directory.exists() else []


class Terminal:
    """A terminal as a user's terminal emulator gives one, and what comes out of it."""

    def __init__(self):
        self.master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, b"\x18\x00\x50\x00\x00\x00\x00\x00")
        self.settings = termios.tcgetattr(self.slave)
        self.size = fcntl.ioctl(self.slave, termios.TIOCGWINSZ, b"\0" * 8)
        self.output = b""

    def run(self, world, options, words, seconds=20):
        def become_leader():
            os.setsid()
            fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
        process = subprocess.Popen(world.command(options, words), cwd=world.project, env=world.variables(),
                                   stdin=self.slave, stdout=self.slave, stderr=self.slave,
                                   preexec_fn=become_leader)
        world.running.append(process)
        end = time.monotonic() + seconds
        while process.poll() is None and time.monotonic() < end:
            self.read(0.05)
        while self.read(0.2):
            pass
        return process.wait(timeout=5)

    def read(self, seconds):
        ready = select.select([self.master], [], [], seconds)[0]
        data = os.read(self.master, 65536) if ready else b""
        self.output += data
        return data

    def differences(self):
        found = []
        if termios.tcgetattr(self.slave) != self.settings:
            found.append("its settings were changed")
        if fcntl.ioctl(self.slave, termios.TIOCGWINSZ, b"\0" * 8) != self.size:
            found.append("its size was changed")
        tty.setraw(self.slave)
        if select.select([self.slave], [], [], 0.1)[0]:
            found.append(f"input was injected: {os.read(self.slave, 100)}")
        return "; ".join(found) or None

    def close(self):
        os.close(self.master)
        os.close(self.slave)


def end_all(word, seconds=3.0):
    """Wait until no process has `word` in its arguments; those that stay are ended, and told of."""
    end = time.monotonic() + seconds
    while command_lines(word) and time.monotonic() < end:
        time.sleep(0.02)
    left = command_lines(word)
    for pid in left:
        try:
            init = parent(pid)
            for one in [pid, init] if init not in (1, os.getpid()) else [pid]:
                os.kill(one, signal.SIGKILL)
        except (OSError, TypeError):
            pass
    return left


def reap(known, seconds=3.0):
    """Orphans that came to us: those that do not end are ended, and told of."""
    end = time.monotonic() + seconds
    while True:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return set()
        left = children() - known
        if not left or time.monotonic() > end:
            break
        time.sleep(0.02)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    return left
