"""Everything that the page of one investigation shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import Http404

from investigations.access import AnyUser, Permission, investigation_for, permissions_of
from investigations.jobs.models import Cluster, Investigation, Job
from investigations.review.activity import Activity, activity
from investigations.review.models import Review
from investigations.runs.bundles import StreamView, streams_of
from investigations.runs.models import Run
from investigations.runs.progress import Progress, StepView, progress
from investigations.runs.standing import living_decision


@dataclass(frozen=True, slots=True)
class InvestigationPage:
    """An investigation seen through one of its runs (`run` None when there is none yet).

    verdict is the parsed verdict JSON, None while there is none. Runs and activity are newest first, reviews
    oldest first. decision is the one in force, of whatever run.
    """

    investigation: Investigation
    job: Job
    cluster: Cluster
    run: Run | None
    runs: tuple[Run, ...]
    verdict: dict[str, Any] | None
    steps: tuple[StepView, ...]
    progress: Progress | None
    reviews: tuple[Review, ...]
    decision: Review | None
    labels: tuple[str, ...]
    activity: tuple[Activity, ...]
    streams: tuple[StreamView, ...]
    permissions: frozenset[Permission]


def investigation_page(user: AnyUser, pk: int, run_number: int | None = None) -> InvestigationPage:
    """Raises Http404 when the user may not see it, or when it has no run of that number."""
    investigation = investigation_for(user, pk)
    runs = tuple(investigation.runs.select_related("requested_by").order_by("-number"))
    run = _chosen(runs, run_number)
    state = progress(run) if run else None
    reviews = tuple(investigation.reviews.select_related("by", "run", "retracted_by").order_by("id"))
    return InvestigationPage(
        investigation=investigation,
        job=investigation.job,
        cluster=investigation.cluster,
        run=run,
        runs=runs,
        verdict=run.verdict if run else None,
        steps=state.steps if state else (),
        progress=state,
        reviews=reviews,
        decision=living_decision(investigation),
        labels=tuple(investigation.labels.values_list("name", flat=True)),
        activity=activity(investigation, runs, reviews),
        streams=streams_of(run) if run and run.finished else (),
        permissions=permissions_of(user),
    )


def _chosen(runs: tuple[Run, ...], number: int | None) -> Run | None:
    if number is None:
        return runs[0] if runs else None
    for run in runs:
        if run.number == number:
            return run
    raise Http404("No such run.")
