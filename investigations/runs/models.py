"""Run, its steps, and the evidence of its verdict."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from investigations.access import VisibleQuerySet
from investigations.jobs.models import ConnectorConfig, Investigation


class Run(models.Model):
    """One pass over a job: collect, attribute.

    Never changed once it is finished (a trigger holds that): a re-run is a new run beside it.
    """

    class State(models.TextChoices):
        QUEUED = "queued", "Queued"
        COLLECTING = "collecting", "Collecting"
        ATTRIBUTING = "attributing", "Attributing"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"  # expected: the reason is for the user
        ERRORED = "errored", "Crashed"  # ours: the traceback is for us

    class Trigger(models.TextChoices):
        USER = "user", "Opened by a user"
        DISCOVERY = "discovery", "Discovered"
        RERUN = "rerun", "Re-run"
        JOB_ENDED = "job_ended", "The job ended"

    ACTIVE = (State.QUEUED, State.COLLECTING, State.ATTRIBUTING)

    investigation = models.ForeignKey(Investigation, on_delete=models.PROTECT, related_name="runs")
    number = models.PositiveIntegerField()
    trigger = models.CharField(max_length=12, choices=Trigger)
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    state = models.CharField(max_length=12, choices=State, default=State.QUEUED)
    engine_version = models.CharField(max_length=40, blank=True, default="")
    pack_name = models.CharField(max_length=60, blank=True, default="")
    pack_version = models.CharField(max_length=40, blank=True, default="")
    pack_sha256 = models.CharField(max_length=64, blank=True, default="")
    # Relative to BUNDLES_DIR, so that web and workers may mount it at different places.
    bundle_path = models.CharField(max_length=200, blank=True, default="")
    bundle_sha256 = models.CharField(max_length=64, blank=True, default="")
    # Text, not a JSON column: PostgreSQL's would reorder the keys, and the verdict's bytes are part of the promise.
    verdict_json = models.TextField(blank=True, default="")
    problem = models.JSONField(null=True)
    traceback = models.TextField(blank=True, default="")
    provisional = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    nudged_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    objects = VisibleQuerySet.as_manager()

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["investigation", "number"], name="run_number_once"),
            models.UniqueConstraint(
                fields=["investigation"],
                condition=Q(state__in=["queued", "collecting", "attributing"]),
                name="one_active_run",
            ),
        ]
        indexes = [models.Index(fields=["state", "nudged_at"], name="run_sweep")]

    def __str__(self) -> str:
        return f"run {self.number} of {self.investigation}"

    @property
    def active(self) -> bool:
        return self.state in self.ACTIVE

    @property
    def finished(self) -> bool:
        return not self.active

    @cached_property
    def verdict(self) -> dict[str, Any] | None:
        return json.loads(self.verdict_json) if self.verdict_json else None

    @property
    def bundle_dir(self) -> Path:
        return Path(settings.BUNDLES_DIR) / self.bundle_path


class RunStep(models.Model):
    """One piece of a run's work, claimed by one worker at a time under a lease."""

    class Kind(models.TextChoices):
        PLAN = "plan", "Look the job up"
        COLLECT = "collect", "Collect"
        ATTRIBUTE = "attribute", "Find the first fault"

    class State(models.TextChoices):
        QUEUED = "queued", "Waiting"
        RUNNING = "running", "Running"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"
        ERRORED = "errored", "Crashed"

    OPEN = (State.QUEUED, State.RUNNING)

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="steps")
    kind = models.CharField(max_length=10, choices=Kind)
    connector = models.ForeignKey(ConnectorConfig, null=True, on_delete=models.SET_NULL, related_name="+")
    connector_label = models.CharField(max_length=80, blank=True, default="")
    source = models.CharField(max_length=20, blank=True, default="")
    target = models.CharField(max_length=400, blank=True, default="")
    # What the connector's plan said of this step, as it gave it.
    plan = models.JSONField(default=dict)
    position = models.PositiveIntegerField(default=0)
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0)
    lease_owner = models.CharField(max_length=120, blank=True, default="")
    lease_until = models.DateTimeField(null=True)
    heartbeat_at = models.DateTimeField(null=True)
    lines = models.BigIntegerField(default=0)
    bytes = models.BigIntegerField(default=0)
    targets_done = models.PositiveIntegerField(default=0)
    targets_total = models.PositiveIntegerField(null=True)
    note = models.CharField(max_length=200, blank=True, default="")
    coverage = models.JSONField(default=list)
    # The streams that this step stored, as the bundle's manifest will name them.
    streams = models.JSONField(default=list)
    problem = models.JSONField(null=True)
    traceback = models.TextField(blank=True, default="")
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["run", "kind", "connector", "source", "target"], name="step_once_a_run")
        ]
        indexes = [models.Index(fields=["state", "lease_until"], name="step_sweep")]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.source} {self.target}".strip()

    @property
    def open(self) -> bool:
        return self.state in self.OPEN


class Evidence(models.Model):
    """One line of a verdict's evidence, kept so that a link to it outlives the log it stood in. Append-only."""

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="evidence")
    evidence_id = models.CharField(max_length=12)
    role = models.CharField(max_length=12)
    signature = models.CharField(max_length=120)
    rule = models.CharField(max_length=120)
    title = models.CharField(max_length=200)
    layer = models.CharField(max_length=20)
    source = models.CharField(max_length=20)
    stream = models.CharField(max_length=400)
    line = models.BigIntegerField(null=True)
    offset = models.BigIntegerField(null=True)
    time = models.DateTimeField(null=True)
    time_error = models.FloatField(null=True)
    node = models.CharField(max_length=253, blank=True, default="")
    rank = models.IntegerField(null=True)
    device = models.CharField(max_length=120, blank=True, default="")
    count = models.PositiveIntegerField(default=1)
    text = models.TextField()

    class Meta:
        ordering = ["id"]
        verbose_name_plural = "evidence"
        constraints = [models.UniqueConstraint(fields=["run", "evidence_id"], name="evidence_once_a_run")]
        indexes = [
            models.Index(fields=["run", "stream", "line"], name="evidence_in_stream"),
            models.Index(fields=["node", "signature"], name="evidence_by_node"),
        ]

    def __str__(self) -> str:
        return f"{self.evidence_id} {self.title}"
