"""Doing a run's work: claim a step, do it, write how it ended. Callable one by one, without a broker."""

from __future__ import annotations

import logging
import re
import sys
import traceback
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone

from investigations.errors import problem_of
from investigations.runs.attributing import attribute_run
from investigations.runs.collecting import collect
from investigations.runs.leases import Heartbeat, LeaseLost, claim_step, write_held
from investigations.runs.models import Run, RunStep
from investigations.runs.planning import plan
from investigations.runs.standing import refresh_standing

log = logging.getLogger(__name__)

_CRASH = {
    "what": "The console itself failed in this step.",
    "where": "First Fault",
    "remedy": "Re-run; if it happens again, send the traceback and the version to whoever looks after this console.",
}
_PLACES = tuple(
    sorted(
        {str(Path(place).resolve()) for place in (*sys.path, sys.prefix, Path(__file__).parents[2]) if place}, key=len
    )
)[::-1]


def advance(run_id: int) -> RunStep | None:
    """Do one step of the run. None when there is nothing that this worker could take: all done, or others have it."""
    step = claim_step(run_id)
    if step is None:
        close_run(run_id)
        return None
    run = Run.objects.select_related("investigation__job__cluster", "investigation__cluster").get(pk=run_id)
    step.run = run
    try:
        with Heartbeat(step) as beat:
            if run.state == Run.State.QUEUED:
                Run.objects.filter(pk=run_id, state=Run.State.QUEUED).update(
                    state=Run.State.COLLECTING, started_at=timezone.now()
                )
            _do(step, beat)
    except LeaseLost:
        log.warning("run %s, step %s: another worker took it over", run_id, step.pk)
    close_run(run_id)
    return step


def advance_fully(run_id: int) -> None:
    """Do the whole run in this process: for commands and tests."""
    while advance(run_id) is not None:
        pass


def _do(step: RunStep, beat: Heartbeat) -> None:
    try:
        if step.kind == RunStep.Kind.ATTRIBUTE:
            attribute_run(step, beat)
            return
        kept = plan(step, beat) if step.kind == RunStep.Kind.PLAN else collect(step, beat)
        _end(step, **({"state": RunStep.State.DONE} | kept))
    except LeaseLost:
        raise
    except Exception as error:
        problem = problem_of(error)
        if problem is not None:
            _end(step, state=RunStep.State.FAILED, problem=problem)
            return
        log.exception("run %s, step %s crashed", step.run_id, step.pk)
        _end(step, state=RunStep.State.ERRORED, problem=_CRASH, traceback=clean_traceback(error))


def _end(step: RunStep, **values: Any) -> None:
    write_held(step, finished_at=timezone.now(), lease_until=None, **values)


def close_run(run_id: int) -> None:
    """End a run whose last step failed: nothing is left to do, and there is no verdict."""
    ended = (RunStep.State.FAILED, RunStep.State.ERRORED)
    last = RunStep.objects.filter(run_id=run_id, kind=RunStep.Kind.ATTRIBUTE, state__in=ended).first()
    if last is None:
        return
    with transaction.atomic():
        changed = Run.objects.filter(pk=run_id, state__in=Run.ACTIVE).update(
            state=Run.State.FAILED if last.state == RunStep.State.FAILED else Run.State.ERRORED,
            finished_at=timezone.now(),
            problem=last.problem,
            traceback=last.traceback,
        )
        if changed:
            refresh_standing(Run.objects.select_related("investigation__cluster").get(pk=run_id).investigation)


def clean_traceback(error: BaseException) -> str:
    """The traceback without the places where the product is installed, and without NULs."""
    text = "".join(traceback.format_exception(error)).replace("\x00", "")
    for place in _PLACES:
        text = text.replace(place + "/", "")
    return re.sub(r'File "/[^"]*/(?=[^"/]+/[^"/]+")', 'File ".../', text)[-20_000:]
