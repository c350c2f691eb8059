"""The message that makes a run go on. It carries the run's id and nothing else; the rows say what is left to do."""

from __future__ import annotations

from celery import shared_task

from investigations.limits import limits
from investigations.runs.models import RunStep
from investigations.runs.services import send
from investigations.runs.steps import advance
from investigations.runs.sweep import sweep as sweep_runs


@shared_task(name="investigations.advance_run")
def advance_run(run_id: int) -> None:
    """Do one step, then call for the next: each step gets a worker's whole time limit, and runs take turns."""
    step = advance(run_id)
    if step is None:
        return
    waiting = RunStep.objects.filter(run_id=run_id, state=RunStep.State.QUEUED, kind=RunStep.Kind.COLLECT).count()
    if step.kind == RunStep.Kind.PLAN:
        send(run_id, messages=max(1, min(waiting, limits().parallel_steps)))
    elif step.kind == RunStep.Kind.COLLECT:
        send(run_id)


@shared_task(name="investigations.sweep")
def sweep() -> None:
    sweep_runs()
