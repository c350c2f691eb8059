"""The queue: failed jobs, newest first."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet, Sum
from django.utils import timezone

from investigations.access import AnyUser
from investigations.jobs.filters import QueueFilters
from investigations.jobs.models import Cluster, Investigation
from telemetry.bundle import SOURCES

COUNT_CAP = 1000


@dataclass(frozen=True, slots=True)
class QueueRow:
    """One failed job as the queue shows it. Times are aware and in UTC."""

    id: int
    cluster_slug: str
    cluster_name: str
    job_key: str
    user: str
    job_state: str
    standing: str
    standing_label: str
    reviewed: bool
    busy: bool
    provisional: bool
    disagrees: bool
    title: str
    summary: str
    domain: str
    sub_domain: str
    cause: str
    culprit: str
    nodes: int
    gpus_per_node: int | None
    size: str
    gpu_hours: float | None
    coverage: tuple[tuple[str, str], ...]
    owner: str | None
    happened_at: datetime
    due_at: datetime | None
    overdue: bool
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QueuePage:
    """`total` counts up to COUNT_CAP; `total_capped` says that there are more. `first` is true without a cursor."""

    rows: tuple[QueueRow, ...]
    next_cursor: str | None
    first: bool
    total: int
    total_capped: bool
    filters: QueueFilters


@dataclass(frozen=True, slots=True)
class Tab:
    key: str
    label: str
    count: int
    capped: bool
    query: dict[str, str]


def queue(user: AnyUser, filters: QueueFilters, cursor: str | None = None, size: int = 50) -> QueuePage:
    """A page of the queue. A cursor that cannot be read gives the first page."""
    rows = filters.apply(Investigation.objects.visible_to(user), user)
    total, capped = _count(rows)
    after = _read_cursor(cursor)
    page = rows if after is None else rows.filter(_older(*after))
    page = page.order_by("-happened_at", "-id").select_related("job", "cluster", "owner").prefetch_related("labels")
    found = list(page[: size + 1])
    now = timezone.now()
    shown = tuple(_row(investigation, now) for investigation in found[:size])
    more = _write_cursor(found[size - 1]) if len(found) > size else None
    return QueuePage(shown, more, after is None, total, capped, filters)


def _older(happened_at: datetime, pk: int) -> Q:
    # The first term is not redundant: with it the database walks the index from there, without it it reads all before.
    return Q(happened_at__lte=happened_at) & (Q(happened_at__lt=happened_at) | Q(pk__lt=pk))


def _count(rows: QuerySet[Investigation]) -> tuple[int, bool]:
    count = rows.order_by()[: COUNT_CAP + 1].count()
    return min(count, COUNT_CAP), count > COUNT_CAP


def _write_cursor(last: Investigation) -> str:
    return base64.urlsafe_b64encode(f"{last.happened_at.isoformat()}|{last.pk}".encode()).decode().rstrip("=")


def _read_cursor(cursor: str | None) -> tuple[datetime, int] | None:
    if not cursor:
        return None
    try:
        moment, pk = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode().split("|")
        read = datetime.fromisoformat(moment), int(pk)
    except ValueError:  # also what base64 and UTF-8 raise
        return None
    return read if read[0].tzinfo is not None and 0 <= read[1] < 2**63 else None


def _row(investigation: Investigation, now: datetime) -> QueueRow:
    job = investigation.job
    statuses = {report["source"]: report["status"] for report in investigation.coverage}
    return QueueRow(
        id=investigation.pk,
        cluster_slug=investigation.cluster.slug,
        cluster_name=investigation.cluster.name,
        job_key=job.key,
        user=job.user,
        job_state=job.state,
        standing=investigation.standing,
        standing_label=Investigation.Standing(investigation.standing).label,
        reviewed=investigation.reviewed,
        busy=investigation.busy,
        provisional=investigation.provisional,
        disagrees=investigation.disagrees,
        title=investigation.title,
        summary=investigation.summary,
        domain=investigation.domain,
        sub_domain=investigation.sub_domain,
        cause=investigation.cause,
        culprit=investigation.culprit,
        nodes=job.nodes_count,
        gpus_per_node=job.gpus_per_node,
        size=job.size,
        gpu_hours=job.gpu_hours,
        coverage=tuple((source, statuses.get(source, "not_collected")) for source in SOURCES),
        owner=investigation.holder(now),
        happened_at=investigation.happened_at,
        due_at=investigation.due_at,
        overdue=investigation.due_at is not None and investigation.due_at < now,
        labels=tuple(label.name for label in investigation.labels.all()),
    )


_TABS: tuple[tuple[str, str, dict[str, str]], ...] = (
    ("open", "All open", {"unreviewed": "1"}),
    ("mine", "My open", {"owner": "me", "unreviewed": "1"}),
    ("due", "Due today", {"due": "today"}),
    ("ambiguous", "Ambiguous", {"standing": "ambiguous", "unreviewed": "1"}),
    ("hardware", "Hardware, not reviewed", {"domain": "infrastructure", "unreviewed": "1"}),
    ("no_syslog", "No syslog", {"missing": "syslog", "unreviewed": "1"}),
)


def queue_tabs(user: AnyUser) -> tuple[Tab, ...]:
    """The fixed views over the queue, each with its count."""
    tabs = []
    for key, label, query in _TABS:
        rows = QueueFilters.from_query(query).apply(Investigation.objects.visible_to(user), user)
        tabs.append(Tab(key, label, *_count(rows), query))
    return tuple(tabs)


def clusters_for(user: AnyUser) -> tuple[Cluster, ...]:
    return tuple(Cluster.objects.visible_to(user))


def lost_gpu_hours(user: AnyUser, days: int = 7) -> float:
    """GPU-hours of the jobs that failed in the last days, as far as their size and times are known."""
    since = timezone.now() - timedelta(days=days)
    failed = Investigation.objects.visible_to(user).filter(happened_at__gte=since)
    failed = failed.exclude(standing=Investigation.Standing.NO_FAILURE)
    return float(failed.aggregate(lost=Sum("job__gpu_hours"))["lost"] or 0.0)
