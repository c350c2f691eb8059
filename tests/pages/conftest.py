"""People, jobs with every outcome, and a signed-in browser."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from django.utils import timezone

from investigations.jobs.models import Investigation
from investigations.runs.models import Run
from tests.investigations.jobs import a_cluster, a_finished_run, an_investigation
from tests.investigations.people import person
from tests.pages import verdicts

BUNDLE = Path(__file__).parents[2] / "investigations" / "samples" / "bundles" / "job-88213"
PASSWORD = "correct horse battery"


@pytest.fixture(autouse=True)
def bundles_dir(request: pytest.FixtureRequest, tmp_path: Path, settings: Any) -> Path:
    """Each test has its own folder of bundles, but for those with a worker process, which has its own settings."""
    if "celery_worker" not in request.fixturenames:
        settings.BUNDLES_DIR = tmp_path
    return Path(settings.BUNDLES_DIR)


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
def signed_in(client: Client, analyst: User) -> Client:
    client.force_login(analyst)
    return client


def with_verdict(verdict: dict[str, Any], job_id: str = "88213", bundle: bool = True) -> Run:
    """A finished run with `verdict`, and the logs of the worked example where they are wanted."""
    nodes = tuple(verdict["job"]["nodes"])
    investigation = an_investigation(job_id, a_cluster("cluster-a"), nodes=nodes, gpus_per_node=8, user="user1")
    with transaction.atomic():
        run = a_finished_run(investigation, verdict)
    if bundle:
        shutil.copytree(BUNDLE, run.bundle_dir, dirs_exist_ok=True)
    return run


def a_live_run(investigation: Investigation, **state: Any) -> Run:
    """A run that is collecting, without a worker."""
    now = timezone.now()
    facts = {"number": investigation.runs.count() + 1, "trigger": "user", "created_at": now, "nudged_at": now}
    facts |= {"bundle_path": f"{investigation.pk:08d}-live", "state": "collecting", "started_at": now}
    return Run.objects.create(investigation=investigation, **(facts | state))


@pytest.fixture
def worked(db: None) -> Run:
    return with_verdict(verdicts.worked_example())


@pytest.fixture
def sign_in(page: Any) -> Callable[[User], None]:
    """Signs the browser in through the form."""

    def enter(user: User) -> None:
        page.goto("/sign-in/")
        page.get_by_label("Name").fill(user.username)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url("**/")

    return enter
