# SPDX-License-Identifier: MIT
"""What one sandbox leaves behind for the next, or hands to one that runs beside it."""
import json
import os
import re

from attempt import IS_ROOT, attempt, only
from world import changed, snapshot


def plant(world, directory, links):
    """A sandbox that works in `directory` puts links in the place of what is there, and then takes the right
    to write away, which must not make the directory look like somebody else's."""
    script = "\n".join(f"rm -rf {name} && ln -s {target} {name}" for name, target in links.items())
    done = world.run([], ["sh", "-ec", f"{script}\nchmod 555 ."], cwd=directory)
    if done.returncode:
        raise RuntimeError(f"nothing was planted: {done}")


@attempt(4, "links planted in a repository that the user's settings are links into", "beneath")
def repository(world):
    dotfiles = world.home / "dotfiles"
    for name in ["claude", "direnv"]:
        (dotfiles / name).mkdir(parents=True)
    (dotfiles / "aider.yml").write_text("\n")
    (world.home / ".claude").symlink_to("dotfiles/claude")
    (world.home / ".aider.conf.yml").symlink_to(dotfiles / "aider.yml")
    plant(world, dotfiles, {"claude": world.hidden, "direnv": world.hidden, "aider.yml": world.secret})
    (world.home / ".config" / "direnv").symlink_to("../dotfiles/direnv")
    return only(world.attempt("links", world.secret, world.home / ".claude" / "secret", options=["--agent", "claude"], refusal=True),
                world.attempt("links", world.secret, world.home / ".aider.conf.yml", options=["--agent", "aider"]),
                world.attempt("links", world.secret, world.home / ".config" / "direnv" / "secret"))


# The file goes by copying, so there is no mount that could be left out; the switch is the same.
@attempt(4, "the same for a file that is merged back", "beneath")
def repository_file(world):
    dotfiles = world.home / "dotfiles"
    (dotfiles / "claude").mkdir(parents=True)
    (dotfiles / "claude" / ".claude.json").write_text("{}\n")
    (world.home / ".claude.json").symlink_to("dotfiles/claude/.claude.json")
    plant(world, dotfiles, {"claude": world.hidden})
    (world.hidden / ".claude.json").write_text(json.dumps({"is": "the user's"}))
    before = snapshot(world.hidden)
    world.run(["--agent", "claude"], ["sh", "-c", "echo '{\"evil\": 1}' >~/.claude.json"])
    return only(*changed(before, snapshot(world.hidden)))


@attempt(4, "a link of the project, named through a home that is a link", "beneath")
def other_name(world):
    other = world.base / "other-name"
    other.symlink_to(world.home)
    (world.project / "data").symlink_to(world.hidden)
    (world.hidden / "variables").write_text("STOLEN=1\n")
    (world.project / ".env").symlink_to(world.hidden / "variables")
    named = other / "project"
    return only(world.attempt("links", world.secret, "/seen", "/seen/secret", options=["--bind-ro", f"{named}/data:/seen"], refusal=True),
                world.attempt("environment", "STOLEN", options=["--env-file", named / ".env"], refusal=True))


# What hutch asks outside of any sandbox must not be what a sandbox has put there.
@attempt(1, "a direnv of the project, which hutch would execute outside", "executed")
def executed_outside(world):
    tool = world.project / "bin" / "direnv"
    tool.parent.mkdir()
    mark = world.base / "mark"
    tool.write_text(f"#!/bin/sh\ntouch {mark}\n")
    tool.chmod(0o755)
    (world.project / ".envrc").write_text("true\n")
    link = world.home / "bin"
    link.mkdir()
    (link / "direnv").symlink_to("../project/bin/direnv")
    for path in [tool.parent, link]:
        world.run(["--tools", "direnv"], ["true"], environment={"PATH": f"{path}:/usr/bin:/bin"})
    return "it was executed" if mark.exists() else None


# The project is mounted where the link leads: over anything of the sandbox.
@attempt(2, "a link in a kept home, where the next sandbox mounts its project", "own_only")
def kept_link(world):
    other = world.home / "other"
    other.mkdir()
    kept = ["--home", "kept=test"]
    world.run(kept, ["sh", "-c", "rmdir ~/project; ln -s /usr ~/project"], cwd=other)
    return world.attempt("readonly", "/usr/bin/env", "/usr", options=kept, refusal=True)


GROUPS = """
for kind in "cgroup2 none" "cgroup none -o freezer" "cgroup none -o pids"; do
	unshare -UrCm sh -c "mount -t $kind /tmp && test -w /tmp/cgroup.procs && echo ESCAPED: as \\"$kind\\""
done 2>/dev/null
echo held
"""


# To others than root the kernel's own permissions hold, and those of who delegates a group to them.
@attempt(10, "the host's control groups, mounted inside", None if not IS_ROOT else "root_groups")
def control_groups(world):
    done = world.run(["--nesting", "--user", "1000"], ["sh", "-c", GROUPS])
    return world.verdict(done.returncode, done.stdout, done.stderr)


HOLD = """
import array, os, socket, time
s = socket.socket(socket.AF_UNIX)
s.bind("socket")
s.listen()
print("ready", flush=True)
message = s.accept()[0].recvmsg(1, socket.CMSG_SPACE(4))
fd = array.array("i", message[1][0][2])[0]
end = time.time() + 20
while time.time() < end and not os.path.exists("go"):
    for name in os.listdir(fd):
        if name.startswith("of-another-run"):
            print("ESCAPED: a file of the next run's home is seen", flush=True)
            raise SystemExit(1)
    time.sleep(0.02)
print("held")
"""
SEND = """
import array, os, socket
fd = os.open(os.environ["HOME"], os.O_RDONLY)
s = socket.socket(socket.AF_UNIX)
s.connect("socket")
s.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))])
"""


# A directory of the home goes to another sandbox through a socket in the project, and outlives its run.
@attempt(6, "a home that another sandbox has kept open", "private_home")
def kept_open(world):
    (world.base / "shared").mkdir()
    (world.project / "hold.py").write_text(HOLD)
    (world.project / "send.py").write_text(SEND)
    other = world.home / "other-project"
    other.mkdir()
    holder = world.start([], ["/usr/bin/python3", "hold.py"])
    if holder.stdout.readline().strip() != "ready":
        raise RuntimeError(holder.stderr.read())
    world.run([], ["/usr/bin/python3", "send.py"])
    world.run([], ["sh", "-c", "touch ~/of-another-run; sleep 0.5"], cwd=other)
    (world.project / "go").touch()
    return world.end(holder)


# hutch's own words do not go through the filter. There is no switch: it is one function of base/err.c.
@attempt(18, "escape sequences in what hutch says about a hostile file")
def messages(world):
    found = []
    for text in ['"\\e]52;c;aGk=\\a": 1', '"\\x9d52;c;aGk=\\x9c": 1', 'network: "\\x9b21t"', 'require: ["\\x9b21t"]',
                 'mask: ["\\x9d52;c;aGk=\\x9c"]']:
        (world.project / ".hutch.yaml").write_text(text + "\n")
        for words in [[], ["plan"], ["trust"], ["config"]]:
            done = world.say(words)
            if re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\udc80-\udc9f]", done.stdout + done.stderr):
                found.append(f"{text} passes through hutch {words}: {done.stdout + done.stderr!r}")
    return only(*found)


# A file of settings may lie elsewhere, where it is a file like any other. By hand: unit-layers has the rest.
@attempt(9, "settings that are a link into the workspace")
def settings(world):
    real = world.project / "hutch.yaml"
    real.write_text("network: off\n")
    config = world.home / ".config" / "hutch" / "config.yaml"
    config.unlink()
    config.symlink_to(real)
    before = snapshot(world.project)
    world.run([], ["sh", "-c", "echo 'network: host' >hutch.yaml"])
    return only(*changed(before, snapshot(world.project)))
