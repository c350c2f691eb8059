"""A cluster pointed at its own files: what sacct wrote, and what the job printed."""

import shutil
from pathlib import Path

import pytest

from investigations.access import Operator
from investigations.errors import JobNotFound, SourceUnavailable
from investigations.jobs.clusters import add_cluster, set_connector
from investigations.jobs.services import open_job
from investigations.models import Run
from investigations.runs.steps import advance_fully

pytestmark = pytest.mark.django_db

SACCT = Path(__file__).parents[1] / "data" / "connectors" / "slurm"


@pytest.fixture
def site(tmp_path, settings, monkeypatch):
    """/sacct/<job>.txt and /logs/slurm-<job>.out of a cluster in Berlin."""
    settings.BUNDLES_DIR = tmp_path / "kept"
    monkeypatch.setattr("investigations.runs.services.send", lambda run_id, messages=1: None)
    for folder in ("sacct", "logs"):
        (tmp_path / folder).mkdir()
    cluster = add_cluster(Operator(), "atlas", "Atlas", "Europe/Berlin")
    exported = {"origin": "files", "roots": [str(tmp_path / "sacct")], "paths": [f"{tmp_path}/sacct/{{job_id}}.txt"]}
    set_connector(Operator(), cluster, "slurm", exported)
    logs = [{"source": "applog", "path": f"{tmp_path}/logs/slurm-{{job_id}}.out"}]
    set_connector(Operator(), cluster, "files", {"roots": [str(tmp_path / "logs")], "patterns": logs})
    return cluster


def finished(opened):
    advance_fully(opened.run.pk)
    return Run.objects.get(pk=opened.run.pk)


def test_a_job_is_found_collected_and_judged(site, tmp_path):
    shutil.copy(SACCT / "oom_step.P.txt", tmp_path / "sacct" / "8.txt")
    (tmp_path / "logs" / "slurm-8.out").write_text(
        "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=8.0. Some of your processes may have been killed by "
        "the cgroup out-of-memory handler.\nsrun: error: node02: task 0: Out Of Memory\n"
    )
    opened = open_job(Operator(), site, "8")
    job = opened.investigation.job
    assert (job.user, job.state, job.node_names) == ("user1", "FAILED", ["node02"])
    assert job.ended_at.isoformat() == "2026-12-01T11:46:44+00:00"  # the table's times are Berlin's
    done = finished(opened)
    assert done.verdict["cause"] == "job_memory_limit"
    statuses = {report["source"]: report["status"] for report in done.verdict["coverage"]}
    assert (statuses["scheduler"], statuses["applog"], statuses["syslog"]) == ("complete", "complete", "not_configured")


def test_a_job_without_its_output_says_what_is_missing(site, tmp_path):
    shutil.copy(SACCT / "oom_step.P.txt", tmp_path / "sacct" / "8.txt")
    done = finished(open_job(Operator(), site, "8"))
    report = next(report for report in done.verdict["coverage"] if report["source"] == "applog")
    assert report["status"] in ("empty", "failed")
    assert report["detail"]


def test_a_table_with_a_header_only_is_an_unknown_job(site, tmp_path):
    shutil.copy(SACCT / "unknown.P.txt", tmp_path / "sacct" / "999999.txt")
    with pytest.raises(JobNotFound) as missing:
        open_job(Operator(), site, "999999")
    assert "Slurm accounting" in missing.value.where


def test_a_table_that_is_an_error_message_is_not_taken_for_no(site, tmp_path):
    shutil.copy(SACCT / "dbd_down.P.txt", tmp_path / "sacct" / "8.txt")
    with pytest.raises((SourceUnavailable, JobNotFound)) as unknown:
        open_job(Operator(), site, "8")
    assert isinstance(unknown.value, SourceUnavailable), unknown.value
    assert unknown.value.remedy


@pytest.mark.parametrize(
    "junk",
    [b"", b"\x00\xff" * 50_000, "JobID|State\n8|FAILED\n".encode("utf-16"), b"JobID|State\r\n8|FAI", b"x" * 5_000_000],
    ids=["empty", "binary", "UTF-16", "cut off", "one long line"],
)
def test_an_output_file_full_of_junk_does_not_stop_the_verdict(site, tmp_path, junk):
    shutil.copy(SACCT / "oom_step.P.txt", tmp_path / "sacct" / "8.txt")
    (tmp_path / "logs" / "slurm-8.out").write_bytes(junk)
    done = finished(open_job(Operator(), site, "8"))
    assert done.state == "done"
    assert {step.state for step in done.steps.all()} <= {"done", "failed"}
