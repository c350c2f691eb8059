"""The audit trail."""

from django.conf import settings
from django.db import models


class AuditEvent(models.Model):
    """One act of a user, of the system itself, or of an operator at the command line (`actor` is empty for both).

    Append-only, held by triggers.
    """

    at = models.DateTimeField(db_index=True)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    # The name at that time: accounts are renamed, the trail is not.
    actor_name = models.CharField(max_length=150)
    action = models.CharField(max_length=60)
    object_type = models.CharField(max_length=40)
    object_id = models.CharField(max_length=40)
    object_label = models.CharField(max_length=200)
    detail = models.JSONField(default=dict)

    class Meta:
        ordering = ["-at", "-id"]
        indexes = [models.Index(fields=["object_type", "object_id", "-at"], name="audit_by_object")]

    def __str__(self) -> str:
        return f"{self.actor_name} {self.action} {self.object_label}"
