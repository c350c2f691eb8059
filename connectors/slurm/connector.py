"""The connector for Slurm's accounting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import ClassVar

from connectors.config import ConnectorConfig
from connectors.contract import Context, ProbeReport, Step
from connectors.errors import NotFound, SeveralJobs
from connectors.keys import JobKey
from connectors.meter import Meter
from connectors.slurm import command
from connectors.slurm.accounting import Accounting
from connectors.slurm.exports import exported
from connectors.slurm.jobs import jobs_of, matching, raw_ids_of
from connectors.slurm.probe import probe_slurm
from connectors.slurm.settings import SlurmConfig
from telemetry.coverage import Coverage, Status
from telemetry.job import JobContext
from telemetry.writer import BundleWriter

# Discovery asks for one slice of time after another, so that no answer grows without bound: longer ones through
# quiet times, shorter ones when an answer was too long.
_FIRST_SLICE = timedelta(days=1)
_LONGEST_SLICE = timedelta(days=64)
_SHORTEST_SLICE = timedelta(minutes=5)
_BATCH = 100  # jobs asked for by id at once
_PIECE = 1024 * 1024


class Slurm:
    """Jobs and their accounting rows from `sacct`, or from files that it wrote."""

    slug: ClassVar[str] = "slurm"
    label: ClassVar[str] = "Slurm accounting"
    version: ClassVar[str] = "1.0"
    capabilities: ClassVar[frozenset[str]] = frozenset({"find", "discover", "collect"})
    sources: ClassVar[frozenset[str]] = frozenset({"scheduler"})
    Config: ClassVar[type[ConnectorConfig]] = SlurmConfig

    def probe(self, config: SlurmConfig, context: Context) -> ProbeReport:
        return probe_slurm(config, context)

    def find_job(self, config: SlurmConfig, key: JobKey, context: Context) -> JobContext | None:
        if not key.id.isdigit():
            return None  # no id of Slurm's
        answers = _answers(config, key, context)
        found: list[JobContext] = []
        pending = False
        for answer in answers:
            pending = pending or any("[" in row.job_id for row in answer.rows)
            jobs = jobs_of(answer.rows, _zone(config, context), config.cluster)
            found += [job for job in matching(jobs, key, raw_ids_of(answer.rows)) if job not in found]
        if not found and pending:
            raise NotFound(f"No element of array {key} has started yet", "sacct", "Open it once one of them runs.")
        names = list(dict.fromkeys(str(JobKey.of(job)) for job in found))
        if len(names) > 1:
            raise SeveralJobs(
                f"{key} stands for {len(names)} jobs of Slurm",
                "sacct",
                f"Open one of them: {', '.join(names[:10])}{' ...' if len(names) > 10 else ''}.",
                tuple(found),
            )
        return found[0] if found else None

    def discover(self, config: SlurmConfig, since: datetime, context: Context) -> Iterator[JobContext]:
        seen: set[tuple[str, int, datetime | None]] = set()
        given = 0
        for batch in _failed(config, since, context):
            jobs = [job for job in batch if job.state in config.states and job.ended and job.ended >= since]
            for job in sorted(jobs, key=lambda each: (each.ended or since, str(JobKey.of(each)), each.attempt)):
                name = (str(JobKey.of(job)), job.attempt, job.submitted)
                if name in seen:
                    continue
                if given >= context.limits.jobs:
                    return  # in order of their ends, so that the next discovery goes on from here
                seen.add(name)
                given += 1
                yield job

    def plan(self, config: SlurmConfig, job: JobContext) -> tuple[Step, ...]:
        return (Step("scheduler", None, "Slurm accounting"),)

    def collect(
        self, config: SlurmConfig, job: JobContext, step: Step, writer: BundleWriter, context: Context
    ) -> tuple[Coverage, ...]:
        key = JobKey.of(job)
        answers = [answer for answer in _answers(config, key, context) if answer.rows]
        if not answers:
            origin = ", ".join(config.paths) if config.origin == "files" else "sacct"
            detail = f"Slurm's accounting has no job {key}."
            return (Coverage("scheduler", "empty", "not_found", detail, request=origin),)
        meter = Meter(context, len(answers))
        reports: list[Coverage] = []
        for number, answer in enumerate(answers, 1):
            stem, ending = answer.stream_name.split(".")
            name = answer.stream_name if number == 1 else f"{stem}.{number}.{ending}"
            with writer.stream("scheduler", name) as out:
                for at in range(0, len(answer.raw), _PIECE):
                    meter.check(name)
                    out.write(answer.raw[at : at + _PIECE])
            meter.wrote(answer.raw.count(b"\n"), len(answer.raw), name)
            meter.finished(name)
            reports.append(_coverage(answer, out.lines, out.bytes, name if len(answers) > 1 else None))
        return tuple(reports)


def _answers(config: SlurmConfig, key: JobKey, context: Context) -> Sequence[Accounting]:
    if config.origin == "files":
        return exported(config, key, context)
    return (command.ask(config, command.one_job(key), context),)


def _failed(config: SlurmConfig, since: datetime, context: Context) -> Iterator[list[JobContext]]:
    """All runs of the jobs that may have failed, a slice of time after another.

    The rows that the window gives do not show a requeued job's other runs, nor steps: so jobs are asked for again by
    their ids. A job that was never eligible is in no window of sacct's and is not discovered.
    """
    if config.origin == "files":
        zone = _zone(config, context)
        answers = exported(config, None, context)
        yield [job for answer in answers for job in jobs_of(answer.rows, zone, config.cluster)]
        return
    now = context.now()
    start, length = since, _FIRST_SLICE
    while start < now:
        context.check_cancelled()
        end = min(start + length, now)
        listed = command.ask(config, command.ended_between(start, end, config.states), context)
        if len(listed.raw) >= context.limits.answer_bytes and length > _SHORTEST_SLICE:
            length /= 4
            continue
        length = _FIRST_SLICE if listed.rows else min(length * 2, _LONGEST_SLICE)
        ids = list(dict.fromkeys(row.job_id.split("+")[0] for row in listed.rows if "[" not in row.job_id))
        jobs: list[JobContext] = []
        for at in range(0, len(ids), _BATCH):
            jobs += _by_ids(config, ids[at : at + _BATCH], context)
        yield [job for job in jobs if job.ended is None or job.ended <= end]
        start = end


def _by_ids(config: SlurmConfig, ids: list[str], context: Context) -> list[JobContext]:
    """All runs of these jobs; asked for in halves when the answer is too long to be read at once."""
    answer = command.ask(config, command.many_jobs(ids), context)
    if len(answer.raw) >= context.limits.answer_bytes and len(ids) > 1:
        middle = len(ids) // 2
        return _by_ids(config, ids[:middle], context) + _by_ids(config, ids[middle:], context)
    return jobs_of(answer.rows, _zone(config, context), config.cluster)


def _zone(config: SlurmConfig, context: Context) -> str | None:
    """The zone of times that carry none: sacct is run with TZ=UTC, files were written somewhere."""
    return "UTC" if config.origin == "command" else config.timezone or context.timezone


def _coverage(answer: Accounting, lines: int, size: int, target: str | None) -> Coverage:
    status: Status = "partial" if answer.shortfalls else "complete"
    sentences = [sentence for _, sentence in answer.shortfalls] + list(answer.notes)
    return Coverage(
        source="scheduler",
        status=status,
        reason=answer.shortfalls[0][0] if answer.shortfalls else None,
        detail=" ".join(sentences),
        target=target,
        lines=lines,
        bytes=size,
        request=answer.request,
    )
