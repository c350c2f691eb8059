"""The trail of an investigation: its runs, what was said of them, and who read the logs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from investigations import taxonomy
from investigations.audit.models import AuditEvent
from investigations.audit.services import VIEWED_RAW_LOG
from investigations.jobs.models import Investigation
from investigations.review.models import Review
from investigations.runs.models import Run

_MOST_VIEWS = 500
_NAMES: dict[str, str] = {
    Review.Action.CONFIRM: "confirmation",
    Review.Action.OVERRIDE: "override",
    Review.Action.AMBIGUOUS: "mark “ambiguous”",
    Review.Action.CANNOT_TELL: "mark “cannot tell”",
    Review.Action.COMMENT: "comment",
}


@dataclass(frozen=True, slots=True)
class Activity:
    """One entry of the trail: a run that began or ended, a review, or a look at raw logs.

    who is `system` when nobody asked. action is a review's action, `run`, the state in which a run ended, or `raw_log`.
    """

    at: datetime
    who: str
    action: str
    text: str
    run_number: int | None
    review_id: int | None
    retracted: bool


def activity(investigation: Investigation, runs: tuple[Run, ...], reviews: tuple[Review, ...]) -> tuple[Activity, ...]:
    by_key = {review.pk: review for review in reviews}
    entries = [_of_review(review, by_key) for review in reversed(reviews)]
    for run in runs:
        if run.finished_at is not None:
            entries.append(Activity(run.finished_at, "system", run.state, _ending(run), run.number, None, False))
        who = run.requested_by.get_username() if run.requested_by else "system"
        begun = f"Run {run.number}: {run.get_trigger_display().lower()}"
        entries.append(Activity(run.created_at, who, "run", begun, run.number, None, False))
    entries += _raw_log_views(investigation)
    return tuple(sorted(entries, key=lambda entry: entry.at, reverse=True))


def _raw_log_views(investigation: Investigation) -> list[Activity]:
    """Who read raw logs: one entry a person, run and hour, however many lines they went through."""
    views = AuditEvent.objects.filter(
        object_type="investigation", object_id=str(investigation.pk), action=VIEWED_RAW_LOG
    ).order_by("-at", "-id")[:_MOST_VIEWS]
    folded: dict[tuple[str, int, datetime], list[AuditEvent]] = {}
    for view in views:
        hour = view.at.replace(minute=0, second=0, microsecond=0)
        folded.setdefault((view.actor_name, view.detail["run"], hour), []).append(view)
    return [
        Activity(events[0].at, who, "raw_log", _times(run, len(events)), run, None, False)
        for (who, run, _), events in folded.items()
    ]


def _times(run: int, count: int) -> str:
    return f"Looked at the raw logs of run {run}" + (f", {count} times" if count > 1 else "")


def _ending(run: Run) -> str:
    if run.state != Run.State.DONE:
        return f"Run {run.number} ended without a verdict: {(run.problem or {}).get('what', '')}"
    verdict = run.verdict or {}
    outcome = Investigation.Standing(verdict["outcome"]).label if verdict.get("outcome") else ""
    return f"Run {run.number}: {outcome}. {verdict.get('title') or ''}".rstrip(". ") + "."


def _of_review(review: Review, by_key: Mapping[int, Review]) -> Activity:
    head = _head(review, by_key)
    text = f"{head}: {review.why}" if review.why else head
    number = review.run.number if review.run else None
    retracted = hasattr(review, "retracted_by")
    return Activity(review.at, review.by.get_username(), review.action, text, number, review.pk, retracted)


def _head(review: Review, by_key: Mapping[int, Review]) -> str:
    """What was done, as the words after a name."""
    match Review.Action(review.action):
        case Review.Action.CONFIRM:
            return f"Confirmed {_quoted(review.cause) if review.cause else 'the verdict'}"
        case Review.Action.OVERRIDE:
            return f"Overrode the verdict with {_quoted(review.cause)}"
        case Review.Action.AMBIGUOUS:
            *others, last = [_quoted(cause) for cause in review.alternatives] or [""]
            between = f" between {', '.join(others)} and {last}" if others else f": {last}" if last else ""
            return f"Marked ambiguous{between}"
        case Review.Action.LABEL:
            return f"Added the label “{review.label}”"
        case Review.Action.UNLABEL:
            return f"Removed the label “{review.label}”"
        case Review.Action.ASSIGN:
            return f"Assigned to {review.after.get('owner') or 'nobody'}"
        case Review.Action.RETRACT:
            return _taken_back(review, by_key.get(review.retracts_id or 0))
        case action:
            return action.label


def _taken_back(review: Review, what: Review | None) -> str:
    if what is None:
        return "Took something back"
    name = _NAMES.get(what.action, "entry")
    if what.by == review.by:
        return f"Took back their own {name}"
    return f"Took back the {name} by {what.by.get_username()}"


def _quoted(cause: str) -> str:
    return f"“{taxonomy.words(cause)}”"
