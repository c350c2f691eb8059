"""Writing the audit trail."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db.models import Model
from django.utils import timezone

from investigations.access import AnyUser, account
from investigations.audit.models import AuditEvent

SYSTEM = "system"
VIEWED_RAW_LOG = "viewed raw log"
_FOLDED = timedelta(minutes=10)


def record(actor: AnyUser | None, action: str, subject: Model, **detail: Any) -> AuditEvent:
    """Note one act. Call it inside the transaction of the act itself, so that neither stands without the other."""
    return AuditEvent.objects.create(
        at=timezone.now(),
        actor=account(actor),
        actor_name=actor.get_username() if actor is not None else SYSTEM,
        action=action,
        object_type=subject._meta.model_name,
        object_id=str(subject.pk),
        object_label=str(subject)[:200],
        detail=detail,
    )


def record_log_view(actor: AnyUser, investigation: Model, run: int, stream: str) -> None:
    """Note that somebody reads a raw log: once for ten minutes of paging through the same one."""
    recent = AuditEvent.objects.filter(
        object_type=investigation._meta.model_name,
        object_id=str(investigation.pk),
        action=VIEWED_RAW_LOG,
        actor_name=actor.get_username(),
        at__gt=timezone.now() - _FOLDED,
    )
    if (run, stream) not in {(seen["run"], seen["stream"]) for seen in recent.values_list("detail", flat=True)}:
        record(actor, VIEWED_RAW_LOG, investigation, run=run, stream=stream)
