"""Jobs that arrive by themselves: schedulers are asked now and then what failed, and what became of running jobs."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from connectors.errors import ConnectorError
from connectors.keys import JobKey
from investigations.errors import ServiceError
from investigations.jobs.connectors import Ready, connectors_of, context
from investigations.jobs.lookup import find_job
from investigations.jobs.models import Cluster, ConnectorConfig, Investigation, Job
from investigations.jobs.records import keep_job
from investigations.jobs.services import register_discovered
from investigations.limits import limits
from investigations.runs.models import Run
from investigations.runs.services import begin_run

log = logging.getLogger(__name__)

# Accounting learns of a job's end late, so each look goes back a little before the last one.
_OVERLAP = timedelta(minutes=15)
DISCOVERY_SECONDS = 240.0
_LONGEST_LOOK = timedelta(hours=1)  # a task's hard time limit


@dataclass
class Found:
    """What one look found: how many jobs are new, and which connectors could not be asked."""

    new: int = 0
    known: int = 0
    problems: list[dict[str, str]] = field(default_factory=list)


def discover(cluster: Cluster, since: datetime | None = None) -> Found:
    """Ask every connector of the cluster that can list failed jobs, and open the new ones."""
    found = Found()
    for entry in connectors_of(cluster, "discover"):
        if not isinstance(entry, Ready):
            row, error = entry
            found.problems.append(_problem(row, error))
        elif entry.row.discovers:
            _discover_from(cluster, entry, since, found)
    return found


def _discover_from(cluster: Cluster, entry: Ready, since: datetime | None, found: Found) -> None:
    asked_at = timezone.now()
    last = entry.row.last_discovered_at
    begin = since or (last - _OVERLAP if last else asked_at - timedelta(hours=limits().discovery_window_hours))
    try:
        for job in entry.connector.discover(entry.config, begin, context(cluster, DISCOVERY_SECONDS)):
            opened = register_discovered(cluster, job)
            found.new += opened.created
            found.known += not opened.created
    except ConnectorError as error:
        # What came before the failure is kept; the next look begins where the last whole one did.
        log.warning("discovery on %s through %s: %s", cluster.slug, entry.label, error)
        found.problems.append(_problem(entry.row, error))
        return
    ConnectorConfig.objects.filter(pk=entry.row.pk).update(last_discovered_at=asked_at)


def _problem(row: ConnectorConfig, error: ConnectorError) -> dict[str, str]:
    return {"connector": row.name, "what": error.what, "where": error.where, "remedy": error.remedy}


def ask_cluster(cluster: Cluster) -> Found | None:
    """One periodic look at a cluster: what failed, and what became of running jobs. None while another worker looks."""
    now = timezone.now()
    free = Q(asking_until=None) | Q(asking_until__lt=now)
    if not Cluster.objects.filter(free, pk=cluster.pk).update(asking_until=now + _LONGEST_LOOK):
        return None
    try:
        found = discover(cluster)
        look_at_running_jobs(cluster)
    finally:
        Cluster.objects.filter(pk=cluster.pk).update(asking_until=None)
    return found


def look_at_running_jobs(cluster: Cluster) -> int:
    """Ask after the jobs that were running when they were judged; judge again each that has ended. How many did."""
    ended = 0
    waiting = Investigation.objects.filter(
        cluster=cluster, provisional=True, busy=False, job__ended_at=None, job__state__in=Job.RUNNING_STATES
    )
    for investigation in waiting.select_related("job__cluster", "cluster").order_by("-happened_at")[:500]:
        job = investigation.job
        known = JobKey.of(job.job_context())
        try:
            found = find_job(job.cluster, JobKey(None, known.id, known.array_task, known.het_component, job.attempt))
        except ServiceError as error:
            log.info("job %s on %s: %s", job.key, job.cluster.slug, error)
            continue
        with transaction.atomic():
            if not keep_job(job.cluster, found.filled_from(job.job_context())).running:
                begin_run(None, investigation, Run.Trigger.JOB_ENDED)
                ended += 1
    return ended
