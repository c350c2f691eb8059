"""The last step of a run: close the bundle's manifest, let the rules judge it, keep verdict and evidence."""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import cache
from typing import Any

from django.db import transaction
from django.utils import timezone

from investigations.runs.evidence import evidence_rows
from investigations.runs.leases import Heartbeat, write_held
from investigations.runs.models import Evidence, Run, RunStep
from investigations.runs.standing import refresh_standing
from rules import attribute, core_pack
from rules.pack import Pack
from telemetry.bundle import SOURCES, open_bundle
from telemetry.coverage import Coverage, merge
from telemetry.manifest import StreamEntry
from telemetry.writer import BundleWriter

log = logging.getLogger(__name__)


@cache
def pack() -> Pack:
    """The rule pack in force, compiled once a process."""
    return core_pack()


def attribute_run(step: RunStep, beat: Heartbeat) -> None:
    """Judge whatever came. Raises BundleError when the bundle cannot be read at all.

    Verdict, evidence, step and run are written in one transaction under the step's lease: all of it stands or none.
    """
    run = step.run
    Run.objects.filter(pk=run.pk, state=Run.State.COLLECTING).update(state=Run.State.ATTRIBUTING)
    write_manifest(run)
    verdict = attribute(open_bundle(run.bundle_dir), pack())
    text = verdict.as_json()
    found: dict[str, Any] = dict(verdict)
    with transaction.atomic():
        now = timezone.now()
        write_held(step, state=RunStep.State.DONE, finished_at=now, lease_until=None, targets_done=1, targets_total=1)
        Evidence.objects.bulk_create(evidence_rows(run, found["evidence"]), ignore_conflicts=True)
        Run.objects.filter(pk=run.pk, state=Run.State.ATTRIBUTING).update(
            state=Run.State.DONE,
            finished_at=now,
            verdict_json=text,
            provisional=bool(found["provisional"]) or run.investigation.job.running,
            engine_version=str(found["engine_version"])[:40],
            pack_name=found["pack"]["name"][:60],
            pack_version=str(found["pack"]["version"])[:40],
            pack_sha256=found["pack"]["sha256"],
            bundle_sha256=found["bundle_sha256"],
        )
        refresh_standing(run.investigation)


def write_manifest(run: Run) -> None:
    """Put every step's report into the bundle's manifest, and name the sources that no connector collects."""
    cluster = run.investigation.cluster
    writer = BundleWriter(run.bundle_dir, run.investigation.job.job_context())
    writer.drop_unfinished()
    reports: dict[tuple[str, str | None], list[Coverage]] = {}
    for step in run.steps.filter(kind=RunStep.Kind.COLLECT):
        writer.adopt(StreamEntry.from_dict(entry) for entry in step.streams)
        for report in _reports(step):
            reports.setdefault((report.source, report.target), []).append(report)
    for (source, target), told in reports.items():
        # Two connectors may have looked for the same thing: together they saw what either saw.
        writer.cover(told[0] if len(told) == 1 else replace(merge(source, told), target=target))
    for source in SOURCES:
        if not any(reported == source for reported, _ in reports):
            detail = f"No connector of cluster {cluster.name} collects this source."
            writer.cover(Coverage(source, "not_configured", detail=detail))
    writer.write_manifest()


def _reports(step: RunStep) -> list[Coverage]:
    reports = [Coverage.from_dict(report) for report in step.coverage]
    return reports or ([_unfinished(step)] if step.source else [])


def _unfinished(step: RunStep) -> Coverage:
    problem = step.problem or {}
    detail = " ".join(part for part in (problem.get("what"), problem.get("remedy")) if part)
    return Coverage(step.source, "failed", reason="errored", detail=detail, target=step.target or None)
