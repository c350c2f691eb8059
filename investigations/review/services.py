"""Reviewing: each act is one appended row that says what stood before and what stands after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import IntegrityError

from investigations import taxonomy
from investigations.access import AnyUser, Permission, require
from investigations.errors import Conflict, InvalidInput
from investigations.jobs.models import Investigation
from investigations.review.models import Review
from investigations.review.ownership import assign, take
from investigations.review.trail import append
from investigations.runs.models import Run

__all__ = [
    "add_label",
    "assign",
    "cannot_tell",
    "comment",
    "confirm",
    "mark_ambiguous",
    "override",
    "remove_label",
    "retract",
    "take",
]

Action = Review.Action
_PARTS = ("node", "device")


def confirm(user: AnyUser, run: Run, why: str = "") -> Review:
    """The verdict is right."""
    verdict = _judged(user, run)
    return _decide(user, run, Action.CONFIRM, why, cause=verdict["cause"] or "", culprits=verdict["culprits"])


def override(user: AnyUser, run: Run, cause: str, culprits: Sequence[Mapping[str, Any]], why: str) -> Review:
    """The verdict is wrong: it was `cause`, at `culprits` [{"node", "device"}] (none when it is in no place)."""
    _judged(user, run)
    _known_cause(cause)
    places = [{part: str(place.get(part) or "").strip()[:253] or None for part in _PARTS} for place in culprits]
    places = [place for place in places if any(place.values())]
    return _decide(user, run, Action.OVERRIDE, _needed(why), cause=cause, culprits=places)


def mark_ambiguous(user: AnyUser, run: Run, why: str, causes: Sequence[str] = ()) -> Review:
    """Two or more causes fit equally; `causes` names them where the reviewer can."""
    _judged(user, run)
    for cause in causes:
        _known_cause(cause)
    return _decide(user, run, Action.AMBIGUOUS, _needed(why), alternatives=list(dict.fromkeys(causes)))


def cannot_tell(user: AnyUser, run: Run, why: str) -> Review:
    """The evidence does not show what it was."""
    _judged(user, run)
    return _decide(user, run, Action.CANNOT_TELL, _needed(why))


def retract(user: AnyUser, review: Review, why: str) -> Review:
    """Take a decision or a comment back. Both stay in the trail."""
    require(user, Permission.REVIEW)
    if not review.decides and review.action != Action.COMMENT:
        raise InvalidInput(
            "Only a decision or a comment can be taken back.", str(review), "Remove a label or assign anew instead."
        )
    why = _needed(why)
    try:
        return append(user, review.investigation, Action.RETRACT, run=review.run, why=why, retracts=review)
    except IntegrityError:
        raise Conflict("This was taken back already.", str(review), "Load the page again.") from None


def add_label(user: AnyUser, investigation: Investigation, label: str, why: str = "") -> Review | None:
    """Put a label on; None when it is there already."""
    require(user, Permission.REVIEW)
    name = _label(label)
    if investigation.labels.filter(name=name).exists():
        return None
    return append(
        user, investigation, Action.LABEL, lambda held: held.labels.get_or_create(name=name), label=name, why=why
    )


def remove_label(user: AnyUser, investigation: Investigation, label: str) -> Review | None:
    """Take a label off; None when it is not there."""
    require(user, Permission.REVIEW)
    standing = investigation.labels.filter(name=_label(label)).first()
    if standing is None:
        return None
    return append(user, investigation, Action.UNLABEL, lambda held: standing.delete(), label=standing.name)


def comment(user: AnyUser, investigation: Investigation, text: str, run: Run | None = None) -> Review:
    require(user, Permission.REVIEW)
    return append(user, investigation, Action.COMMENT, run=run, why=_needed(text, "comment"))


def _judged(user: AnyUser, run: Run) -> dict[str, Any]:
    require(user, Permission.REVIEW)
    if run.state != Run.State.DONE or run.verdict is None:
        raise Conflict("This run has no verdict yet.", f"Run {run.number}", "Wait until it is done, or re-run.")
    return run.verdict


def _decide(user: AnyUser, run: Run, action: Review.Action, why: str, **said: Any) -> Review:
    return append(user, run.investigation, action, run=run, why=why.replace("\x00", ""), **said)


def _known_cause(cause: str) -> None:
    if cause not in taxonomy.ALL_CAUSES:
        raise InvalidInput(
            f"“{cause[:80]}” is no cause of the taxonomy.", "Cause", "Choose one of the list.", field="cause"
        )


def _needed(text: str, field: str = "why") -> str:
    text = text.strip().replace("\x00", "")
    if not text:
        raise InvalidInput("Say why.", field.capitalize(), "One sentence is enough.", field=field)
    return text[:10_000]


def _label(text: str) -> str:
    # Control and format characters (right-to-left marks, zero-width spaces) would change how other text is shown.
    name = " ".join("".join(sign for sign in " ".join(text.split()) if sign.isprintable()).split()).lower()
    if not name or len(name) > 60:
        raise InvalidInput("A label has 1 to 60 characters.", "Label", "Shorten it.", field="label")
    return name
