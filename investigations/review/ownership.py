"""Who has an investigation in hand, so that no two people work on the same one unknowingly."""

from __future__ import annotations

from datetime import timedelta

from django.contrib.auth.models import AbstractBaseUser
from django.utils import timezone

from investigations.access import AnyUser, Permission, can, require
from investigations.errors import Conflict, InvalidInput
from investigations.jobs.models import Investigation
from investigations.review.models import Review
from investigations.review.trail import append

HOLD = timedelta(hours=4)


def assign(user: AnyUser, investigation: Investigation, to: AbstractBaseUser | None) -> Review:
    """Give it to somebody, or to nobody, until it is given on. `to` must be able to review."""
    require(user, Permission.REVIEW)
    if to is not None and not can(to, Permission.REVIEW):
        raise InvalidInput(
            f"{to.get_username()} cannot review.", "Owner", "Choose an analyst, or give them that role.", field="owner"
        )

    def give(held: Investigation) -> None:
        held.owner, held.owner_until = to, None

    return append(user, investigation, Review.Action.ASSIGN, give)


def take(user: AnyUser, investigation: Investigation) -> Review:
    """Take it in hand for four hours, or for four more. Raises Conflict while somebody else has it."""
    require(user, Permission.REVIEW)

    def hold(held: Investigation) -> None:
        holder = held.holder(timezone.now())
        if holder is not None and holder != user.get_username():
            raise Conflict(
                f"{holder} has this in hand.", str(held), f"Ask {holder}, or assign it to yourself if they agree."
            )
        held.owner, held.owner_until = user, timezone.now() + HOLD

    return append(user, investigation, Review.Action.ASSIGN, hold)
