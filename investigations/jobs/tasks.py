"""Periodic looks at the schedulers."""

from __future__ import annotations

from celery import shared_task

from investigations.jobs.discovery import ask_cluster
from investigations.jobs.models import Cluster


@shared_task(name="investigations.discover")
def discover() -> None:
    """Ask every cluster, each in a task of its own: a slow one keeps no other waiting."""
    for cluster_id in Cluster.objects.values_list("pk", flat=True):
        discover_on.delay(cluster_id)


@shared_task(name="investigations.discover_on")
def discover_on(cluster_id: int) -> None:
    cluster = Cluster.objects.filter(pk=cluster_id).first()
    if cluster is not None:
        ask_cluster(cluster)
