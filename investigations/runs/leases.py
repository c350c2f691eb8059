"""Leases: one worker at a time has a step, and a step whose worker died is taken over.

A claim is one guarded UPDATE; it holds only if it changed one row. Every later write of the worker is guarded by the
same lease, so a worker that was thought dead and comes back changes nothing.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
import uuid
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Self

from django.db import DatabaseError, connection
from django.db.models import Case, F, Q, QuerySet, Value, When
from django.utils import timezone

from investigations.limits import limits
from investigations.runs.models import Run, RunStep

log = logging.getLogger(__name__)


class LeaseLost(Exception):
    """Another worker has the step now; this one stops and writes nothing more."""


def claim_step(run_id: int, now: datetime | None = None) -> RunStep | None:
    """Take the next piece of the run's work: planning, then collecting, and attributing once nothing else is open."""
    now = now or timezone.now()
    give_up_lost_steps(now, run_id)
    if not Run.objects.filter(pk=run_id, state__in=Run.ACTIVE).exists():
        return None
    open_steps = list(RunStep.objects.filter(run_id=run_id, state__in=RunStep.OPEN).order_by("position", "id"))
    if any(step.kind == RunStep.Kind.PLAN for step in open_steps):
        wanted = [step for step in open_steps if step.kind == RunStep.Kind.PLAN]
    else:
        collecting = [step for step in open_steps if step.kind == RunStep.Kind.COLLECT]
        wanted = collecting or open_steps
    for step in wanted:
        if _claim(step, now):
            step.refresh_from_db()
            return step
    return None


def _claim(step: RunStep, now: datetime) -> bool:
    bounds = limits()
    free = Q(state=RunStep.State.QUEUED) | Q(state=RunStep.State.RUNNING, lease_until__lt=now)
    changed = (
        RunStep.objects.filter(free, pk=step.pk, attempts__lt=bounds.step_attempts)
        .filter(run__state__in=Run.ACTIVE)
        .update(
            state=RunStep.State.RUNNING,
            attempts=F("attempts") + 1,
            lease_owner=_owner(),
            lease_until=now + timedelta(seconds=bounds.lease_seconds),
            heartbeat_at=now,
            started_at=Case(When(started_at=None, then=Value(now)), default=F("started_at")),
        )
    )
    return changed == 1


def _owner() -> str:
    return f"{socket.gethostname()[:60]}:{os.getpid()}:{uuid.uuid4().hex[:12]}"


def give_up_lost_steps(now: datetime, run_id: int | None = None) -> int:
    """End the steps that lost a worker as often as is allowed: what kills every worker must not run for ever."""
    bounds = limits()
    lost = RunStep.objects.filter(
        state=RunStep.State.RUNNING, lease_until__lt=now, attempts__gte=bounds.step_attempts, run__state__in=Run.ACTIVE
    )
    if run_id is not None:
        lost = lost.filter(run_id=run_id)
    problem = {
        "what": f"The worker was lost {bounds.step_attempts} times during this step.",
        "where": "a Celery worker",
        "remedy": "Look for the worker's end in its log and the kernel log of its machine; memory is the usual reason.",
    }
    return lost.update(state=RunStep.State.ERRORED, finished_at=now, problem=problem, lease_until=None)


def is_held(step: RunStep) -> bool:
    """Whether this worker still has the step."""
    return _held(step).exists()


def _held(step: RunStep) -> QuerySet[RunStep]:
    return RunStep.objects.filter(
        pk=step.pk, state=RunStep.State.RUNNING, lease_owner=step.lease_owner, run__state__in=Run.ACTIVE
    )


def write_held(step: RunStep, **values: Any) -> None:
    """Write to a step under its lease. Raises LeaseLost when the lease is another's, or the step is over."""
    if _held(step).update(**values) != 1:
        raise LeaseLost
    for name, value in values.items():
        setattr(step, name, value)


class Heartbeat:
    """Keeps a step's lease alive while its worker lives, and carries the progress it reports.

    A thread extends the lease, because reading one large file or scanning it may report nothing for long. It stops
    when the step has taken its whole time, so a hung step is lost and taken over like a dead one.
    """

    def __init__(self, step: RunStep) -> None:
        self.step = step
        self.lost = threading.Event()
        self._ended = threading.Event()
        self._began = time.monotonic()
        self._written = 0.0
        self._bounds = limits()
        self._thread = threading.Thread(target=self._keep, name=f"lease-{step.pk}", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._ended.set()
        self._thread.join()

    def over_time(self) -> bool:
        return time.monotonic() - self._began > self._bounds.step_seconds

    def cancelled(self) -> bool:
        """What a connector asks between two blocks."""
        return self.lost.is_set() or self.over_time()

    def report(self, every: float = 1.0, **progress: Any) -> None:
        """Show progress, at most once in `every` seconds."""
        if time.monotonic() - self._written < every:
            return
        self._written = time.monotonic()
        try:
            write_held(self.step, **self._extended(), **progress)
        except LeaseLost:
            self.lost.set()

    def _extended(self) -> dict[str, datetime]:
        now = timezone.now()
        return {"heartbeat_at": now, "lease_until": now + timedelta(seconds=self._bounds.lease_seconds)}

    def _keep(self) -> None:
        try:
            while not self._ended.wait(self._bounds.heartbeat_seconds) and not self.over_time():
                try:
                    write_held(self.step, **self._extended())
                except LeaseLost:
                    self.lost.set()
                    return
                except DatabaseError:
                    # A database that is away for a moment costs one beat, not the lease.
                    log.warning("step %s: the lease could not be extended", self.step.pk, exc_info=True)
        finally:
            connection.close()  # this thread's own
