"""People and jobs for the console's tests."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from connectors.registry import Registry
from investigations.jobs.models import ConnectorConfig, Investigation
from investigations.runs.models import Run
from tests.investigations import jobs
from tests.investigations.people import person
from tests.investigations.scripted import Scripted


@pytest.fixture
def viewer(db: None) -> User:
    return person("vera", "viewer")


@pytest.fixture
def analyst(db: None) -> User:
    return person("mika", "analyst")


@pytest.fixture
def administrator(db: None) -> User:
    return person("ada", "administrator")


@pytest.fixture
def investigation(db: None) -> Investigation:
    return jobs.an_investigation()


@pytest.fixture
def judged_run(investigation: Investigation) -> Run:
    """A finished run with a verdict of gpu_link_signal_integrity on gpu-node-07."""
    return jobs.a_finished_run(investigation)


@pytest.fixture
def scripted(db: None, monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> Scripted:
    """The only connector of cluster atlas; it knows job 48211, and a traceback that its rank 3 printed."""
    connector = Scripted(
        jobs=[jobs.a_job_context()],
        streams={
            "scheduler": b"JobID|State|ExitCode\n48211|FAILED|1:0\n",
            "applog": b"[rank3]: Traceback (most recent call last):\n"
            b"[rank3]: FileNotFoundError: [Errno 2] No such file or directory: '/data/train.idx'\n",
        },
    )
    monkeypatch.setattr("investigations.jobs.connectors.registry", lambda: Registry({"scripted": connector}, ()))
    monkeypatch.setattr("investigations.runs.services.send", lambda run_id, messages=1: None)
    settings.BUNDLES_DIR = tmp_path / "bundles"
    ConnectorConfig.objects.create(cluster=jobs.a_cluster(), kind="scripted", name="Script")
    return connector
