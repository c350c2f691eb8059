"""The sweep: finds runs that nobody works on, whatever became of their messages, and sends a message again."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef
from django.utils import timezone

from investigations.limits import limits
from investigations.runs.leases import give_up_lost_steps
from investigations.runs.models import Run, RunStep
from investigations.runs.services import send


def sweep(now: datetime | None = None) -> list[int]:
    """Send one message for each active run that has no living lease; the ids of those runs.

    A run that was just started or just swept is left alone for a lease's length, so a long queue is not made longer.
    """
    now = now or timezone.now()
    give_up_lost_steps(now)
    quiet_since = now - timedelta(seconds=limits().lease_seconds)
    living = RunStep.objects.filter(run=OuterRef("pk"), state=RunStep.State.RUNNING, lease_until__gte=now)
    silent = Run.objects.filter(~Exists(living), state__in=Run.ACTIVE, nudged_at__lt=quiet_since)
    swept: list[int] = []
    for run_id in silent.order_by("nudged_at").values_list("pk", flat=True)[:500]:
        # Two sweeps at once send one message.
        if Run.objects.filter(pk=run_id, state__in=Run.ACTIVE, nudged_at__lt=quiet_since).update(nudged_at=now):
            send(run_id)
            swept.append(run_id)
    return swept
