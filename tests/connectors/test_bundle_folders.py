"""A folder of bundles as a source of jobs."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from connectors import Context, JobKey, Limits, parse_config
from connectors.contract import Step
from connectors.errors import LimitReached, NotFound, SeveralJobs
from connectors.files.bundles import BundleFolders
from telemetry.writer import BundleWriter
from tests.connectors.conftest import job_at, write

BUNDLES = BundleFolders()


def bundle(folder: Path, name: str, job_id: str, **job: str) -> Path:
    lines = {"cluster": "cluster-a", "state": "FAILED", "nodes": "[node01, node02]", **job}
    text = "\n".join(f"  {key}: {value}" for key, value in lines.items())
    write(folder / name / "incident.yaml", f"id: wrong\ntitle: job 4711\njob:\n  id: '{job_id}'\n{text}\n")
    write(folder / name / "applog" / "out.log", f"output of {job_id}\n")
    return folder / name


def at(folder: Path) -> Any:
    return parse_config(BUNDLES, {"path": str(folder)})


def test_the_id_inside_decides_and_never_the_folders_name(tmp_path: Path) -> None:
    bundle(tmp_path / "b", "4711", "88213")
    bundle(tmp_path / "b", "zzz", "99")
    job = BUNDLES.find_job(at(tmp_path / "b"), JobKey.parse("88213"), Context())
    assert job is not None
    assert (job.id, job.nodes) == ("88213", ("node01", "node02"))
    assert BUNDLES.find_job(at(tmp_path / "b"), JobKey.parse("4711"), Context()) is None
    assert BUNDLES.find_job(at(tmp_path / "b"), JobKey.parse("99", "cluster-b"), Context()) is None


def test_elements_and_attempts_are_told_apart(tmp_path: Path) -> None:
    bundle(tmp_path / "b", "a", "10_1")
    bundle(tmp_path / "b", "b", "10_2")
    bundle(tmp_path / "b", "c", "34", attempt="1", state="NODE_FAIL")
    bundle(tmp_path / "b", "d", "34", attempt="2")
    with pytest.raises(SeveralJobs, match="10_1, 10_2"):
        BUNDLES.find_job(at(tmp_path / "b"), JobKey.parse("10"), Context())
    latest = BUNDLES.find_job(at(tmp_path / "b"), JobKey.parse("34"), Context())
    assert latest is not None
    assert latest.attempt == 2
    first = BUNDLES.find_job(at(tmp_path / "b"), JobKey(None, "34", attempt=1), Context())
    assert first is not None
    assert first.state == "NODE_FAIL"


def test_things_that_are_no_bundles_do_not_disturb(tmp_path: Path) -> None:
    bundle(tmp_path / "b", "good", "88213")
    write(tmp_path / "b/notes.txt", "hello")
    write(tmp_path / "b/bad/incident.yaml", "job: [")
    (tmp_path / "b/empty").mkdir()
    (tmp_path / "b/link").symlink_to("/etc")
    assert BUNDLES.find_job(at(tmp_path / "b"), JobKey.parse("88213"), Context()) is not None
    assert [job.id for job in BUNDLES.discover(at(tmp_path / "b"), datetime(2020, 1, 1, tzinfo=UTC), Context())] == [
        "88213"
    ]


def test_coverage_of_the_stored_bundle_is_carried_over(tmp_path: Path, writer: BundleWriter) -> None:
    folder = bundle(tmp_path / "b", "x", "88213")
    write(folder / "syslog/node01.log.gz", gzip.compress(b"Mar 11 10:30:00 node01 kernel: x\n"))
    config = at(tmp_path / "b")
    (syslog,) = BUNDLES.collect(config, job_at(), Step("syslog"), writer, Context())
    (fabric,) = BUNDLES.collect(config, job_at(), Step("fabric"), writer, Context())
    assert (syslog.status, syslog.nodes_missing) == ("partial", ("node02",))
    assert fabric.status == "not_collected"
    assert (writer.root / "syslog/node01.log").read_bytes() == b"Mar 11 10:30:00 node01 kernel: x\n"


def test_a_bundle_that_went_away_is_told(tmp_path: Path, writer: BundleWriter) -> None:
    bundle(tmp_path / "b", "x", "1")
    with pytest.raises(NotFound, match="88213"):
        BUNDLES.collect(at(tmp_path / "b"), job_at(), Step("applog"), writer, Context())


def test_discovery_passes_over_jobs_that_ended_well_or_before(tmp_path: Path) -> None:
    bundle(tmp_path / "b", "1", "1", ended="'2026-03-11T11:00:00Z'")
    bundle(tmp_path / "b", "2", "2", ended="'2026-03-09T11:00:00Z'")
    bundle(tmp_path / "b", "3", "3", ended="'2026-03-12T11:00:00Z'", state="COMPLETED")
    bundle(tmp_path / "b", "4", "4", ended="'2026-03-10T11:00:00Z'", state="TIMEOUT")
    jobs = BUNDLES.discover(at(tmp_path / "b"), datetime(2026, 3, 10, tzinfo=UTC), Context())
    assert [job.id for job in jobs] == ["4", "1"]


def test_a_folder_with_too_many_entries_is_refused(tmp_path: Path) -> None:
    for number in range(3):
        bundle(tmp_path / "b", str(number), str(number))
    with pytest.raises(LimitReached):
        BUNDLES.find_job(at(tmp_path / "b"), JobKey.parse("1"), Context(limits=Limits(jobs=2)))


def test_a_probe_of_a_folder_without_bundles_says_what_is_needed(tmp_path: Path) -> None:
    write(tmp_path / "b/x/readme.txt", "nothing")
    report = BUNDLES.probe(at(tmp_path / "b"), Context())
    assert report.failure is not None
    assert "incident.yaml" in report.failure.remedy
