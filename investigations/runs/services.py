"""Starting runs. The row comes first; the message follows once it is committed, and carries the run's id alone."""

from __future__ import annotations

import logging

from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone
from kombu.exceptions import OperationalError

from investigations.access import AnyUser, Permission, account, require
from investigations.audit.services import record
from investigations.jobs.models import Investigation
from investigations.runs.models import Run, RunStep
from investigations.runs.standing import refresh_standing

log = logging.getLogger(__name__)


def start_run(user: AnyUser, investigation: Investigation, trigger: str = Run.Trigger.RERUN) -> Run:
    """Start a run beside the earlier ones. One that is under way is given back: asking twice gives one run."""
    require(user, Permission.RUN)
    return begin_run(user, investigation, trigger)


def begin_run(user: AnyUser | None, investigation: Investigation, trigger: str) -> Run:
    """As start_run, for callers that have checked the role, or that act for the system (`user` None)."""
    try:
        with transaction.atomic():
            return _begin(user, investigation, trigger)
    except IntegrityError:
        # The database allows one active run an investigation; somebody else's came first.
        return investigation.runs.get(state__in=Run.ACTIVE)


def _begin(user: AnyUser | None, investigation: Investigation, trigger: str) -> Run:
    active = investigation.runs.filter(state__in=Run.ACTIVE).first()
    if active is not None:
        return active
    now = timezone.now()
    last = investigation.runs.aggregate(last=Max("number"))["last"] or 0
    run = Run.objects.create(
        investigation=investigation,
        number=last + 1,
        trigger=trigger,
        requested_by=account(user),
        bundle_path=f"{investigation.pk:08d}-{last + 1}",
        created_at=now,
        nudged_at=now,
    )
    RunStep.objects.create(run=run, kind=RunStep.Kind.PLAN, position=0)
    RunStep.objects.create(run=run, kind=RunStep.Kind.ATTRIBUTE, position=1_000_000)
    refresh_standing(investigation)
    record(user, "started run", investigation, run=run.number, trigger=trigger)
    transaction.on_commit(lambda: send(run.pk))
    return run


def send(run_id: int, messages: int = 1) -> None:
    """Tell the workers that the run has work. When the broker cannot be reached the sweep will tell them later."""
    from investigations.runs.tasks import advance_run

    try:
        for _ in range(messages):
            advance_run.apply_async((run_id,), retry=False)
    except OperationalError as error:
        log.warning("run %s: the workers could not be told, the sweep will: %s", run_id, error)
