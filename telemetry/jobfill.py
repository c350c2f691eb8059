"""What the scheduler's own records say about the job, for bundles that nobody described."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from telemetry.formats import kubernetes, sacct, sacct_json
from telemetry.formats.documents import load_documents
from telemetry.formats.records import RECORDS_LIMIT, TABLE_LIMIT
from telemetry.formats.sacct import SacctRow
from telemetry.formats.times import Moment, moment
from telemetry.job import JobContext
from telemetry.streams import Stream


def job_from_records(job: JobContext, streams: Sequence[Stream]) -> JobContext:
    """The same job as the records of the scheduler describe it; an empty context when they do not single one out.

    Zone-less times are used only when the job's zone is known: a window that is hours off would hide the cause.
    """
    rows: list[SacctRow] = []
    objects: list[dict[str, Any]] = []
    for stream in streams:
        data = stream.read(RECORDS_LIMIT)
        if not data:
            continue
        if sacct.looks_like_sacct(data[:65536]):
            if len(data) > TABLE_LIMIT:
                continue
            rows += sacct.parse_text(data)
            continue
        documents = load_documents(data)
        for document in documents.values if documents else ():
            if isinstance(document, dict) and sacct_json.is_sacct(document):
                rows += sacct_json.parse_json(document)
            else:
                objects += kubernetes.flatten(document)
    found = _from_rows(job, rows)
    return found if found != JobContext() else _from_objects(objects)


def _from_rows(job: JobContext, rows: Iterable[SacctRow]) -> JobContext:
    jobs = [row for row in rows if row.step is None]
    if job.id is not None:
        jobs = [row for row in jobs if job.id in (row.job_id, row.raw_id)]
    names = {row.job_id for row in jobs}
    if len(names) != 1:
        return JobContext()
    # A requeued job has one row a run; the last run is the one that was asked about.
    last = max(enumerate(jobs), key=lambda item: (item[1].start.seconds if item[1].start else 0.0, item[0]))[1]
    zone = job.timezone
    return JobContext(
        id=last.job_id,
        scheduler="slurm",
        cluster=last.cluster,
        user=last.user,
        state=last.state,
        exit_code=last.exit,
        nodes=last.nodes,
        submitted=_aware(last.submit, zone),
        started=_aware(last.start, zone),
        ended=_aware(last.end, zone),
    )


def _from_objects(objects: list[dict[str, Any]]) -> JobContext:
    pods = [item for item in objects if item.get("kind") == "Pod"]
    nodes = dict.fromkeys(node for node in (kubernetes.node_of_pod(pod) for pod in pods) if node)
    if not pods:
        return JobContext()
    phases = {str((pod.get("status") or {}).get("phase")) for pod in pods}
    starts = [moment((pod.get("status") or {}).get("startTime")) for pod in pods]
    ends = [end for pod in pods for end in kubernetes.finish_times(pod)]
    started = min((time.seconds for time in starts if time), default=None)
    over = phases <= {"Failed", "Succeeded"}
    return JobContext(
        scheduler="kubernetes",
        nodes=tuple(nodes),
        state=("FAILED" if "Failed" in phases else "COMPLETED") if over else None,
        started=datetime.fromtimestamp(started, UTC) if started else None,
        ended=datetime.fromtimestamp(max(ends), UTC) if over and ends else None,
    )


def _aware(time: Moment | None, zone: str | None) -> datetime | None:
    if time is None:
        return None
    stamp = datetime.fromtimestamp(time.seconds, UTC)
    if not time.local:
        return stamp
    return replace_zone(stamp, zone) if zone else None


def replace_zone(stamp: datetime, zone: str) -> datetime:
    """A time that was read as if it were UTC, put into the zone in which it was written."""
    return stamp.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)
