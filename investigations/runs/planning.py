"""The first step of a run: what the scheduler says of the job now, and what there is to collect."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from connectors.contract import Step
from connectors.errors import ConnectorError
from connectors.keys import JobKey
from connectors.steps import failed_coverage
from investigations.errors import ServiceError
from investigations.jobs.connectors import Ready, connectors_of
from investigations.jobs.lookup import find_job
from investigations.jobs.models import ConnectorConfig, Investigation, Job
from investigations.jobs.records import happened_at, keep_job
from investigations.runs.leases import Heartbeat
from investigations.runs.models import Run, RunStep
from telemetry.job import JobContext


def plan(step: RunStep, beat: Heartbeat) -> dict[str, Any]:
    """Write one collect step for each connector, source and target; what to keep on the plan step is returned."""
    run = step.run
    job = run.investigation.job
    note = _ask_again(job)
    if job.running and not run.provisional:
        Run.objects.filter(pk=run.pk).update(provisional=True)
    if job.ended_at or job.started_at:
        Investigation.objects.filter(pk=run.investigation_id).update(happened_at=happened_at(job))
    wanted = replace(job.job_context(), cluster=None)
    rows = [row for entry in connectors_of(job.cluster, "collect") for row in _steps_of(run, entry, wanted)]
    for position, row in enumerate(rows, start=1):
        row.position = position
    # A plan that was cut short and made again finds its own steps there.
    RunStep.objects.bulk_create(rows, ignore_conflicts=True)
    return {"note": note or f"{len(rows)} to collect", "targets_done": 1, "targets_total": 1}


def _ask_again(job: Job) -> str:
    """Bring the job's row up to date; what is known already will do when nobody can be asked, or all forgot it."""
    key = JobKey.of(job.job_context())
    try:
        context = find_job(job.cluster, JobKey(None, key.id, key.array_task, key.het_component, job.attempt))
    except ServiceError as error:
        return f"Went on with what was known of the job. {error.what}"[:200]
    keep_job(job.cluster, context.filled_from(job.job_context()))
    job.refresh_from_db()
    return ""


def _steps_of(run: Run, entry: Ready | tuple[ConnectorConfig, ConnectorError], job: JobContext) -> list[RunStep]:
    if not isinstance(entry, Ready):
        row, error = entry
        return [_failed(run, row, row.name, Step(""), error)]
    try:
        steps = entry.connector.plan(entry.config, job)
    except ConnectorError as error:
        return [_failed(run, entry.row, entry.label, Step(source), error) for source in sorted(entry.connector.sources)]
    return [
        RunStep(
            run=run,
            kind=RunStep.Kind.COLLECT,
            connector=entry.row,
            connector_label=entry.label[:80],
            source=step.source,
            target=step.target or "",
            plan=step.as_dict(),
            note=step.label[:200],
        )
        for step in steps
    ]


def _failed(run: Run, row: ConnectorConfig, label: str, step: Step, error: ConnectorError) -> RunStep:
    return RunStep(
        run=run,
        kind=RunStep.Kind.COLLECT,
        connector=row,
        connector_label=label[:80],
        source=step.source,
        state=RunStep.State.FAILED,
        problem={"what": error.what, "where": error.where, "remedy": error.remedy},
        coverage=[failed_coverage(step, error).as_dict()] if step.source else [],
        started_at=run.created_at,
        finished_at=run.created_at,
    )
