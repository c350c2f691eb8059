"""How a person or a schedule names one job."""

from __future__ import annotations

import re
from dataclasses import dataclass

from connectors.errors import BadValue
from telemetry.job import JobContext

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@/-]{0,252}\Z")
_ARRAY = re.compile(r"([0-9]{1,12})_([0-9]{1,10})\Z")
_HET = re.compile(r"([0-9]{1,12})\+([0-9]{1,5})\Z")


@dataclass(frozen=True, slots=True)
class JobKey:
    """A job's name within a cluster.

    `id` is the base id ("10" of array element 10_3, "20" of component 20+1). `attempt` counts the runs of a requeued
    job from 1, the oldest; None means the latest.
    """

    cluster: str | None
    id: str
    array_task: str | None = None
    het_component: int | None = None
    attempt: int | None = None

    @classmethod
    def parse(cls, text: str, cluster: str | None = None) -> JobKey:
        """Read "88213", "10_3", "20+1" or a Kubernetes name "namespace/name". Raises BadValue."""
        text = text.strip()
        if match := _ARRAY.match(text):
            return cls(cluster, match.group(1), array_task=match.group(2))
        if match := _HET.match(text):
            return cls(cluster, match.group(1), het_component=int(match.group(2)))
        if not _ID.match(text) or ".." in text or "//" in text:
            raise BadValue(
                "This is not a job id",
                repr(text[:80]),
                "Give the id as the scheduler prints it, for example 88213, 10_3, 20+1 or namespace/name.",
            )
        return cls(cluster, text)

    @classmethod
    def of(cls, job: JobContext) -> JobKey:
        """The key under which this job is found again. Raises BadValue when the job has no usable id."""
        parsed = cls.parse(job.id or "", job.cluster)
        return cls(
            cluster=job.cluster,
            id=parsed.id,
            array_task=job.array_task or parsed.array_task,
            het_component=parsed.het_component if job.het_component is None else job.het_component,
            attempt=job.attempt,
        )

    def __str__(self) -> str:
        if self.array_task:
            return f"{self.id}_{self.array_task}"
        if self.het_component is not None:
            return f"{self.id}+{self.het_component}"
        return self.id

    def fits(self, job: JobContext) -> bool:
        """Whether `job` is meant: the same id, and whatever else this key says."""
        try:
            other = JobKey.of(job)
        except BadValue:
            return False
        return (
            self.id == other.id
            and (self.cluster is None or other.cluster is None or self.cluster == other.cluster)
            and (self.array_task is None or self.array_task == other.array_task)
            and (self.het_component is None or self.het_component == other.het_component)
            and (self.attempt is None or self.attempt == other.attempt)
        )
