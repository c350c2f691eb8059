"""Reading the audit trail."""

from __future__ import annotations

from dataclasses import dataclass

from investigations.access import AnyUser, Permission, require
from investigations.audit.models import AuditEvent


@dataclass(frozen=True, slots=True)
class AuditFilters:
    actor: str = ""
    action: str = ""
    object_type: str = ""
    object_id: str = ""


@dataclass(frozen=True, slots=True)
class AuditPage:
    rows: tuple[AuditEvent, ...]
    next_cursor: str | None


def audit_page(user: AnyUser, filters: AuditFilters, cursor: str | None = None, size: int = 100) -> AuditPage:
    """Newest first, for administrators. The cursor is the id of the last row seen: ids only grow."""
    require(user, Permission.ADMINISTER)
    events = AuditEvent.objects.order_by("-id")
    wanted = {
        "actor_name": filters.actor,
        "action": filters.action,
        "object_type": filters.object_type,
        "object_id": filters.object_id,
    }
    events = events.filter(**{field: value for field, value in wanted.items() if value})
    if cursor and cursor.isdigit():
        events = events.filter(id__lt=int(cursor))
    rows = tuple(events[: size + 1])
    return AuditPage(rows[:size], str(rows[size - 1].pk) if len(rows) > size else None)
