"""Everything that the page of one investigation shows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import Http404

from investigations.access import AnyUser, Permission, investigation_for, permissions_of
from investigations.jobs.models import Cluster, Investigation, Job
from investigations.review.models import Review
from investigations.runs.bundles import StreamView, streams_of
from investigations.runs.models import Evidence, Run
from investigations.runs.progress import Progress, StepView, progress
from investigations.runs.standing import living_decision


@dataclass(frozen=True, slots=True)
class Activity:
    """One entry of the trail: a run that began or ended, or a review. who is `system` when nobody asked."""

    at: datetime
    who: str
    action: str
    text: str
    run_number: int | None
    review_id: int | None
    retracted: bool


@dataclass(frozen=True, slots=True)
class InvestigationPage:
    """An investigation seen through one of its runs (`run` None when there is none yet).

    verdict is the parsed verdict JSON, None while there is none. evidence maps its ids to the kept rows. Runs and
    activity are newest first, reviews oldest first. decision is the one in force, of whatever run.
    """

    investigation: Investigation
    job: Job
    cluster: Cluster
    run: Run | None
    runs: tuple[Run, ...]
    verdict: dict[str, Any] | None
    steps: tuple[StepView, ...]
    progress: Progress | None
    evidence: dict[str, Evidence]
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
    evidence = {item.evidence_id: item for item in run.evidence.all()} if run else {}
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
        evidence=evidence,
        reviews=reviews,
        decision=living_decision(investigation),
        labels=tuple(investigation.labels.values_list("name", flat=True)),
        activity=_activity(investigation, runs, reviews),
        streams=streams_of(run, evidence.values()) if run and run.finished else (),
        permissions=permissions_of(user),
    )


def _chosen(runs: tuple[Run, ...], number: int | None) -> Run | None:
    if number is None:
        return runs[0] if runs else None
    for run in runs:
        if run.number == number:
            return run
    raise Http404("No such run.")


def _activity(investigation: Investigation, runs: tuple[Run, ...], reviews: tuple[Review, ...]) -> tuple[Activity, ...]:
    entries = [_of_review(review) for review in reversed(reviews)]
    for run in runs:
        if run.finished_at is not None:
            entries.append(Activity(run.finished_at, "system", run.state, _ending(run), run.number, None, False))
        who = run.requested_by.get_username() if run.requested_by else "system"
        begun = f"Run {run.number}: {run.get_trigger_display().lower()}"
        entries.append(Activity(run.created_at, who, "run", begun, run.number, None, False))
    return tuple(sorted(entries, key=lambda entry: entry.at, reverse=True))


def _ending(run: Run) -> str:
    if run.state != Run.State.DONE:
        return f"Run {run.number} ended without a verdict: {(run.problem or {}).get('what', '')}"
    verdict = run.verdict or {}
    outcome = Investigation.Standing(verdict["outcome"]).label if verdict.get("outcome") else ""
    return f"Run {run.number}: {outcome}. {verdict.get('title') or ''}".rstrip(". ") + "."


def _of_review(review: Review) -> Activity:
    said = {
        Review.Action.OVERRIDE: review.cause,
        Review.Action.CONFIRM: review.cause,
        Review.Action.AMBIGUOUS: ", ".join(review.alternatives),
        Review.Action.LABEL: review.label,
        Review.Action.UNLABEL: review.label,
        Review.Action.ASSIGN: f"to {review.after.get('owner') or 'nobody'}",
        Review.Action.RETRACT: str(review.retracts) if review.retracts_id else "",
    }.get(Review.Action(review.action), "")
    head = " ".join(part for part in (review.get_action_display(), said) if part)
    text = f"{head}: {review.why}" if review.why else head
    number = review.run.number if review.run else None
    retracted = hasattr(review, "retracted_by")
    return Activity(review.at, review.by.get_username(), review.action, text, number, review.pk, retracted)
