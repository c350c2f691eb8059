"""Trying out the settings for log files, without a job at hand."""

from __future__ import annotations

import os
from collections.abc import Iterator

from connectors.contract import Check, Context, ProbeReport
from connectors.errors import ConnectorError
from connectors.files.allowed import AllowedRoots
from connectors.files.settings import LogFilesConfig, LogPattern

_LOOK_AT = 2_000  # names in one folder


def probe_logs(config: LogFilesConfig, context: Context) -> ProbeReport:
    """Allowed folders first, then what each pattern leads to with any job, node and rank."""
    checks: list[Check] = []
    for check in _checks(config, context):
        checks.append(check)
        if not check.ok:
            break
    return ProbeReport(tuple(checks))


def _checks(config: LogFilesConfig, context: Context) -> Iterator[Check]:
    try:
        roots = AllowedRoots.of(config.roots, context.roots)
    except ConnectorError as error:
        yield _failed("Allowed folders", error)
        return
    for root in config.roots:
        try:
            names = roots.names_in(str(root))
        except ConnectorError as error:
            yield _failed(f"Folder {root}", error)
            return
        yield Check(f"Folder {root}", True, sample=f"{len(names)} entries")
    for pattern in config.patterns:
        yield _pattern(pattern, roots)


def _pattern(pattern: LogPattern, roots: AllowedRoots) -> Check:
    """Walk the fixed part of the path; below it any file will do as a sample."""
    name = f"{pattern.source}: {pattern.path}"
    folder = ""
    parts = pattern.template.parts
    for part in parts[:-1]:
        if "{" in part or any(sign in part for sign in "*?["):
            break
        folder += f"/{part}"
    try:
        names = roots.names_in(folder)
    except ConnectorError as error:
        return _failed(name, error)
    if not names:
        return Check(
            name,
            False,
            f"The folder {folder} is empty",
            "Check that logs are written there, and that the mount is there.",
        )
    readable = [entry for entry in names[:_LOOK_AT] if os.access(f"{folder}/{entry}", os.R_OK)]
    if not readable:
        return Check(
            name,
            False,
            f"Nothing in {folder} may be read by this account",
            "Give the console's account read access, for example by a group.",
            ", ".join(names[:3]),
        )
    return Check(name, True, sample=", ".join(readable[:3]))


def _failed(name: str, error: ConnectorError) -> Check:
    return Check(name, False, f"{error.what} ({error.where})" if error.where else error.what, error.remedy)
