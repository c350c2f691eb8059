"""Cluster, connector configuration, job and investigation."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo, available_timezones

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.urls import reverse

from investigations.access import VisibleQuerySet
from telemetry.job import JobContext


def validate_timezone(name: str) -> None:
    if name not in available_timezones():
        raise ValidationError(f"“{name}” is not an IANA time zone such as Europe/Berlin or UTC.")


class Cluster(models.Model):
    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=120)
    # Schedulers and syslogs print local time without a zone; this says which.
    timezone = models.CharField(max_length=64, default="UTC", validators=[validate_timezone])
    created_at = models.DateTimeField(auto_now_add=True)
    # While a worker asks this cluster's schedulers what failed, no other does; a dead worker's claim runs out.
    asking_until = models.DateTimeField(null=True, blank=True)

    objects = VisibleQuerySet.as_manager()

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.name

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)


class ConnectorConfig(models.Model):
    """One connector of a cluster. `config` has passed the connector's own model; secrets in it are references only."""

    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="connectors")
    kind = models.SlugField(max_length=40)
    name = models.CharField(max_length=80)
    config = models.JSONField(default=dict)
    enabled = models.BooleanField(default=True)
    discovers = models.BooleanField(default=True)
    position = models.PositiveSmallIntegerField(default=0)
    last_probe = models.JSONField(null=True)
    last_probe_at = models.DateTimeField(null=True)
    last_discovered_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["cluster_id", "position", "id"]
        constraints = [models.UniqueConstraint(fields=["cluster", "kind", "name"], name="connector_once_a_cluster")]

    def __str__(self) -> str:
        return f"{self.name} ({self.cluster.slug})"


class Job(models.Model):
    """A job as its scheduler knew it when it was last asked."""

    RUNNING_STATES = ("RUNNING", "PENDING", "COMPLETING", "SUSPENDED")

    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="jobs")
    job_id = models.CharField(max_length=253)
    # Empty, not null, where there is none: a unique constraint takes two nulls for different values.
    array_task = models.CharField(max_length=20, blank=True, default="")
    het_component = models.CharField(max_length=20, blank=True, default="")
    attempt = models.PositiveIntegerField(default=1)
    scheduler = models.CharField(max_length=40, blank=True, default="")
    user = models.CharField(max_length=120, blank=True, default="")
    state = models.CharField(max_length=60, blank=True, default="")
    exit_code = models.CharField(max_length=40, blank=True, default="")
    node_names = models.JSONField(default=list)
    # The same names with a space around each, so that a search for one node is one plain `LIKE` on both databases.
    node_text = models.TextField(blank=True, default="")
    nodes_count = models.PositiveIntegerField(default=0)
    gpus_per_node = models.PositiveIntegerField(null=True)
    submitted_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    gpu_hours = models.FloatField(null=True)
    context = models.JSONField(default=dict)

    objects = VisibleQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "job_id", "array_task", "het_component", "attempt"], name="job_once_a_cluster"
            )
        ]

    def __str__(self) -> str:
        return f"job {self.key} on {self.cluster.slug}"

    @property
    def key(self) -> str:
        """As people write it: `48211`, `48211_3`, `20+1`, and `#2` after it for a second attempt."""
        key = self.job_id
        if self.array_task:
            key += f"_{self.array_task}"
        if self.het_component:
            key += f"+{self.het_component}"
        return key if self.attempt == 1 else f"{key}#{self.attempt}"

    @property
    def running(self) -> bool:
        """Started or waiting, with no end known: a verdict on it is provisional."""
        return self.ended_at is None and self.state.upper() in self.RUNNING_STATES

    @property
    def size(self) -> str:
        """Nodes, and GPUs a node where they are known, as `16 by 8` with a multiplication sign."""
        return (
            f"{self.nodes_count}\N{MULTIPLICATION SIGN}{self.gpus_per_node}"
            if self.gpus_per_node
            else str(self.nodes_count)
        )

    @property
    def gpus(self) -> int | None:
        return self.nodes_count * self.gpus_per_node if self.gpus_per_node else None

    def job_context(self) -> JobContext:
        return JobContext.from_dict(self.context)


class Investigation(models.Model):
    """The question of one job: which fault came first.

    What the queue shows is kept here, worked out from runs and reviews, which hold the record.
    """

    class Standing(models.TextChoices):
        NEW = "new", "New"
        COLLECTING = "collecting", "Collecting"
        ATTRIBUTED = "attributed", "Attributed"
        AMBIGUOUS = "ambiguous", "Ambiguous"
        INSUFFICIENT = "insufficient_evidence", "Insufficient evidence"
        NO_FAILURE = "no_failure", "No failure"
        FAILED = "failed", "Failed"
        CONFIRMED = "confirmed", "Confirmed"
        OVERRIDDEN = "overridden", "Overridden"

    job = models.OneToOneField(Job, on_delete=models.PROTECT, related_name="investigation")
    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="investigations")
    standing = models.CharField(max_length=24, choices=Standing, default=Standing.NEW)
    busy = models.BooleanField(default=False)
    provisional = models.BooleanField(default=False)
    outcome = models.CharField(max_length=24, blank=True, default="")
    terminal_state = models.CharField(max_length=24, blank=True, default="")
    domain = models.CharField(max_length=24, blank=True, default="")
    sub_domain = models.CharField(max_length=24, blank=True, default="")
    cause = models.CharField(max_length=60, blank=True, default="")
    title = models.CharField(max_length=120, blank=True, default="")
    summary = models.TextField(blank=True, default="")
    culprit = models.CharField(max_length=200, blank=True, default="")
    culprits = models.JSONField(default=list)
    coverage = models.JSONField(default=list)
    # Sources that are not complete, with a space around each: ` syslog fabric `.
    missing_sources = models.CharField(max_length=80, blank=True, default="")
    latest_run = models.ForeignKey("Run", null=True, on_delete=models.PROTECT, related_name="+")
    reviewed_at = models.DateTimeField(null=True)
    reviewed_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    decided_cause = models.CharField(max_length=60, blank=True, default="")
    disagrees = models.BooleanField(default=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="owned")
    owner_until = models.DateTimeField(null=True)
    due_at = models.DateTimeField(null=True, db_index=True)
    opened_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    opened_at = models.DateTimeField()
    happened_at = models.DateTimeField()

    objects = VisibleQuerySet.as_manager()

    class Meta:
        ordering = ["-happened_at", "-id"]
        indexes = [
            models.Index(fields=["-happened_at", "-id"], name="queue_newest"),
            models.Index(fields=["standing", "-happened_at", "-id"], name="queue_by_standing"),
            models.Index(fields=["cluster", "-happened_at", "-id"], name="queue_by_cluster"),
            models.Index(fields=["sub_domain", "-happened_at", "-id"], name="queue_by_sub_domain"),
        ]

    def __str__(self) -> str:
        return f"investigation of {self.job}"

    def get_absolute_url(self) -> str:
        return reverse("investigation", args=[self.pk])

    @property
    def reviewed(self) -> bool:
        return self.reviewed_at is not None

    def holder(self, now: datetime) -> str | None:
        """The name of the owner whose hold has not run out."""
        if self.owner is None or (self.owner_until is not None and self.owner_until <= now):
            return None
        return self.owner.get_username()


class InvestigationLabel(models.Model):
    """A label that stands now; who put it there and when is in the reviews."""

    investigation = models.ForeignKey(Investigation, on_delete=models.CASCADE, related_name="labels")
    name = models.CharField(max_length=60, db_index=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["investigation", "name"], name="label_once")]

    def __str__(self) -> str:
        return self.name
