"""People and jobs for the console's tests."""

import pytest
from django.contrib.auth.models import User

from investigations.jobs.models import Investigation
from investigations.runs.models import Run
from tests.investigations import jobs
from tests.investigations.people import person


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
