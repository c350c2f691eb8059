"""Wrapping a command so that it runs elsewhere, and putting the whole argument list together."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence

from connectors.errors import Misconfigured, NotFound

# Options of ssh that only say where and as whom. Others (ProxyCommand, LocalCommand, -F, -L ...) run programs here,
# read other files or open ports.
_SSH_PLAIN = frozenset({"-4", "-6", "-C", "-q", "-T", "-x", "-a"})
_SSH_VALUE = {
    "-p": re.compile(r"[0-9]{1,5}\Z"),
    "-l": re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}\Z"),
    "-i": re.compile(r"/[A-Za-z0-9_./-]{1,255}\Z"),
    "-J": re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@:,-]{0,255}\Z"),
}
_SSH_SETTINGS = frozenset(
    {
        "connecttimeout",
        "connectionattempts",
        "identitiesonly",
        "hostkeyalias",
        "serveralivecountmax",
        "serveraliveinterval",
        "stricthostkeychecking",
        "userknownhostsfile",
    }
)
_HOST = re.compile(r"(?:[A-Za-z_][A-Za-z0-9_.-]{0,63}@)?[A-Za-z0-9][A-Za-z0-9_.:-]{0,252}\Z")


def is_ssh(wrapper: Sequence[str]) -> bool:
    return bool(wrapper) and os.path.basename(wrapper[0]) == "ssh"


def check_wrapper(wrapper: Sequence[str]) -> None:
    """Raises ValueError when a wrapper is ssh with more than a host and options of where and as whom."""
    if not is_ssh(wrapper):
        return
    rest = list(wrapper[1:])
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option in _SSH_PLAIN:
            continue
        value = rest.pop(0) if rest else ""
        if option == "-o":
            name = value.split("=", 1)[0].lower()
            if name not in _SSH_SETTINGS or "=" not in value:
                raise ValueError(f"ssh's setting {value.split('=', 1)[0]!r} is not allowed here; use ~/.ssh/config")
        elif option not in _SSH_VALUE:
            raise ValueError(f"ssh's option {option!r} is not allowed here; use ~/.ssh/config")
        elif not _SSH_VALUE[option].match(value):
            raise ValueError(f"the value of ssh's option {option} is not usable")
    if len(rest) != 1 or not _HOST.match(rest[0]):
        raise ValueError("ssh needs exactly one host after its options")


def whole_command(
    wrapper: Sequence[str], command: Sequence[str], arguments: Sequence[str], environment: Mapping[str, str]
) -> list[str]:
    """The argument list to run. Behind ssh the command is quoted for the shell there, and brings its environment."""
    inner = [*command, *arguments]
    if not wrapper:
        return inner
    carried = ["env", *(f"{name}={value}" for name, value in sorted(environment.items())), *inner]
    if is_ssh(wrapper):
        return [wrapper[0], "-o", "BatchMode=yes", *wrapper[1:], "--", shlex.join(carried)]
    return [*wrapper, *carried]


def allowed_program(argv: Sequence[str], programs: Sequence[str]) -> list[str]:
    """The argument list with its program as an absolute path. Raises Misconfigured when the site does not allow the
    program, NotFound when it is not installed."""
    program = argv[0]
    if program not in programs:
        raise Misconfigured(
            f"The program {program!r} is not among those that the site lets connectors run",
            "connector slurm",
            f"Allowed are {', '.join(programs)}. An administrator of the machine can allow more.",
            {"command": "this program is not allowed"},
        )
    path = shutil.which(program)
    if path is None:
        raise NotFound(
            f"The program {program} is not installed here",
            program,
            "Install Slurm's client tools, give its absolute path, or use a wrapper such as ssh login1.",
        )
    return [path, *argv[1:]]
