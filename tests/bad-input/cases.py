# SPDX-License-Identifier: MIT
"""The cases: see run. Each returns what is wrong, or None."""
import os
import resource
import signal
import socket
import subprocess
from dataclasses import dataclass

from world import SECRET, changed, snapshot

CASES = []
IS_ROOT = os.getuid() == 0


@dataclass
class Case:
    name: str
    function: object


def case(name):
    def register(function):
        CASES.append(Case(name, function))
        return function
    return register


def join(*found):
    return "; ".join(str(one) for one in found if one) or None


class Checks:
    """One world, and what may be expected of a run in it."""

    def __init__(self, world):
        self.world = world
        self.project, self.home, self.state, self.base = world.project, world.home, world.state, world.base

    def run(self, options, words=None, **more):
        more.setdefault("timeout", 60)
        more.setdefault("stdin", subprocess.DEVNULL)
        more.setdefault("env", self.world.environment)
        more.setdefault("cwd", self.project)
        argv = [self.world.tools.hutch, *options, *(words if words is not None else ["--agent", "none", "--", "echo", "ran"])]
        argv = [word if isinstance(word, bytes) else os.fsencode(word) for word in argv]
        if more.get("cwd") is None:
            del more["cwd"]
        done = subprocess.run(argv, capture_output=True, **more)
        self.output = done.stdout.decode(errors="replace")
        self.errors = done.stderr.decode(errors="replace")
        self.code = done.returncode
        return done

    def said(self):
        return f"exit code {self.code}, {self.output!r}, {self.errors!r}"

    def left(self, before):
        sessions = self.world.sessions()
        return join(*[f"{path} is left" for path in changed(before, snapshot(self.home))],
                    sessions and f"sessions {sessions}")

    def refuses(self, options, *names, command=None, **more):
        """A sentence that has all of `names` in it, and nothing else."""
        before = snapshot(self.home)
        self.run(options, command, **more)
        lines = self.errors.splitlines()
        missing = [name for name in names if str(name) not in self.errors]
        found = [self.code != 125 and "not refused", "ran" in self.output and "the command ran",
                 (not 1 <= len(lines) <= 2 or any(not line.startswith("hutch: ") for line in lines)) and "no clear sentence",
                 missing and f"does not name {missing}"]
        return join(self.left(before), any(found) and join(*found, self.said()))

    def works(self, options=(), command=None, **more):
        before = snapshot(self.home)
        self.run(options, command, **more)
        good = self.code == 0 and ("ran" in self.output or command)
        return join(self.left(before), None if good else self.said())

    def either(self, options=(), **more):
        """Works, or refuses with a sentence."""
        before = snapshot(self.home)
        self.run(options, **more)
        lines = self.errors.splitlines()
        clear = 1 <= len(lines) <= 2 and all(line.startswith("hutch: ") for line in lines)
        good = (self.code == 0 and "ran" in self.output) or (self.code == 125 and clear and "ran" not in self.output)
        return join(self.left(before), None if good else self.said())

    def in_namespace(self, script, options=(), command=("--agent", "none", "--", "echo", "ran"), map_user=None):
        """Where mounts can be made: `script` makes them, then hutch runs."""
        users = [f"--map-user={map_user}"] if map_user else ["-r"]
        argv = ["unshare", *([] if IS_ROOT and not map_user else ["-U", *users]), "-m", "bash", "-c", script + '\nexec "$@"', "bash",
                self.world.tools.hutch, *options, *command]
        done = subprocess.run([os.fsencode(word) for word in argv], capture_output=True, text=True, timeout=60,
                              cwd=self.project, stdin=subprocess.DEVNULL,
                              env=dict(self.world.environment, BASE=str(self.base)))
        self.output, self.errors, self.code = done.stdout, done.stderr, done.returncode
        lines = done.stderr.splitlines()
        clear = 1 <= len(lines) <= 2 and all(line.startswith("hutch: ") for line in lines)
        good = (done.returncode == 0 and "ran" in done.stdout) or (done.returncode == 125 and clear and "ran" not in done.stdout)
        return None if good else self.said()


# ---- Words that are not there ----

@case("an unknown flag, key, preset, agent, word: the name and the nearest")
def unknown(checks):
    config = checks.home / ".config/hutch/config.yaml"
    found = [checks.refuses(["--netwrok", "off"], "--netwrok", "--network"),
             checks.refuses(["--preset", "agnet"], "agnet", "agent"),
             checks.refuses(["--agent", "claud"], "claud", "claude", command=["--", "echo", "ran"]),
             checks.refuses(["--network", "of"], "of", "off"),
             checks.refuses(["--home", "privat"], "privat", "private"),
             checks.refuses(["--require", "hidden-fiels"], "hidden-fiels", "hidden-files"),
             checks.refuses(["-Z"], "-Z"), checks.refuses(["--bind"], "--bind", command=[]),
             checks.refuses(["--nesting=yes"], "--nesting")]
    config.write_text("a: 1\n")
    found.append(checks.refuses([], "config.yaml:1", "a"))
    config.write_text("network: host\nnetwrok: off\n")
    found.append(checks.refuses([], "config.yaml:2", "netwrok", "network"))
    config.write_text("")
    (checks.project / ".hutch.yaml").write_text("tmieout: 3\n")
    found.append(checks.refuses([], ".hutch.yaml:1", "tmieout", "timeout"))
    return join(*found)


@case("no command, an empty one, one that is missing or no program")
def commands(checks):
    (checks.project / "text").write_text("not a program\n")
    (checks.project / "script").write_text("#!/nowhere/interpreter\n")
    (checks.project / "script").chmod(0o755)
    found = [checks.refuses([], "no command", command=[]), checks.refuses([], "no command", command=["--"])]
    for command, code in [("", 127), ("no-such-command", 127), ("./missing", 127), ("./text", 126), ("./script", 126), (".", 126)]:
        before = snapshot(checks.home)
        checks.run([], ["--agent", "none", "--", command])
        if checks.code != code or not checks.errors.startswith("hutch: "):
            found.append(f"{command!r}: {checks.said()}")
        found.append(checks.left(before))
    return join(*found)


@case("a source that is missing is named")
def missing_source(checks):
    return join(*[checks.refuses([option, "/no/such/place"], "/no/such/place") for option in ["--bind", "--bind-ro", "--env-file"]],
                checks.refuses(["--bind", "./absent:/x"], "absent"), checks.refuses(["--bind-ro", "~/absent"], "absent"))


@case("values that make no sense")
def values(checks):
    refused = [("--timeout", "99999999999999999999"), ("--timeout", "-1"), ("--timeout", "soon"), ("--memory", "lots"),
               ("--memory", "99999999999T"), ("--tasks", "many"), ("--tasks", "-1"), ("--hostname", "x" * 65), ("--user", "nobody-at-all"),
               ("--user", "4294967295"), ("--user", "-1"), ("-e", "=x"), ("--bind", ":"), ("--bind", "/usr:"),
               ("--bind", ":/usr"), ("--bind-ro", "/usr:/"), ("--home", "kept=../x"), ("--home", "kept="), ("--home", "kept=."),
               ("--network", ""), ("--preset", ""), ("--agent", "../x"), ("--agent", "/etc/passwd")]
    # The empty value of a list takes back what came before it.
    odd = [("-e", ""), ("--bind", ""), ("--bind-ro", "/usr:/proc"), ("--bind-ro", "/usr:/proc/self"), ("--bind-ro", "/usr:/proc/1/root/x"), ("--bind-ro", "/usr:/dev"),
           ("--bind-ro", "/etc/passwd:/dev/null"), ("--bind-ro", "/usr:/usr"), ("--bind", "/dev"), ("--bind-ro", "/proc:/x"),
           ("--bind-ro", "/:/x"), ("--mask", "/proc"), ("--mask", "/dev/null"), ("--mask", "/usr"), ("--mask", "."), ("--mask", "~"),
           ("--mask", "/"), ("--mask", ""), ("--timeout", "0"), ("--hostname", "a\nb"), ("--hostname", "x" * 64), ("--hostname", ""),
           ("--user", "0"), ("--user", "12345"), ("--env-drop", "*"), ("--env-drop", ""), ("-e", "A\nB=x"), ("-e", "LD_PRELOAD=/x"),
           ("-e", "PATH="), ("-e", "HOME=/nowhere"), ("--bind-ro", "/usr:/x/../y"), ("--bind-ro", "/etc/passwd:/x/y/z"), ("--memory", "0"),
           ("--tasks", "0"), ("--home", "kept=%s"), ("--tools", "nix=")]
    return join(*[one and f"{pair}: {one}" for pair in refused for one in [checks.refuses(pair)]],
                *[one and f"{pair}: {one}" for pair in odd for one in [checks.odd(pair)]])


def odd(checks, pair):
    """Whatever it means: hutch's own sentence or the command's end, never a crash and nothing left."""
    before = snapshot(checks.home)
    checks.run(pair)
    good = checks.code in (0, 1, 125, 126, 127, 124) and all(line.startswith(("hutch: ", "echo: ")) or checks.code == 0
                                                             for line in checks.errors.splitlines())
    return join(checks.left(before), None if good else checks.said())


Checks.odd = odd


# ---- Workspaces ----

@case("the workspace is /, the home, or holds the home")
def wide(checks):
    link = checks.base / "link"
    link.symlink_to(checks.home)
    environment = dict(checks.world.environment, HOME=str(link), XDG_CONFIG_HOME=str(checks.base / "config"))
    slash = dict(checks.world.environment, HOME=f"{checks.home}//")
    return join(checks.refuses([], "/", cwd="/"), checks.refuses([], checks.home, cwd=checks.home),
                checks.refuses([], checks.base, cwd=checks.base), checks.refuses([], "/var", cwd="/var"),
                checks.refuses([], checks.home, cwd=checks.home, env=environment),
                checks.refuses([], checks.home, cwd=checks.home, env=slash),
                checks.refuses(["--bind", "/"]), checks.refuses(["--bind", str(checks.home)]),
                checks.refuses(["--bind", str(checks.state.parent)]))


@case("the workspace holds hutch's own records or settings")
def own_records(checks):
    inside = dict(checks.world.environment, HUTCH_STATE_DIR=str(checks.project / "state"))
    found = checks.refuses([], "state", env=inside)
    config = checks.home / ".config"
    return join(found, checks.refuses([], ".config", cwd=config),
                checks.refuses([], ".config", cwd=config / "hutch"))


@case("the workspace vanishes before the start, or while the command runs")
def vanishes(checks):
    gone = checks.project / "gone"
    gone.mkdir()
    descriptor = os.open(gone, os.O_RDONLY)
    gone.rmdir()
    found = checks.refuses([], cwd=None, preexec_fn=lambda: os.fchdir(descriptor))
    os.close(descriptor)
    sub = checks.base / "sub"
    sub.mkdir()
    process = checks.world.start([], ["sh", "-c", "echo ready; read line; echo x >file; ls -A | wc -l; exit 7"], stdin=subprocess.PIPE)
    process.stdout.readline()
    os.rename(checks.project, checks.base / "moved")
    process.communicate("\n", timeout=20)
    os.rename(checks.base / "moved", checks.project)
    return join(found, process.returncode != 7 and f"exit code {process.returncode}",
                not (checks.project / "file").exists() and "what was written is lost", checks.world.sessions())


@case("odd things lie in the workspace")
def odd_contents(checks):
    (checks.project / "closed").mkdir()
    (checks.project / "closed" / "below").mkdir()
    (checks.project / "closed").chmod(0)
    os.mkfifo(checks.project / "fifo")
    listener = socket.socket(socket.AF_UNIX)
    os.chdir(checks.project)
    listener.bind("socket")
    os.chdir("/")
    for name, target in [("loop", "loop"), ("a", "b"), ("b", "a"), ("out", "/etc/shadow"), ("up", "../.."), ("dangling", "nowhere"),
                         ("self", "."), ("new\nline", "x"), ("\x1b[31m", "y")]:
        (checks.project / name).symlink_to(target)
    (checks.project / ("x" * 255)).mkdir()
    os.mkdir(os.fsencode(checks.project) + b"/\xff\xfe")
    if IS_ROOT:
        os.mknod(checks.project / "node", 0o020666, os.makedev(1, 3))
    found = [checks.works(), checks.works(command=["--agent", "none", "--", "ls", "-la"])]
    for name in ["closed", "fifo", "socket", "loop", "out", "dangling", "new\nline", "x" * 255]:
        found.append(checks.odd(["--mask", name]))
        found.append(checks.odd(["--bind-ro", f"{checks.project}/{name}:/seen"]))
        found.append(checks.odd(["--bind-ro", f"/usr:{checks.project}/{name}"]))
    for name in ["closed", "socket", "loop", "out", "dangling"]:
        found.append(checks.odd(["--env-file", name]))
    (checks.project / "closed").chmod(0o700)
    listener.close()
    return join(*found)


@case(".hutch.yaml is no plain file, or a monster")
def project_file(checks):
    file = checks.project / ".hutch.yaml"
    found = []
    os.mkfifo(file)
    found.append(checks.refuses([], ".hutch.yaml"))
    file.unlink()
    file.mkdir()
    found.append(checks.refuses([], ".hutch.yaml"))
    file.rmdir()
    for target in [".hutch.yaml", "/etc/passwd", str(checks.world.secret), "/dev/zero"]:
        file.symlink_to(target)
        found.append(checks.refuses([], ".hutch.yaml"))
        if SECRET in checks.errors:
            found.append("shows what the link leads to")
        file.unlink()
    file.write_text("")
    os.truncate(file, 1 << 40)
    found.append(checks.refuses([], ".hutch.yaml"))
    for text in ["a: " + "[" * 5000, "{" * 100000, "a: &a [x]\nb: *a\n", "\0\0\0", "\xff\xfe", "env-drop: A\nenv-drop: B\n", "- a\n- b\n",
                 "timeout: [1]\n", "? [a]\n: b\n", "%YAML 9.9\n---\na: 1\n", "mask: !!python/object:os.system x\n", "\ttabs: 1\n",
                 "env-drop: [" + ",".join(["A"] * 60000) + "]", "mask: [\"\x1b]52;c;x\x07\"]\n", "timeout: 99999999999999999d\n",
                 "x" * 1000000 + ": 1\n", "\n" * 1000000 + "bad-key: 1\n", "a: |\n" + "  b\n" * 100000]:
        file.write_text(text, encoding="latin-1")
        one = checks.either()
        found.append(one and f"{text[:30]!r}: {one}")
        if "\x1b" in checks.errors:
            found.append(f"{text[:30]!r}: escape sequences pass")
    file.write_text("timeout: 10m\r\nenv-drop: [A]\r\n")
    found.append(checks.works())
    return join(*found)


@case("names of workspaces: newlines, 255 bytes, no UTF-8, escapes, nearly 4 KiB of path")
def names(checks):
    found = []
    for name in [b"new\nline", b"\x1b[31mred", b"x" * 255, b"\xff\xfe\x80", b"a:b", b"back\\slash", b"per%cent", b"-dash", b"sp ace'\"$(id)`id`",
                 "\u202eright to left \U0001f600".encode(), b"..hidden", b"#hash", b"=", b"~"]:
        directory = os.fsencode(checks.project) + b"/" + name
        os.mkdir(directory)
        one = checks.works(cwd=directory)
        two = checks.works(["--print"], cwd=directory)
        found.append((one or two) and f"{name!r}: {one} {two}")
        if b"\x1b" in name and "\x1b" in checks.errors:
            found.append("an escape sequence passed")
        checks.run([], ["plan", "--format", "json", "--agent", "none", "--", "true"], cwd=directory)
        found.append(checks.code and f"{name!r}: plan: {checks.said()}")
    return join(*found)


def deep(checks, length):
    """A directory whose path has about `length` bytes, as a descriptor."""
    at, used = os.open(checks.project, os.O_RDONLY), len(str(checks.project))
    while used < length:
        name = "d" * max(1, min(200, length - used - 1))
        os.mkdir(name, dir_fd=at)
        following = os.open(name, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at, used = following, used + len(name) + 1
    return at


@case("workspaces 1000, 4000, 4090, 4095, 4096 and 9000 bytes deep")
def deep_names(checks):
    found = []
    for length in [1000, 4000, 4090, 4095, 4096, 9000]:
        directory = deep(checks, length)
        checks.run([], cwd=None, preexec_fn=lambda: os.fchdir(directory))
        lines = checks.errors.splitlines()
        clear = 1 <= len(lines) <= 2 and all(line.startswith("hutch: ") for line in lines)
        if not (checks.code == 0 and "ran" in checks.output) and not (checks.code == 125 and clear):
            found.append(f"{length}: {checks.said()[:300]}")
        os.close(directory)
        subprocess.run(["rm", "-rf", *[checks.project / name for name in os.listdir(checks.project) if name.startswith("ddd")]], check=True)
    return join(*found, checks.world.sessions())


# ---- Homes and state ----

@case("no home, a relative one, one that is missing, a file, a loop")
def homes(checks):
    found, environment = [], checks.world.environment
    (checks.base / "file").write_text("")
    (checks.base / "loop").symlink_to("loop")
    found.append(checks.refuses([], "relative", env=dict(environment, HOME="relative")))
    for home in [checks.base / "missing", checks.base / "file", checks.base / "loop", "/", "", "/proc/1", "/dev/null", "/tmp/\n",
                 "/" + "x" * 4000, f"{checks.home}/../home"]:
        one = checks.either(env=dict(environment, HOME=str(home)))
        found.append(one and f"{str(home)[:80]!r}: {one[:400]}")
    without = {name: value for name, value in environment.items() if name not in ("HOME", "USER")}
    found.append(checks.either(env=without))
    found.append(checks.either(env={}))
    return join(*found)


@case("a uid that is not in /etc/passwd")
def no_passwd(checks):
    if IS_ROOT:
        os.chown(checks.project, 54321, 54321)
        for directory in [checks.home, checks.base]:
            directory.chmod(0o777)
        more = {"user": 54321, "group": 54321, "extra_groups": []}
        environment = dict(checks.world.environment, HUTCH_STATE_DIR=str(checks.base / "own"))
        found = [checks.either(env=environment, **more)]
        for name in ["USER", "HOME"]:
            environment = {key: value for key, value in environment.items() if key != name}
            found.append(checks.either(env=environment, **more))
        return join(*found)
    return join(checks.in_namespace("", map_user="54321"), checks.in_namespace("unset USER", map_user="54321"),
                checks.in_namespace("unset USER HOME", map_user="54321"))


@case("a state directory that is no good")
def states(checks):
    found, environment = [], checks.world.environment
    (checks.base / "file").write_text("")
    (checks.base / "loop").symlink_to("loop")
    open_to_all = checks.base / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    for state, name in [("relative", "relative"), (checks.base / "file", "file"), (checks.base / "file/below", "file"), (checks.base / "loop", "loop"),
                        (open_to_all, "open"), ("/proc/nothing", "/proc/nothing"), ("/dev/null", "/dev/null")]:
        found.append(checks.refuses([], name, env=dict(environment, HUTCH_STATE_DIR=str(state))))
    return join(*found)


@case("junk among the sessions")
def junk(checks):
    checks.run([])
    sessions = checks.state / "sessions"
    valid = "0" * 13
    (sessions / "file").write_text("")
    (sessions / valid).symlink_to(checks.world.hidden)
    (sessions / ("1" * 13)).mkdir()
    (sessions / ("1" * 13) / "session.json").write_text("[" * 100000)
    (sessions / ("2" * 13)).write_text("")
    os.mkfifo(sessions / ("3" * 13))
    (sessions / ("4" * 13)).mkdir()
    os.mkfifo(sessions / ("4" * 13) / "lock")
    (sessions / "\x1b[31m").mkdir()
    before = snapshot(checks.world.hidden)
    found = []
    for words in [None, ["gc", "--list"], ["gc"]]:
        checks.run([], words)
        if checks.code not in (0,):
            found.append(f"{words}: {checks.said()}")
        if "\x1b" in checks.output + checks.errors:
            found.append(f"{words}: an escape sequence passed")
    return join(*found, *changed(before, snapshot(checks.world.hidden)))


@case("a full disk under the state, at every step")
def full_disk(checks):
    found = []
    for inodes in range(1, 14):
        one = checks.in_namespace(f'mkdir -p "$BASE/small"; mount -t tmpfs -o size=64k,nr_inodes={inodes},mode=700 tmpfs "$BASE/small"; '
                                  'export HUTCH_STATE_DIR=$BASE/small/state')
        found.append(one and f"{inodes} inodes: {one}")
    for pages in range(1, 6):
        one = checks.in_namespace(f'mkdir -p "$BASE/small"; mount -t tmpfs -o size={pages * 4}k,mode=700 tmpfs "$BASE/small"; '
                                  f'export HUTCH_STATE_DIR=$BASE/small; head -c {(pages - 1) * 4096} /dev/zero >"$BASE/small/ballast"')
        found.append(one and f"{pages} pages: {one}")
    return join(*found)


@case("a full disk under an agent's state, at every step")
def full_disk_agent(checks):
    found = []
    (checks.home / ".claude").mkdir()
    (checks.home / ".claude.json").write_text('{"a": "' + "x" * 9000 + '"}')
    for inodes in range(2, 18):
        one = checks.in_namespace(f'mkdir -p "$BASE/small"; mount -t tmpfs -o size=64k,nr_inodes={inodes},mode=700 tmpfs "$BASE/small"; '
                                  'export HUTCH_STATE_DIR=$BASE/small/state', command=["--agent", "claude", "--", "echo", "ran"])
        found.append(one and f"{inodes} inodes: {one}")
    for pages in range(1, 10):
        one = checks.in_namespace(f'mkdir -p "$BASE/small"; mount -t tmpfs -o size={pages * 4}k,mode=700 tmpfs "$BASE/small"; '
                                  'export HUTCH_STATE_DIR=$BASE/small/state', command=["--agent", "claude", "--", "echo", "ran"])
        found.append(one and f"{pages} pages: {one}")
    whole = (checks.home / ".claude.json").read_text() == '{"a": "' + "x" * 9000 + '"}'
    return join(*found, not whole and "the user's file was changed")


@case("a read-only home")
def read_only_home(checks):
    script = 'mount --bind "$HOME" "$HOME"; mount -o remount,bind,ro "$HOME"'
    return join(checks.in_namespace(script), checks.in_namespace(script + "; unset HUTCH_STATE_DIR"),
                checks.in_namespace(script, command=["--agent", "claude", "--", "echo", "ran"]),
                checks.in_namespace(script, command=["--agent", "none", "--home", "kept", "--", "echo", "ran"]))


@case("an agent's state of the wrong kind")
def wrong_state(checks):
    command = ["--agent", "claude", "--", "echo", "ran"]
    found = []
    (checks.home / ".claude").write_text("a file")
    found.append(checks.refuses([], ".claude", command=command))
    (checks.home / ".claude").unlink()
    (checks.home / ".claude").mkdir()
    file = checks.home / ".claude.json"
    file.mkdir()
    found.append(checks.refuses([], ".claude.json", command=command))
    file.rmdir()
    os.mkfifo(file)
    found.append(checks.refuses([], ".claude.json", command=command))
    file.unlink()
    for target in [".claude.json", "/dev/zero"]:
        file.symlink_to(target)
        found.append(checks.refuses([], ".claude.json", command=command))
        file.unlink()
    file.write_text("")
    os.truncate(file, 1 << 40)
    found.append(checks.refuses([], ".claude.json", command=command))
    return join(*found)


# ---- What a hostile command leaves for the merge ----

HOSTILE = {
    "a FIFO": "rm -f {0}; mkfifo {0}",
    "a directory": "rm -f {0}; mkdir -p {0}/below",
    "a link to the host's secret": "rm -f {0}; ln -s {1} {0}",
    "a link to /proc/self/environ": "rm -f {0}; ln -s /proc/self/environ {0}",
    "a loop": "rm -f {0}; ln -s .claude.json {0}",
    "no JSON": "echo '{{' >{0}",
    "a terabyte": "truncate -s 1T {0}",
    "brackets": "head -c 1000000 /dev/zero | tr '\\0' '[' >{0}",
    "numbers": "echo '{{\"a\": 1e999999, \"b\": 123456789012345678901234567890}}' >{0}",
    "no UTF-8": "printf '{{\"a\": \"\\377\\376\"}}' >{0}",
    "a surrogate": "printf '{{\"a\": \"\\\\ud800\", \"b\": \"\\\\u0000\"}}' >{0}",
    "twice the same": "echo '{{\"a\": 1, \"a\": 2}}' >{0}",
    "not an object": "echo '[1, 2]' >{0}",
    "nothing": ": >{0}",
    "gone": "rm -f {0}",
    "closed": "chmod 0 {0}",
}


@case("what a command makes of a state file that is merged back")
def merges(checks):
    (checks.home / ".claude").mkdir()
    file, found = checks.home / ".claude.json", []
    for name, script in HOSTILE.items():
        file.write_text('{"mine": 1}\n')
        script = script.format(file, checks.world.secret) + "; echo ran"
        checks.run([], ["--agent", "claude", "--", "sh", "-c", script], timeout=30)
        if checks.code not in (0, 125) or "ran" not in checks.output:
            found.append(f"{name}: {checks.said()}")
        if not file.is_file() or file.is_symlink():
            found.append(f"{name}: the user's file is gone")
        elif SECRET in file.read_text(errors="replace"):
            found.append(f"{name}: the secret was copied")
        elif file.stat().st_size > 1 << 20:
            found.append(f"{name}: the user's file has {file.stat().st_size} bytes")
        elif name not in ("numbers", "twice the same", "no UTF-8", "a surrogate", "not an object", "nothing", "no JSON", "brackets", "closed") and \
                file.read_text() != '{"mine": 1}\n':
            found.append(f"{name}: the user's file is now {file.read_text()[:80]!r}")
        # What could not be merged may be kept; it must not stand in the way of the next run.
        checks.run([], ["--agent", "none", "--", "true"])
        if checks.code:
            found.append(f"{name}, the next run: {checks.said()}")
        subprocess.run(["rm", "-rf", checks.state], check=True)
    return join(*found)


# ---- Much of it ----

@case("10,000 variables, a long one, and one without =")
def variables(checks):
    many = dict(checks.world.environment, **{f"V{i}": "x" * 20 for i in range(10000)})
    long = dict(checks.world.environment, LONG="x" * 131000)
    script = ("import ctypes, sys\nlist = lambda words: (ctypes.c_char_p * (len(words) + 1))(*[word.encode() for word in words], None)\n"
              "ctypes.CDLL(None).execve(sys.argv[1].encode(), list([sys.argv[1], '--agent', 'none', '--', 'echo', 'ran']), "
              "list(['NOTHING', '', '=', '=x', 'A=1', 'A=2', *sys.argv[2:]]))")
    done = subprocess.run(["/usr/bin/python3", "-c", script, checks.world.tools.hutch, f"HOME={checks.home}", f"HUTCH_STATE_DIR={checks.state}",
                           "PATH=/usr/bin:/bin"], cwd=checks.project, capture_output=True, text=True)
    return join(checks.works(env=many), checks.works(env=long), checks.works(["--env", "scoped"], env=many),
                checks.works(["--env", "clean"], env=many), "ran" not in done.stdout and f"without =: {done}")


@case("2,000 extra mounts, and 2,000 masks and variables")
def mounts(checks):
    source = checks.base / "many"
    source.mkdir()
    options, masks, pairs = [], [], []
    for i in range(2000):
        (source / str(i)).mkdir()
        options += ["--bind-ro", f"{source}/{i}:/many/{i}"]
        pairs += ["-e", f"V{i}=x"]
    (checks.project / "sub").mkdir()
    for i in range(2000):
        (checks.project / "sub" / str(i)).write_text("")
        masks += ["--mask", f"sub/{i}"]
    return join(checks.works(options), checks.works(masks), checks.works(pairs),
                checks.works(options, command=["--agent", "none", "--", "sh", "-c", "ls /many | wc -l | grep -qx 2000"]))


@case("little of what a process needs")
def limits(checks):
    def limit(what, value):
        return lambda: resource.setrlimit(what, (value, value))
    found = []
    for name, what, steps in [("files", resource.RLIMIT_NOFILE, [3, 5, 8, 12, 16, 24, 64]), ("file size", resource.RLIMIT_FSIZE, [0, 100, 5000]),
                              ("address space", resource.RLIMIT_AS, [1 << 22, 1 << 24, 1 << 26]), ("stack", resource.RLIMIT_STACK, [1 << 17, 1 << 20]),
                              ("data", resource.RLIMIT_DATA, [1 << 20, 1 << 23]), ("queue", resource.RLIMIT_SIGPENDING, [0])]:
        for step in steps:
            one = checks.either(preexec_fn=limit(what, step))
            # The C library and the loader of the command have their own words for it.
            one = one and one.split("sessions [")[0]  # the next run, or one a minute later, sweeps
            loader = checks.code in (0, 1, 127, 134, 139, -9, -11) and name in ("address space", "stack", "data", "files")
            found.append(one and not loader and f"{name} {step}: {one}")
    subprocess.run(["rm", "-rf", checks.state], check=True)
    for mask in [0, 0o777, 0o077]:
        one = checks.either(preexec_fn=lambda: os.umask(mask))
        found.append(one and f"umask {mask:o}: {one}")
    return join(*found)


@case("descriptors that are closed, and a reader that is gone")
def descriptors(checks):
    found = []
    for closed in [(0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2)]:
        def close():
            for one in closed:
                os.close(one)
        # Not by way of subprocess's own pipes, which are what is closed.
        process = subprocess.Popen([checks.world.tools.hutch, "--agent", "none", "--", "sh", "-c", "exit 7"], cwd=checks.project,
                                   env=checks.world.environment, preexec_fn=close)
        code = process.wait(timeout=20)
        found.append(code != 7 and f"{closed} closed: exit code {code}")
    reader, writer = os.pipe()
    os.close(reader)
    for words in [["plan", "--agent", "none", "--", "true"], ["--help"], ["--agent", "none", "--", "sh", "-c", "exit 7"]]:
        process = subprocess.run([checks.world.tools.hutch, *words], cwd=checks.project, env=checks.world.environment, stdout=writer,
                                 stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        if process.returncode not in (7, 0, 125, -signal.SIGPIPE):
            found.append(f"{words}: {process}")
    os.close(writer)
    return join(*found, checks.world.sessions())
