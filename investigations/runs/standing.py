"""Where an investigation stands: worked out anew from its runs and reviews, never kept up by hand."""

from __future__ import annotations

from typing import Any

from investigations import taxonomy
from investigations.jobs.models import Investigation
from investigations.review.due import due_after
from investigations.review.models import Review
from investigations.runs.evidence import storable
from investigations.runs.models import Run

Standing = Investigation.Standing
_BY_DECISION = {
    Review.Action.CONFIRM: Standing.CONFIRMED,
    Review.Action.OVERRIDE: Standing.OVERRIDDEN,
    Review.Action.AMBIGUOUS: Standing.AMBIGUOUS,
    Review.Action.CANNOT_TELL: Standing.INSUFFICIENT,
}
SUMMARY_FIELDS = (
    *("standing", "busy", "provisional", "outcome", "terminal_state", "domain", "sub_domain", "cause", "title"),
    *("summary", "culprit", "culprits", "coverage", "missing_sources", "latest_run", "reviewed_at", "reviewed_by"),
    *("decided_cause", "disagrees", "due_at"),
)


def refresh_standing(investigation: Investigation) -> None:
    """Write what the queue shows. Call it inside the transaction that changed a run."""
    # Two at once would each write what it saw before the other: the second waits here and sees both.
    Investigation.objects.select_for_update(no_key=True).filter(pk=investigation.pk).values_list("pk", flat=True).get()
    work_out(investigation, living_decision(investigation))
    investigation.save(update_fields=SUMMARY_FIELDS)


def work_out(investigation: Investigation, decision: Review | None) -> None:
    """Set the summary fields on the object, as they stand under this decision; saving them is the caller's."""
    judged = investigation.runs.filter(state=Run.State.DONE).order_by("-number").first()
    verdict = judged.verdict if judged else None
    investigation.latest_run = judged
    investigation.busy = investigation.runs.filter(state__in=Run.ACTIVE).exists()
    investigation.provisional = bool(judged and judged.provisional)
    _tell_verdict(investigation, verdict)
    _tell_decision(investigation, decision, verdict)
    investigation.standing = _standing(investigation, verdict, decision)
    investigation.due_at = None
    open_question = investigation.standing in (Standing.AMBIGUOUS, Standing.INSUFFICIENT)
    if judged and judged.finished_at and decision is None and open_question:
        investigation.due_at = due_after(judged.finished_at, investigation.cluster.zone)


def living_decision(investigation: Investigation, without: Review | None = None) -> Review | None:
    """The last decision that nobody took back, `without` one that is being taken back now."""
    decisions = investigation.reviews.filter(action__in=Review.DECISIONS, retracted_by=None)
    if without is not None:
        decisions = decisions.exclude(pk=without.pk)
    return decisions.select_related("by").order_by("-id").first()


def _standing(investigation: Investigation, verdict: dict[str, Any] | None, decision: Review | None) -> str:
    if decision is not None:
        return _BY_DECISION[Review.Action(decision.action)]
    if verdict is not None:
        return verdict["outcome"] if verdict["outcome"] in Standing.values else Standing.INSUFFICIENT
    if investigation.busy:
        return Standing.COLLECTING
    return Standing.FAILED if investigation.runs.exists() else Standing.NEW


def _tell_verdict(investigation: Investigation, verdict: dict[str, Any] | None) -> None:
    told = verdict or {}
    investigation.outcome = told.get("outcome") or ""
    investigation.terminal_state = told.get("terminal_state") or ""
    investigation.domain = told.get("domain") or ""
    investigation.sub_domain = told.get("sub_domain") or ""
    investigation.cause = told.get("cause") or ""
    investigation.title = storable(told.get("title"), 120)
    investigation.summary = storable(told.get("summary"), 4000)
    _tell_culprits(investigation, told.get("culprits") or [])
    investigation.coverage = [
        {"source": report["source"], "status": report["status"]} for report in told.get("coverage") or []
    ]
    missing = [report["source"] for report in investigation.coverage if report["status"] != "complete"]
    investigation.missing_sources = f" {' '.join(missing)} " if missing else ""


def _tell_culprits(investigation: Investigation, culprits: list[dict[str, Any]]) -> None:
    investigation.culprits = culprits
    investigation.culprit = storable(culprit_text(culprits), 200)


def _tell_decision(investigation: Investigation, decision: Review | None, verdict: dict[str, Any] | None) -> None:
    investigation.reviewed_at = decision.at if decision else None
    investigation.reviewed_by = decision.by if decision else None
    investigation.decided_cause = decision.cause if decision else ""
    investigation.disagrees = False
    if decision is None:
        return
    if decision.action == Review.Action.OVERRIDE:
        investigation.cause = decision.cause
        investigation.sub_domain = taxonomy.sub_domain_of(decision.cause)
        investigation.domain = taxonomy.domain_of(investigation.sub_domain)
        investigation.title = taxonomy.words(decision.cause)
        _tell_culprits(investigation, decision.culprits)
    judged_later = investigation.latest_run_id is not None and decision.run_id != investigation.latest_run_id
    if judged_later and verdict is not None and decision.action in (Review.Action.CONFIRM, Review.Action.OVERRIDE):
        investigation.disagrees = (verdict.get("cause") or "") != decision.cause


def culprit_text(culprits: list[dict[str, Any]]) -> str:
    """`gpu-node-07 GPU 3`, with `and 2 more` after it; empty when the fault is in no place."""
    if not culprits:
        return ""
    first = culprits[0]
    text = " ".join(str(first[part]) for part in ("node", "device") if first.get(part))
    if not text and first.get("ranks"):
        ranks = first["ranks"]
        text = f"rank {ranks[0]}" if len(ranks) == 1 else f"ranks {', '.join(map(str, ranks[:4]))}"
    return f"{text} and {len(culprits) - 1} more" if len(culprits) > 1 else text
