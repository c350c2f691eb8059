"""What the queue can be narrowed to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet
from django.utils import timezone

from investigations.access import AnyUser
from investigations.jobs.models import Investigation

_LONGEST = 200


@dataclass(frozen=True, slots=True)
class QueueFilters:
    """Empty means "all". Unknown words find nothing rather than everything.

    owner: `me`, `none` or a user name. due: `today` or `overdue`. missing: a source whose status is not complete.
    q: the beginning of a job id, a node, a user, or words of the title or culprit.
    """

    cluster: str = ""
    standing: str = ""
    domain: str = ""
    sub_domain: str = ""
    owner: str = ""
    label: str = ""
    due: str = ""
    missing: str = ""
    q: str = ""
    unreviewed: bool = False

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> QueueFilters:
        """Read a query string's values; names that are no filter are left out."""
        texts = {field.name: query.get(field.name, "").strip()[:_LONGEST] for field in fields(cls)}
        unreviewed = texts.pop("unreviewed") not in ("", "0", "false", "off")
        return cls(**texts, unreviewed=unreviewed)  # type: ignore[arg-type]

    def as_query(self) -> dict[str, str]:
        """The filters that are set, as a query string takes them."""
        chosen = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: "1" if value is True else str(value) for name, value in chosen.items() if value}

    def apply(self, rows: QuerySet[Investigation], user: AnyUser) -> QuerySet[Investigation]:
        plain = {
            "cluster__slug": self.cluster,
            "standing": self.standing,
            "domain": self.domain,
            "sub_domain": self.sub_domain,
            "labels__name": self.label.lower(),
        }
        rows = rows.filter(**{lookup: value for lookup, value in plain.items() if value})
        if self.owner == "me":
            rows = rows.filter(owner_id=user.pk)
        elif self.owner == "none":
            rows = rows.filter(owner=None)
        elif self.owner:
            rows = rows.filter(owner__username=self.owner)
        if self.due:
            rows = rows.filter(due_at__lt=timezone.now() if self.due == "overdue" else _end_of_today())
        if self.missing:
            rows = rows.exclude(missing_sources="").filter(missing_sources__contains=f" {self.missing} ")
        if self.unreviewed:
            rows = rows.filter(reviewed_at=None)
        return rows.filter(_search(self.q)) if self.q else rows


def _search(text: str) -> Q:
    return (
        Q(job__job_id__startswith=text.split("_")[0].split("+")[0].split("#")[0] or text)
        | Q(job__user=text)
        | Q(job__node_text__contains=f" {text} ")
        | Q(title__icontains=text)
        | Q(culprit__icontains=text)
    )


def _end_of_today() -> datetime:
    local = timezone.localtime()
    return local.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
