"""Asking `sacct`: which fields, in which form, and again in another way when it refuses."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from connectors.contract import Context
from connectors.errors import BadAnswer, Cancelled, ConnectorError, Unsupported
from connectors.keys import JobKey
from connectors.slurm.accounting import Accounting, read_answer
from connectors.slurm.complaints import error_of, refused_field
from connectors.slurm.process import Answer, run
from connectors.slurm.settings import SlurmConfig
from connectors.slurm.wrapper import allowed_program, whole_command

# All known to Slurm 20.11 and later. The first four cannot be done without.
_FIELD_LIST = (
    "JobID,State,JobIDRaw,NodeList,JobName,User,Account,Cluster,Partition,ExitCode,DerivedExitCode,Submit,Eligible,"
    "Start,End,Elapsed,Timelimit,NNodes,NTasks,AllocTRES,ReqTRES,ReqMem,MaxRSS,Reason,Comment,WorkDir"
)
FIELDS = tuple(_FIELD_LIST.split(","))
_NEEDED = 4
_DELIMITER = "\x1f"  # cannot stand in a job's name or comment by any usual means, as `|` can

# What sacct prints depends on these: seconds since 1970 for times, no translated or shortened words.
_FIXED = {"SLURM_TIME_FORMAT": "%s", "TZ": "UTC", "LC_ALL": "C", "SLURM_BITSTR_LEN": "0"}
_KEPT = ("PATH", "HOME", "USER", "LOGNAME", "SLURM_CONF", "SLURM_CONF_SERVER", "KRB5CCNAME", "SSH_AUTH_SOCK")


def one_job(key: JobKey) -> list[str]:
    """Arguments for a job with all its runs; of a heterogeneous job all components, since one ends the others."""
    return ["-j", key.id if key.het_component is not None else str(key)]


def many_jobs(ids: Sequence[str]) -> list[str]:
    return ["-j", ",".join(ids)]


def ended_between(start: datetime, end: datetime, states: Sequence[str]) -> list[str]:
    """Arguments for all users' jobs that were in one of the states in a time, without their steps."""
    shape = "%Y-%m-%dT%H:%M:%S"
    period = ["-S", start.astimezone(UTC).strftime(shape), "-E", end.astimezone(UTC).strftime(shape)]
    return ["-a", "-X", *period, "--state", ",".join(states)]


def ask(config: SlurmConfig, selection: Sequence[str], context: Context) -> Accounting:
    """Ask for the jobs that `selection` names, in the configured form and, when that cannot be had, in the other.

    Raises the error about the configured form when neither works.
    """
    first: ConnectorError | None = None
    for form in (config.form, "json" if config.form == "text" else "text"):
        try:
            found = _ask_form(config, form, selection, context)
        except Cancelled:
            raise
        except (Unsupported, BadAnswer) as error:
            if first is not None:
                raise first from error
            first = error
            continue
        if first is None:
            return found
        return replace(found, notes=(*found.notes, f"The {config.form} form could not be had: {first.what}."))
    raise first or BadAnswer("sacct gave no answer", "sacct", "Run it by hand.")


def version(config: SlurmConfig, context: Context) -> str:
    """What `sacct --version` prints. Raises ConnectorError."""
    answer, request = execute(config, ["--version"], context)
    if error := error_of(answer, request, config.timeout):
        raise error
    return answer.out.decode("utf-8", "replace").strip()[:80]


def execute(config: SlurmConfig, arguments: Sequence[str], context: Context) -> tuple[Answer, str]:
    """Run sacct with these arguments; also gives the command as a person could type it."""
    argv = whole_command(config.wrapper, config.command, arguments, _FIXED)
    request = _shown(config, arguments)
    argv = allowed_program(argv, context.programs)
    environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
    answer = run(
        argv,
        {**environment, **_FIXED},
        min(config.timeout, context.limits.seconds),
        context.limits.answer_bytes,
        context.check_cancelled,
    )
    return answer, request


def _ask_form(config: SlurmConfig, form: str, selection: Sequence[str], context: Context) -> Accounting:
    clusters = ["-M", config.cluster] if config.cluster else []
    fields = list(FIELDS)
    notes: list[str] = []
    while True:
        shape = ["--json"] if form == "json" else ["-P", f"--delimiter={_DELIMITER}", "-o", ",".join(fields)]
        answer, request = execute(config, ["-D", *clusters, *shape, *selection], context)
        refused = refused_field(answer)
        known = next((name for name in fields[_NEEDED:] if refused and name.lower() == refused.lower()), None)
        if known is None:
            break
        fields.remove(known)
        notes.append(f"This sacct has no field {known}; it was left out.")
    error = error_of(answer, request, config.timeout)
    if error is not None and not _has_rows(answer.out, form):
        raise error
    found = read_answer(answer.out, form, request, whole=error is None and not answer.cut)
    shortfalls = list(found.shortfalls)
    if error is not None:
        shortfalls.insert(0, (error.reason, f"{error.what}; what it printed before was kept."))
    if answer.cut:
        size = f"{context.limits.answer_bytes:,}"
        shortfalls.insert(0, ("truncated", f"sacct printed more than {size} bytes; the rest was not read."))
    return replace(found, shortfalls=tuple(shortfalls), notes=(*notes, *found.notes))


def _has_rows(out: bytes, form: str) -> bool:
    return form == "text" and out.count(b"\n") >= 2


def _shown(config: SlurmConfig, arguments: Sequence[str]) -> str:
    typed = shlex.join([*config.command, *arguments]).replace(_DELIMITER, r"\x1f")
    inner = "SLURM_TIME_FORMAT=%s TZ=UTC " + typed
    return f"{shlex.join(config.wrapper)} {inner}" if config.wrapper else inner
