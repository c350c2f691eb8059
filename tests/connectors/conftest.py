"""A small cluster's files, and programs that answer like sacct."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from telemetry import JobContext
from telemetry.writer import BundleWriter

RECORDED = Path(__file__).parents[1] / "data" / "connectors" / "slurm"

FAKE = """#!{python}
import os, signal, subprocess, sys, time
log = {log!r}
with open(log, "a") as file:
    file.write(repr((sys.argv[1:], dict(os.environ))) + "\\n")
argv = sys.argv[1:]
{body}
"""


@pytest.fixture
def fake_program(tmp_path: Path) -> Callable[..., Path]:
    """Makes an executable from Python statements; `argv` are its arguments. What it was called with goes to
    NAME.log."""

    def make(body: str, name: str = "sacct") -> Path:
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(FAKE.format(python=sys.executable, log=str(path) + ".log", body=body))
        path.chmod(0o755)
        return path

    return make


@pytest.fixture
def calls() -> Callable[[Path], list[tuple[list[str], dict[str, str]]]]:
    """The (arguments, environment) of each call of a fake program."""

    def read(program: Path) -> list[tuple[list[str], dict[str, str]]]:
        log = Path(f"{program}.log")
        return [eval(line) for line in log.read_text().splitlines()] if log.exists() else []

    return read


@pytest.fixture
def recorded_sacct(fake_program: Callable[..., Path]) -> Callable[..., Path]:
    """A sacct that gives recorded answers, byte for byte: text and JSON by file name; --version works."""

    def make(text: str | None = None, json: str | None = None) -> Path:
        return fake_program(
            f"""
if "--version" in argv:
    print("slurm-wlm 22.05.8"); sys.exit(0)
name = {json!r} if "--json" in argv else {text!r}
if name is None:
    sys.stderr.write("sacct: unrecognized option\\n"); sys.exit(1)
sys.stdout.buffer.write(open({str(RECORDED)!r} + "/" + name, "rb").read())
"""
        )

    return make


def job_at(**changes: Any) -> JobContext:
    """A job on two nodes that ran from 10:00 to 11:00 UTC."""
    values: dict[str, Any] = {
        "cluster": "cluster-a",
        "id": "88213",
        "scheduler": "slurm",
        "user": "user1",
        "started": datetime(2026, 3, 11, 10, tzinfo=UTC),
        "ended": datetime(2026, 3, 11, 11, tzinfo=UTC),
        "state": "FAILED",
        "exit_code": "1:0",
        "nodes": ("node01", "node02"),
        "ranks_per_node": 2,
    }
    return JobContext(**{**values, **changes})


@pytest.fixture
def writer(tmp_path: Path) -> BundleWriter:
    return BundleWriter(tmp_path / "bundle", job_at())


def write(path: Path, data: bytes | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def running_as_root() -> bool:
    return os.geteuid() == 0
