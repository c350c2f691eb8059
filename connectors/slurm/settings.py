"""Settings of the Slurm connector."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from connectors.config import ConnectorConfig
from connectors.files.settings import Folder, Template, TimeZone
from connectors.outcomes import FAILED_ENDS
from connectors.slurm.wrapper import check_wrapper

_WORD = re.compile(r"[A-Za-z0-9_./:=@%+,-]{1,255}\Z")
_STATES = frozenset({*FAILED_ENDS, "COMPLETED", "REQUEUED", "REVOKED"})


def _argument(text: str) -> str:
    if not _WORD.match(text):
        raise ValueError("an argument may hold letters, digits and _ . / : = @ % + , - only")
    return text


def _cluster(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", name):
        raise ValueError("a cluster's name holds letters, digits, _ . and - only")
    return name


def _state(name: str) -> str:
    if name not in _STATES:
        raise ValueError(f"must be one of {', '.join(sorted(_STATES))}")
    return name


Argument = Annotated[str, AfterValidator(_argument)]


class SlurmConfig(ConnectorConfig):
    """How to ask Slurm's accounting."""

    origin: Literal["command", "files"] = Field(
        default="command",
        title="Origin",
        description="command: run sacct. files: read what sacct wrote into files.",
    )
    command: tuple[Argument, ...] = Field(
        default=("sacct",),
        min_length=1,
        max_length=10,
        title="Command",
        description="The program and, where needed, fixed arguments. It is run without a shell.",
    )
    wrapper: tuple[Argument, ...] = Field(
        default=(),
        max_length=20,
        title="Wrapper",
        description="What runs the command elsewhere, for example ssh login1. ssh never asks for a password here.",
    )
    form: Literal["text", "json"] = Field(
        default="text",
        title="Form",
        description="What to ask for first; the other form is tried when this one cannot be had. Before Slurm 23.02 "
        "the JSON form shows no exit codes.",
    )
    timeout: float = Field(
        default=60.0, gt=0, le=3600, title="Time-out", description="Seconds for one answer of sacct."
    )
    cluster: Annotated[str, AfterValidator(_cluster)] | None = Field(
        default=None, title="Cluster", description="Slurm's own name of the cluster, where its database holds several."
    )
    timezone: TimeZone | None = Field(
        default=None,
        title="Time zone",
        description="IANA zone of times in exported files. From a command, times come without doubt.",
    )
    states: tuple[Annotated[str, AfterValidator(_state)], ...] = Field(
        default=FAILED_ENDS, min_length=1, title="States", description="Which ends of a job discovery looks for."
    )
    roots: tuple[Folder, ...] = Field(
        default=(), title="Allowed folders", description="For origin files: nothing outside these folders is read."
    )
    paths: tuple[Template, ...] = Field(
        default=(),
        max_length=20,
        title="Exported files",
        description="For origin files: what sacct -P or --json wrote, by job with {job_id} in the path, or all in one.",
    )

    @model_validator(mode="after")
    def _whole(self) -> SlurmConfig:
        if self.wrapper:
            check_wrapper(self.wrapper)
        if self.origin == "files":
            if not self.paths or not self.roots:
                raise ValueError("origin files needs the exported files' paths and their allowed folders")
            for path in self.paths:
                if not any(path.startswith(f"{root}/") for root in self.roots):
                    raise ValueError(f"{path} is outside the allowed folders")
        return self
