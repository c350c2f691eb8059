"""Trying out whether Slurm's accounting can be asked."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from connectors.contract import Check, Context, ProbeReport
from connectors.errors import ConnectorError
from connectors.files.allowed import AllowedRoots
from connectors.slurm import command
from connectors.slurm.accounting import Accounting
from connectors.slurm.exports import exported
from connectors.slurm.settings import SlurmConfig

_DAY = timedelta(days=1)


def probe_slurm(config: SlurmConfig, context: Context) -> ProbeReport:
    """For a command: is it there, does it run, does the database answer. For files: may they be read, are they
    tables of sacct."""
    checks: list[Check] = []
    for check in _of_files(config, context) if config.origin == "files" else _of_command(config, context):
        checks.append(check)
        if not check.ok:
            break
    return ProbeReport(tuple(checks))


def _of_command(config: SlurmConfig, context: Context) -> Iterator[Check]:
    try:
        yield Check("sacct runs", True, sample=command.version(config, context))
    except ConnectorError as error:
        yield _failed("sacct runs", error)
        return
    now = context.now()
    try:
        answer = command.ask(config, command.ended_between(now - _DAY, now, config.states), context)
    except ConnectorError as error:
        yield _failed("The accounting database answers", error)
        return
    yield _seen("The accounting database answers", answer, "failed jobs in the last day")


def _of_files(config: SlurmConfig, context: Context) -> Iterator[Check]:
    try:
        roots = AllowedRoots.of(config.roots, context.roots)
        for root in config.roots:
            yield Check(f"Folder {root}", True, sample=f"{len(roots.names_in(str(root)))} entries")
    except ConnectorError as error:
        yield _failed("Allowed folders", error)
        return
    try:
        answers = exported(config, None, context)
    except ConnectorError as error:
        yield _failed("Exported files", error)
        return
    if not answers:
        yield Check("Exported files", True, sample="The paths hold {job_id}: only a job can show what is there")
    for answer in answers:
        yield _seen(answer.request, answer, "jobs")


def _seen(name: str, answer: Accounting, what: str) -> Check:
    jobs = [row for row in answer.rows if row.step is None]
    users = {row.user for row in jobs if row.user}
    sample = f"{len(jobs)} {what} of {len(users)} users" + (f", the last {jobs[-1].job_id}" if jobs else "")
    return Check(name, True, reason=" ".join(answer.notes), sample=sample)


def _failed(name: str, error: ConnectorError) -> Check:
    return Check(name, False, f"{error.what} ({error.where})" if error.where else error.what, error.remedy)
