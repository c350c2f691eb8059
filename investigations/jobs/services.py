"""Opening jobs: by a user, or because a scheduler was found to have one that failed."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from investigations.access import AnyUser, Permission, account, require
from investigations.audit.services import record
from investigations.jobs.lookup import find_job, parse_job_key
from investigations.jobs.models import Cluster, Investigation, Job
from investigations.jobs.records import happened_at, keep_job
from investigations.runs.models import Run
from investigations.runs.services import begin_run
from telemetry.job import JobContext


@dataclass(frozen=True, slots=True)
class Opened:
    """An investigation, its newest run, and whether this call made it."""

    investigation: Investigation
    run: Run | None
    created: bool


def open_job(user: AnyUser, cluster: Cluster, text: str, attempt: int | None = None) -> Opened:
    """Open a job by its id. One that is open already is given back as it is.

    Asks the cluster's connectors, which takes as long as they take. Raises InvalidInput, SeveralJobs, JobNotFound,
    SourceUnavailable, NotAllowed.
    """
    require(user, Permission.OPEN_JOB)
    context = find_job(cluster, parse_job_key(text, attempt))
    return _open(cluster, context, user, Run.Trigger.USER)


def register_discovered(cluster: Cluster, context: JobContext) -> Opened:
    """Take in a failed job that a connector listed. The system's own act: it takes no user."""
    return _open(cluster, context, None, Run.Trigger.DISCOVERY)


def _open(cluster: Cluster, context: JobContext, user: AnyUser | None, trigger: str) -> Opened:
    with transaction.atomic():
        job = keep_job(cluster, context)
        investigation, created = _investigation(job, user)
        if not created:
            if investigation.provisional and not job.running and not investigation.busy:
                return Opened(investigation, begin_run(user, investigation, Run.Trigger.JOB_ENDED), False)
            return Opened(investigation, investigation.runs.first(), False)
        record(user, "opened job", investigation, job=job.key, cluster=cluster.slug, trigger=trigger)
        return Opened(investigation, begin_run(user, investigation, trigger), True)


def _investigation(job: Job, user: AnyUser | None) -> tuple[Investigation, bool]:
    return Investigation.objects.get_or_create(
        job=job,
        defaults={
            "cluster": job.cluster,
            "opened_by": account(user),
            "opened_at": timezone.now(),
            "happened_at": happened_at(job),
        },
    )
