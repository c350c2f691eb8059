"""Jobs, investigations and finished runs, made directly."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from investigations.jobs.models import Cluster, Investigation
from investigations.jobs.records import happened_at, keep_job
from investigations.runs.evidence import evidence_rows
from investigations.runs.models import Evidence, Run
from investigations.runs.standing import refresh_standing
from telemetry.job import JobContext

ENDED = datetime(2026, 11, 30, 10, 12, 22, tzinfo=UTC)


def a_cluster(slug: str = "atlas", zone: str = "UTC") -> Cluster:
    return Cluster.objects.get_or_create(slug=slug, defaults={"name": slug.title(), "timezone": zone})[0]


def a_job_context(job_id: str = "48211", **known: Any) -> JobContext:
    facts = {
        "id": job_id,
        "scheduler": "slurm",
        "user": "reyes",
        "state": "FAILED",
        "exit_code": "134:0",
        "nodes": ("gpu-node-06", "gpu-node-07"),
        "gpus_per_node": 8,
        "submitted": ENDED - timedelta(hours=6),
        "started": ENDED - timedelta(hours=5),
        "ended": ENDED,
    }
    return JobContext(**(facts | known))


def an_investigation(job_id: str = "48211", cluster: Cluster | None = None, **known: Any) -> Investigation:
    job = keep_job(cluster or a_cluster(), a_job_context(job_id, **known))
    return Investigation.objects.create(
        job=job, cluster=job.cluster, opened_at=timezone.now(), happened_at=happened_at(job)
    )


def a_verdict(**said: Any) -> dict[str, Any]:
    """A verdict on gpu-node-07, whole in what the console reads of it."""
    verdict = {
        "schema": "first-fault/verdict/1",
        "engine_version": "1",
        "pack": {"name": "core", "version": "2026.12.0", "sha256": "0" * 64},
        "bundle_sha256": "1" * 64,
        "outcome": "attributed",
        "terminal_state": "failed",
        "domain": "infrastructure",
        "sub_domain": "gpu_fabric",
        "cause": "gpu_link_signal_integrity",
        "title": "NVLink signal-integrity fault",
        "summary": "NVLink signal-integrity fault on gpu-node-07, GPU 3.",
        "culprits": [{"node": "gpu-node-07", "device": "GPU 3", "kind": "link", "ranks": []}],
        "provisional": False,
        "evidence": [an_item("E1", 3), an_item("E2", 4, role="symptom")],
        "coverage": [
            {"source": source, "status": "complete"}
            for source in ("scheduler", "applog", "syslog", "fabric", "metrics")
        ],
    }
    return verdict | said


def an_item(evidence_id: str, line: int, **said: Any) -> dict[str, Any]:
    item = {
        "id": evidence_id,
        "role": "cause",
        "signature": "xid_149",
        "rule": "nvlink_signal_integrity",
        "title": "XID 149",
        "layer": "gpu",
        "source": "syslog",
        "stream": "syslog/gpu-node-07.log",
        "line": line,
        "offset": 0,
        "time": "2026-11-30T10:02:11.204000Z",
        "time_error": 0.02,
        "node": "gpu-node-07",
        "rank": None,
        "device": "GPU 3",
        "count": 1,
        "text": f"line {line} of the kernel log",
    }
    return item | said


def a_finished_run(investigation: Investigation, verdict: dict[str, Any] | None = None, state: str = "done") -> Run:
    now = timezone.now()
    told = (verdict or a_verdict()) if state == "done" else None
    run = Run.objects.create(
        investigation=investigation,
        number=investigation.runs.count() + 1,
        trigger=Run.Trigger.USER,
        bundle_path=f"{investigation.pk:08d}-{investigation.runs.count() + 1}",
        created_at=now,
        nudged_at=now,
        started_at=now,
    )
    if told:
        Evidence.objects.bulk_create(evidence_rows(run, told["evidence"]))
    Run.objects.filter(pk=run.pk).update(
        state=state,
        finished_at=now,
        verdict_json=json.dumps(told) if told else "",
        provisional=bool(told and told["provisional"]),
    )
    with transaction.atomic():
        refresh_standing(investigation)
    run.refresh_from_db()
    return run
