# SPDX-License-Identifier: MIT
"""The attempts, by the numbers of SECURITY.md: see run. What they share."""
import os
import pathlib
from dataclasses import dataclass

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
