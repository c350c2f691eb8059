"""Keeping what the scheduler said of a job."""

from __future__ import annotations

import dataclasses
from datetime import datetime

from django.utils import timezone

from investigations.jobs.models import Cluster, Job
from telemetry.job import JobContext


def keep_job(cluster: Cluster, context: JobContext) -> Job:
    """Write the job's row, new or known. What the scheduler says now replaces what it said before."""
    context = dataclasses.replace(
        context,
        cluster=cluster.slug,
        timezone=context.timezone or cluster.timezone,
        id=_clip(Job, "job_id", context.id),
    )
    het = "" if context.het_component is None else str(context.het_component)
    told = {
        "scheduler": _clip(Job, "scheduler", context.scheduler),
        "user": _clip(Job, "user", context.user),
        "state": _clip(Job, "state", context.state),
        "exit_code": _clip(Job, "exit_code", context.exit_code),
        "node_names": list(context.nodes),
        "node_text": f" {' '.join(context.nodes)} ",
        "nodes_count": len(context.nodes),
        "gpus_per_node": context.gpus_per_node,
        "submitted_at": context.submitted,
        "started_at": context.started,
        "ended_at": context.ended,
        "gpu_hours": gpu_hours(context),
        "context": context.as_dict(),
    }
    job, _ = Job.objects.update_or_create(
        cluster=cluster,
        job_id=context.id or "",
        array_task=_clip(Job, "array_task", context.array_task),
        het_component=_clip(Job, "het_component", het),
        attempt=context.attempt,
        defaults=told,
    )
    return job


def gpu_hours(context: JobContext) -> float | None:
    """GPUs times hours between start and end; None while either is not known."""
    if not context.gpus_per_node or not context.nodes or context.started is None or context.ended is None:
        return None
    hours = max((context.ended - context.started).total_seconds(), 0.0) / 3600
    return round(hours * context.gpus_per_node * len(context.nodes), 3)


def happened_at(job: Job) -> datetime:
    """Where the job stands in the queue: its end, else its start, else now."""
    return job.ended_at or job.started_at or timezone.now()


def _clip(model: type[Job], field: str, value: str | None) -> str:
    # Schedulers' texts are written by strangers: longer than the column, or with a NUL that PostgreSQL refuses.
    limit = model._meta.get_field(field).max_length
    return (value or "").replace("\x00", "")[:limit]
