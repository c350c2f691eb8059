"""What somebody reads who watches a run."""

import pytest

from investigations.runs.progress import progress
from tests.investigations.jobs import a_cluster, an_investigation
from tests.pages.conftest import a_live_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def watched(analyst, client):
    """A step that reads the job's output, as the page shows it."""
    run = a_live_run(an_investigation("77", a_cluster("cluster-a")))
    client.force_login(analyst)

    def watch(**step):
        facts = {"kind": "collect", "connector_label": "Files", "source": "applog", "state": "running"}
        run.steps.create(**(facts | step))
        return progress(run), client.get(f"/investigations/{run.investigation_id}/").content.decode()

    return watch


def test_sources_are_named_as_on_every_other_page(watched):
    now, page = watched(targets_done=3, targets_total=8)
    assert now.sentence == "Reading job output, 3 of 8."
    assert "applog" not in page
    assert 'value="38"' in page


def test_one_big_file_has_no_bar_that_stands_at_nothing(watched):
    now, page = watched(targets_done=0, targets_total=1, lines=120_000, bytes=90_000_000)
    assert now.sentence == "Reading job output."
    assert "<progress" not in page
    assert "0 of 1</span>" not in page
    assert "120,000" in page
