"""The real thing: a Celery worker process is killed in the middle of a step, and another finishes the run."""

import os
import signal
import time
from datetime import timedelta
from pathlib import Path

import psutil
import pytest
import yaml
from django.conf import settings
from django.utils import timezone

from attribution.launch.children import stop
from investigations.access import Operator
from investigations.jobs.clusters import set_connector
from investigations.jobs.services import open_job
from investigations.models import Run, RunStep
from investigations.runs.sweep import sweep
from tests.investigations.jobs import a_cluster
from tests.services.worker import start_worker

pytestmark = [pytest.mark.worker, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

LINE = b"[rank3]: step 1200 loss 2.31 lr 1.0e-4 grad_norm 0.9 tokens/s 41000 user@example.org\n"


def wait_for(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)
    return found


@pytest.fixture
def slow_job(tmp_path: Path) -> Run:
    """A run of a job whose output, an address to redact in each line, takes a worker some seconds."""
    bundle = tmp_path / "bundles" / "one"
    (bundle / "applog").mkdir(parents=True)
    (bundle / "applog" / "slurm-7.out").write_bytes(LINE * (8_000_000 // len(LINE)))
    (bundle / "incident.yaml").write_text(
        yaml.safe_dump({"job": {"id": "7", "state": "FAILED", "ended": "2026-11-30T10:00:00Z", "nodes": ["n1"]}})
    )
    cluster = a_cluster()
    set_connector(Operator(), cluster, "bundles", {"path": str(tmp_path / "bundles")})
    run = open_job(Operator(), cluster, "7").run
    yield run
    for left in Path(settings.BUNDLES_DIR, run.bundle_path).rglob("*.out"):
        left.unlink()


def kill_all(process) -> None:
    for child in psutil.Process(process.pid).children(recursive=True):
        child.send_signal(signal.SIGKILL)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


def test_a_killed_workers_run_is_finished_by_another(redis_server, slow_job):
    process, _ = start_worker("doomed")
    reading = RunStep.objects.filter(run=slow_job, source="applog", state="running", bytes__gt=0)
    try:
        step = wait_for(reading.first)
    finally:
        kill_all(process)
    step.refresh_from_db()
    assert (step.state, step.attempts) == ("running", 1)

    # A minute passes.
    RunStep.objects.filter(run=slow_job, state="running").update(lease_until=timezone.now() - timedelta(seconds=1))
    assert sweep(timezone.now() + timedelta(minutes=2)) == [slow_job.pk]
    process, log = start_worker("heir")
    try:
        wait_for(lambda: Run.objects.get(pk=slow_job.pk).finished)
    finally:
        stop(process)

    done = Run.objects.get(pk=slow_job.pk)
    step.refresh_from_db()
    assert (done.state, step.state, step.attempts) == ("done", "done", 2), log.read_text()
    stored = done.bundle_dir / "applog" / "slurm-7.out"
    assert stored.read_bytes().count(b"\n") == 8_000_000 // len(LINE)
    assert done.evidence.count() == len(done.verdict["evidence"])
    assert [part.name for part in done.bundle_dir.rglob("*.part")] == []
