"""The review."""

from django.conf import settings
from django.db import models

from investigations.jobs.models import Investigation
from investigations.runs.models import Run


class Review(models.Model):
    """One thing that a person said or did about an investigation. Append-only, held by triggers.

    A mistake is taken back by a further review (`retract`), so the trail shows both.
    """

    class Action(models.TextChoices):
        CONFIRM = "confirm", "Confirmed"
        OVERRIDE = "override", "Overrode"
        AMBIGUOUS = "ambiguous", "Marked ambiguous"
        CANNOT_TELL = "cannot_tell", "Cannot tell"
        LABEL = "label", "Labelled"
        UNLABEL = "unlabel", "Removed label"
        COMMENT = "comment", "Commented"
        ASSIGN = "assign", "Assigned"
        RETRACT = "retract", "Retracted"

    DECISIONS = (Action.CONFIRM, Action.OVERRIDE, Action.AMBIGUOUS, Action.CANNOT_TELL)

    investigation = models.ForeignKey(Investigation, on_delete=models.PROTECT, related_name="reviews")
    run = models.ForeignKey(Run, null=True, on_delete=models.PROTECT, related_name="reviews")
    action = models.CharField(max_length=16, choices=Action)
    cause = models.CharField(max_length=60, blank=True, default="")
    culprits = models.JSONField(default=list)
    alternatives = models.JSONField(default=list)
    label = models.CharField(max_length=60, blank=True, default="")
    why = models.TextField(blank=True, default="")
    before = models.JSONField(default=dict)
    after = models.JSONField(default=dict)
    retracts = models.OneToOneField("self", null=True, on_delete=models.PROTECT, related_name="retracted_by")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="reviews")
    at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["investigation", "id"], name="review_trail")]

    def __str__(self) -> str:
        return f"{self.get_action_display()} by {self.by.get_username()}"

    @property
    def decides(self) -> bool:
        return self.action in self.DECISIONS
