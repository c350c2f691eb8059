"""Appending to the trail of reviews."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.utils import timezone

from investigations.access import AnyUser
from investigations.audit.services import record
from investigations.jobs.models import Investigation
from investigations.review.models import Review
from investigations.runs.standing import SUMMARY_FIELDS, living_decision, work_out


def append(
    user: AnyUser,
    investigation: Investigation,
    action: Review.Action,
    change: Callable[[Investigation], object] | None = None,
    **said: Any,
) -> Review:
    """Append one review, with what stood before and after it, and the audit row, in one transaction.

    `change` is what the act changes besides the trail; it runs between the two looks.
    """
    with transaction.atomic():
        held = Investigation.objects.select_for_update(no_key=True, of=("self",)).select_related("cluster", "owner")
        current = held.get(pk=investigation.pk)
        review = Review(investigation=current, action=action, by=user, at=timezone.now(), **said)
        review.before = snapshot(current)
        if change is not None:
            change(current)
        work_out(current, review if review.decides else living_decision(current, without=review.retracts))
        review.after = snapshot(current)
        review.save(force_insert=True)
        current.save(update_fields=[*SUMMARY_FIELDS, "owner", "owner_until"])
        number = review.run.number if review.run else None
        record(user, f"review: {action.label.lower()}", current, review=review.pk, run=number)
    investigation.refresh_from_db()
    return review


def snapshot(investigation: Investigation) -> dict[str, Any]:
    """What a review can change, as plain values."""
    return {
        "standing": investigation.standing,
        "cause": investigation.cause,
        "sub_domain": investigation.sub_domain,
        "culprit": investigation.culprit,
        "owner": investigation.owner.get_username() if investigation.owner else None,
        "labels": sorted(investigation.labels.values_list("name", flat=True)),
    }
