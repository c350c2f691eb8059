"""Jobs from accounting rows: one for each run of each job, array element and component."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from connectors.errors import BadValue
from connectors.keys import JobKey
from telemetry.formats.sacct import SacctRow
from telemetry.formats.times import Moment
from telemetry.job import JobContext

# billing=8,cpu=8,gres/gpu=8,gres/gpu:h100=8: the plain count, else the sum over the models.
_GPU = re.compile(r"(?:^|,)gres/gpu=([0-9]{1,6})(?:,|$)")
_GPU_MODEL = re.compile(r"(?:^|,)gres/gpu:[^=,]{1,64}=([0-9]{1,6})")


def jobs_of(rows: Iterable[SacctRow], zone: str | None, cluster: str | None = None) -> list[JobContext]:
    """Every run, in the order of the table; the runs of a requeued job are numbered from 1, the oldest.

    zone: of times that carry none; without it such times are left out, as hours of error would hide the cause.
    A pending array's single row (10_[1-4]) is no job yet and is passed over.
    """
    runs: dict[str, list[SacctRow]] = {}
    steps_of: dict[str, list[SacctRow]] = {}
    for row in rows:
        if row.step is not None:
            steps_of.setdefault(row.job_id, []).append(row)
        elif "[" not in row.job_id:
            runs.setdefault(row.job_id, []).append(row)
    jobs = []
    for name, same in runs.items():
        same.sort(key=_begin)
        for number, row in enumerate(same, 1):
            steps = _steps_of(row, same, steps_of.get(name, []))
            if job := _job(row, steps, number, zone, cluster):
                jobs.append(job)
    return jobs


def matching(jobs: Iterable[JobContext], key: JobKey, raw_ids: dict[str, str]) -> list[JobContext]:
    """The jobs that a key means; of several runs of one job the latest, unless the key names one.

    A plain number may also be the raw id of an array's element or a component (`raw_ids`: raw id to id as shown).
    """
    cluster_free = JobKey(None, key.id, key.array_task, key.het_component, key.attempt)
    found = [job for job in jobs if cluster_free.fits(job)]
    if not found and key.id in raw_ids:
        shown = JobKey.parse(raw_ids[key.id])
        wanted = JobKey(None, shown.id, shown.array_task, shown.het_component, key.attempt)
        found = [job for job in jobs if wanted.fits(job)]
    if key.attempt is not None:
        return found
    latest: dict[str, JobContext] = {}
    for job in found:
        name = str(JobKey.of(job))
        if name not in latest or latest[name].attempt < job.attempt:
            latest[name] = job
    return list(latest.values())


def raw_ids_of(rows: Sequence[SacctRow]) -> dict[str, str]:
    """Raw id to the id as shown, for rows where they differ. The last element of an array has the array's own id as
    its raw id, which then means the array."""
    shown = {row.job_id for row in rows}
    bases = {re.split(r"[_+]", name)[0] for name in shown}
    return {
        row.raw_id: row.job_id
        for row in rows
        if row.step is None and row.raw_id and row.raw_id != row.job_id and row.raw_id not in bases
    }


def _begin(row: SacctRow) -> tuple[float, float]:
    never = float("inf")  # a run that has not begun is the newest
    submit = row.submit.seconds if row.submit else never
    return (submit, row.start.seconds if row.start else never)


def _steps_of(run: SacctRow, runs: Sequence[SacctRow], steps: list[SacctRow]) -> list[SacctRow]:
    """The steps of one run, of those of all runs of its job: told apart by their start."""
    if len(runs) == 1:
        return steps
    begin = run.start.seconds if run.start else float("inf")
    end = run.end.seconds if run.end else float("inf")
    return [step for step in steps if step.start and begin <= step.start.seconds <= end]


def _job(
    row: SacctRow, steps: Sequence[SacctRow], attempt: int, zone: str | None, cluster: str | None
) -> JobContext | None:
    try:
        key = JobKey.parse(row.job_id)
    except BadValue:
        return None
    return JobContext(
        cluster=row.cluster or cluster,
        id=key.id,
        scheduler="slurm",
        user=row.user,
        submitted=_aware(row.submit, zone),
        started=_aware(row.start, zone),
        ended=_aware(row.end, zone),
        state=row.state,
        exit_code=row.exit,
        nodes=row.nodes,
        ranks_per_node=_ranks_per_node(steps),
        gpus_per_node=_gpus_per_node(row),
        timezone=zone,
        array_task=key.array_task,
        het_component=key.het_component,
        attempt=attempt,
    )


def _ranks_per_node(steps: Sequence[SacctRow]) -> int | None:
    """Tasks a node of the widest step, when they divide evenly."""
    best: tuple[int, int] | None = None
    for step in steps:
        tasks, nodes = step.values.get("ntasks", ""), step.values.get("nnodes", "")
        if step.step and step.step.isdigit() and tasks.isdigit() and nodes.isdigit() and int(nodes):
            best = max(best or (0, 0), (int(tasks), int(nodes)))
    if best is None or best[0] % best[1]:
        return None
    return best[0] // best[1]


def _gpus_per_node(row: SacctRow) -> int | None:
    allocated = row.values.get("alloctres", "")
    plain = _GPU.search(allocated)
    count = int(plain.group(1)) if plain else sum(int(number) for number in _GPU_MODEL.findall(allocated))
    if not count or not row.nodes or count % len(row.nodes):
        return None
    return count // len(row.nodes)


def _aware(time: Moment | None, zone: str | None) -> datetime | None:
    if time is None:
        return None
    stamp = datetime.fromtimestamp(time.seconds, UTC)
    if not time.local:
        return stamp
    return stamp.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC) if zone else None
