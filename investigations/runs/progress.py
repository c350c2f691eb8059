"""How far a run is, for the page that watches it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone

from investigations.reading import words
from investigations.runs.models import Run, RunStep


@dataclass(frozen=True, slots=True)
class StepView:
    """One step. percent is None where the number of targets says nothing; stale: its worker has not been heard of."""

    id: int
    kind: str
    connector_label: str
    source: str
    target: str
    state: str
    state_label: str
    note: str
    lines: int
    bytes: int
    targets_done: int
    targets_total: int | None
    percent: int | None
    attempts: int
    stale: bool
    problem: dict[str, str] | None
    coverage: list[dict[str, Any]]
    started_at: datetime | None
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class Progress:
    """`version` changes whenever something that a page shows has changed; `elapsed_seconds` alone does not count."""

    state: str
    state_label: str
    active: bool
    version: str
    started_at: datetime | None
    elapsed_seconds: float
    steps: tuple[StepView, ...]
    problem: dict[str, str] | None
    collected_lines: int
    collected_bytes: int
    done_steps: int
    total_steps: int
    sentence: str


def progress(run: Run) -> Progress:
    now = timezone.now()
    steps = tuple(step_view(step, now) for step in run.steps.all())
    begun = run.started_at or run.created_at
    told = [
        (s.id, s.state, s.lines, s.bytes, s.targets_done, s.targets_total, s.note, s.stale, s.attempts) for s in steps
    ]
    return Progress(
        state=run.state,
        state_label=run.get_state_display(),
        active=run.active,
        version=hashlib.sha256(repr((run.state, told)).encode()).hexdigest()[:16],
        started_at=run.started_at,
        elapsed_seconds=round(((run.finished_at or now) - begun).total_seconds(), 1),
        steps=steps,
        problem=run.problem,
        collected_lines=sum(step.lines for step in steps),
        collected_bytes=sum(step.bytes for step in steps),
        done_steps=sum(step.state not in RunStep.OPEN for step in steps),
        total_steps=len(steps),
        sentence=_sentence(run, steps),
    )


def step_view(step: RunStep, now: datetime) -> StepView:
    stale = step.state == RunStep.State.RUNNING and step.lease_until is not None and step.lease_until < now
    total = step.targets_total
    # One target is done or not: a bar would stand at nothing however much of it was read.
    percent = min(100, round(100 * step.targets_done / total)) if total and total > 1 else None
    return StepView(
        id=step.pk,
        kind=step.kind,
        connector_label=step.connector_label or step.get_kind_display(),
        source=step.source,
        target=step.target,
        state=step.state,
        state_label="Worker lost, waiting for another" if stale else step.get_state_display(),
        note=step.note,
        lines=step.lines,
        bytes=step.bytes,
        targets_done=step.targets_done,
        targets_total=total,
        percent=100 if step.state == RunStep.State.DONE else percent,
        attempts=step.attempts,
        stale=stale,
        problem=step.problem,
        coverage=step.coverage,
        started_at=step.started_at,
        finished_at=step.finished_at,
    )


def _sentence(run: Run, steps: tuple[StepView, ...]) -> str:
    if run.state == Run.State.DONE:
        return "The verdict is ready."
    if run.finished:
        return (run.problem or {}).get("what") or "The run ended without a verdict."
    if any(step.stale for step in steps):
        return "A worker was lost; its step is taken over shortly."
    if run.state == Run.State.QUEUED:
        return "Waiting for a worker."
    if run.state == Run.State.ATTRIBUTING:
        return "Looking for the first fault."
    reading = [step for step in steps if step.state == RunStep.State.RUNNING and step.source]
    if reading:
        first = reading[0]
        counted = f", {first.targets_done} of {first.targets_total}" if first.percent is not None else ""
        return f"Reading {words.SOURCE_WORDS.get(first.source, first.source)}{counted}."
    return "Looking the job up."
