"""Periodic looks at the schedulers."""

from __future__ import annotations

from celery import shared_task

from investigations.jobs.discovery import discover as discover_jobs
from investigations.jobs.discovery import look_at_running_jobs
from investigations.jobs.models import Cluster


@shared_task(name="investigations.discover")
def discover() -> None:
    for cluster in Cluster.objects.all():
        discover_jobs(cluster)
    look_at_running_jobs()
