"""One collect step: a connector writes streams into the run's bundle; the row learns of it afterwards."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from connectors.contract import Progress, Step
from connectors.errors import Cancelled, ConnectorError
from connectors.steps import run_step
from investigations.errors import ServiceError
from investigations.jobs.connectors import context, ready
from investigations.limits import limits
from investigations.runs.leases import Heartbeat, LeaseLost, is_held
from investigations.runs.models import RunStep
from telemetry.writer import BundleWriter


def collect(step: RunStep, beat: Heartbeat) -> dict[str, Any]:
    """Collect the step's streams; what to keep on its row is returned.

    Raises ConnectorError or ServiceError for an expected failure that left nothing, LeaseLost when it was taken over.
    """
    if step.connector is None:
        raise ServiceError(
            "The connector of this step is no longer there.",
            step.connector_label,
            "Re-run with the present connectors.",
        )
    found = ready(step.connector)
    latest: dict[str, Any] = {}

    def show(progress: Progress) -> None:
        latest.update(
            lines=progress.lines,
            bytes=progress.bytes,
            targets_done=progress.done,
            targets_total=progress.total,
            note=progress.what[:200].replace("\x00", ""),
        )
        beat.report(**latest)

    job = step.run.investigation.job.job_context()
    # The name that the console gives a cluster is not the one that the cluster's own records give it.
    wanted = replace(job, cluster=None)
    planned = Step.from_dict(step.plan)
    writer = BundleWriter(step.run.bundle_dir, job, in_charge=lambda: is_held(step))
    allowed = context(step.run.investigation.cluster, limits().step_seconds, show, beat.cancelled)
    try:
        result = run_step(found.connector, found.config, wanted, planned, writer, allowed)
    except Cancelled:
        if beat.lost.is_set():
            raise LeaseLost from None
        raise ServiceError(
            f"Collecting took longer than {limits().step_seconds // 60} minutes and was stopped.",
            f"{found.label}, {planned.label or planned.source}",
            "Narrow what the connector collects, or allow steps more time.",
        ) from None
    kept = latest | {
        "coverage": [report.as_dict() for report in result.coverage],
        "streams": [entry.as_dict() for entry in writer.entries],
    }
    kept["lines"] = max(sum(report.lines for report in result.coverage), kept.get("lines", 0))
    kept["bytes"] = max(sum(report.bytes for report in result.coverage), kept.get("bytes", 0))
    if result.error is not None:
        kept |= {"state": RunStep.State.FAILED, "problem": problem_of_connector(result.error)}
    return kept


def problem_of_connector(error: ConnectorError) -> dict[str, str]:
    return {"what": error.what, "where": error.where, "remedy": error.remedy}
