"""Writing the audit trail."""

from __future__ import annotations

from typing import Any

from django.db.models import Model
from django.utils import timezone

from investigations.access import AnyUser, account
from investigations.audit.models import AuditEvent

SYSTEM = "system"


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
