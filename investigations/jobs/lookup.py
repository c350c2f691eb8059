"""Finding one job through the connectors of its cluster."""

from __future__ import annotations

import re

from connectors.errors import BadValue, ConnectorError
from connectors.errors import SeveralJobs as SeveralContexts
from connectors.keys import JobKey
from investigations.errors import InvalidInput, JobNotFound, SeveralJobs, SourceUnavailable
from investigations.jobs.connectors import Ready, connectors_of, context
from investigations.jobs.models import Cluster
from telemetry.job import JobContext

_ATTEMPT = re.compile(r"(.+)#([1-9][0-9]{0,4})\Z")
# `48211.batch`, `48211.0`: a step of the job was pasted.
_STEP = re.compile(r"([0-9_+]+)\.(?:[0-9]+|batch|extern|interactive)\Z")
_WHOLE_ARRAY = re.compile(r"([0-9]+)_\[")


def parse_job_key(text: str, attempt: int | None = None) -> JobKey:
    """Read what a person typed. Raises InvalidInput.

    `48211`, `48211_3`, `20+1`, `48211#2` (second attempt), `48211.batch` (the job of that step), `namespace/name`.
    """
    text = text.strip()
    if match := _ATTEMPT.match(text):
        text, attempt = match.group(1), attempt or int(match.group(2))
    if match := _STEP.match(text):
        text = match.group(1)
    if match := _WHOLE_ARRAY.match(text):
        first = match.group(1)
        raise InvalidInput(
            f"“{text[:80]}” names a whole array.", "Job id", f"Open one of its tasks, such as {first}_1.", field="job"
        )
    try:
        key = JobKey.parse(text)
    except BadValue as error:
        raise InvalidInput("This is not a job id.", f"Job id {error.where}", error.remedy, field="job") from None
    return JobKey(None, key.id, key.array_task, key.het_component, attempt)


def find_job(cluster: Cluster, key: JobKey) -> JobContext:
    """Ask the cluster's connectors in their order; the first that knows the job answers.

    Raises JobNotFound when all that were asked do not know it, SourceUnavailable when one that might have known could
    not be asked, SeveralJobs when the key is not enough.
    """
    asked: list[str] = []
    failed: list[tuple[str, ConnectorError]] = []
    for entry in connectors_of(cluster, "find"):
        if not isinstance(entry, Ready):
            row, error = entry
            failed.append((row.name, error))
            continue
        try:
            found = entry.connector.find_job(entry.config, key, context(cluster))
        except SeveralContexts as error:
            raise _several(cluster, key, error) from None
        except ConnectorError as error:
            failed.append((entry.label, error))
            continue
        if found is not None:
            return found
        asked.append(entry.label)
    raise _not_found(cluster, key, asked, failed)


def _several(cluster: Cluster, key: JobKey, error: SeveralContexts) -> SeveralJobs:
    choices = tuple(str(JobKey.of(choice)) for choice in error.choices)
    shown = ", ".join(choices[:8]) + (f" and {len(choices) - 8} more" if len(choices) > 8 else "")
    return SeveralJobs(
        f"{key} is {len(choices)} jobs.", f"Cluster {cluster.name}", f"Open one of them: {shown}.", choices
    )


def _not_found(
    cluster: Cluster, key: JobKey, asked: list[str], failed: list[tuple[str, ConnectorError]]
) -> JobNotFound | SourceUnavailable:
    place = f"cluster {cluster.name}"
    if failed:
        label, error = failed[0]
        rest = f" {len(failed) - 1} more failed too." if len(failed) > 1 else ""
        knew = f" {', '.join(asked)} answered, without this job." if asked else ""
        return SourceUnavailable(
            f"Whether job {key} exists could not be found out: {label}: {error.what}.{rest}{knew}",
            f"{place}, {error.where}" if error.where else place,
            error.remedy or "Test the connector under Clusters.",
        )
    if not asked:
        return SourceUnavailable(
            f"Nobody can be asked for job {key}: no connector of this cluster looks jobs up.",
            place,
            "Set up a Slurm connector or a folder of bundles for the cluster.",
        )
    return JobNotFound(
        f"There is no job {key}.",
        f"{place}: asked {', '.join(asked)}",
        "Check the id and the cluster. An array task is written 48211_3, a part of a heterogeneous job 20+1. "
        "Schedulers forget old jobs: a bundle can be opened for those.",
    )
