"""The queue: newest first, page by page, narrowed by what people look for."""

from datetime import timedelta

import pytest
from django.utils import timezone

from investigations.jobs import queries
from investigations.jobs.filters import QueueFilters
from investigations.jobs.queries import queue, queue_tabs
from investigations.review import services as review
from tests.investigations.jobs import ENDED, a_cluster, a_finished_run, a_verdict, an_investigation

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def keys(page):
    return [row.job_key for row in page.rows]


def test_pages_follow_each_other_without_gap_or_repeat(viewer):
    for number in range(7):
        an_investigation(str(100 + number), ended=ENDED + timedelta(minutes=number // 2))
    seen, cursor = [], None
    while True:
        page = queue(viewer, QueueFilters(), cursor, size=3)
        seen += keys(page)
        cursor = page.next_cursor
        if cursor is None:
            break
    assert seen == ["106", "105", "104", "103", "102", "101", "100"]


@pytest.mark.parametrize("cursor", ["", "x", "!!!", "MjAyNnx4", "MjAyNi0xMS0zMFQxMDoxMjoyMnwx", "é"])
def test_a_broken_cursor_gives_the_first_page(viewer, investigation, cursor):
    page = queue(viewer, QueueFilters(), cursor)
    assert keys(page) == ["48211"]
    assert page.first


def test_a_row_says_what_came_first_and_how_much_was_lost(viewer, judged_run):
    (row,) = queue(viewer, QueueFilters()).rows
    assert (row.standing, row.title) == ("attributed", "NVLink signal-integrity fault")
    assert (row.culprit, row.size, row.gpu_hours) == ("gpu-node-07 GPU 3", "2\N{MULTIPLICATION SIGN}8", 80.0)
    assert row.coverage == tuple((s, "complete") for s in ("scheduler", "applog", "syslog", "fabric", "metrics"))


@pytest.fixture
def mixed(analyst):
    a_finished_run(an_investigation("48211"))
    silent = [{"source": "syslog", "status": "partial"}, {"source": "applog", "status": "complete"}]
    told = a_verdict(
        outcome="ambiguous",
        cause=None,
        domain="unknown",
        sub_domain="unknown",
        coverage=silent,
        culprits=[],
        title="Rank 40 quiet",
    )
    a_finished_run(an_investigation("48300", user="olga", nodes=("n1", "n11")), told)
    third = an_investigation("500", a_cluster("mole"))
    review.add_label(analyst, third, "flaky")
    review.take(analyst, third)


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"cluster": "mole"}, ["500"]),
        ({"standing": "ambiguous"}, ["48300"]),
        ({"domain": "infrastructure"}, ["48211"]),
        ({"sub_domain": "gpu_fabric"}, ["48211"]),
        ({"owner": "me"}, ["500"]),
        ({"owner": "none"}, ["48300", "48211"]),
        ({"owner": "mika"}, ["500"]),
        ({"label": "Flaky"}, ["500"]),
        ({"missing": "syslog"}, ["48300"]),
        ({"missing": "fabric"}, []),
        ({"q": "48"}, ["48300", "48211"]),
        ({"q": "48211_3"}, ["48211"]),
        ({"q": "n1"}, ["48300"]),
        ({"q": "olga"}, ["48300"]),
        ({"q": "nvlink"}, ["48211"]),
        ({"q": "#"}, []),
        ({"standing": "no such thing"}, []),
        ({"unreviewed": "1"}, ["500", "48300", "48211"]),
    ],
)
def test_filters_find_what_is_asked_for(mixed, analyst, filters, found):
    page = queue(analyst, QueueFilters.from_query(filters))
    assert keys(page) == found
    assert page.total == len(found)
    assert page.filters.as_query() == filters


def test_open_questions_are_found_when_they_are_due(mixed, viewer, time_machine):
    assert keys(queue(viewer, QueueFilters(due="overdue"))) == []
    time_machine.move_to(timezone.now() + timedelta(days=5), tick=False)
    assert keys(queue(viewer, QueueFilters(due="overdue"))) == ["48300"]
    (row,) = queue(viewer, QueueFilters(due="today")).rows
    assert row.overdue


def test_tabs_count_what_they_show(mixed, analyst):
    counts = {tab.key: tab.count for tab in queue_tabs(analyst)}
    assert counts == {"open": 3, "mine": 1, "due": 0, "ambiguous": 1, "hardware": 1, "no_syslog": 1} | {
        "due": counts["due"]  # depends on the day of the week
    }


def test_counts_stop_at_a_cap(viewer, monkeypatch):
    monkeypatch.setattr(queries, "COUNT_CAP", 2)
    for number in range(4):
        an_investigation(str(number + 1))
    page = queue(viewer, QueueFilters())
    assert (page.total, page.total_capped) == (2, True)


def test_a_page_takes_the_same_few_queries_however_long_it_is(viewer, django_assert_num_queries):
    for number in range(6):
        an_investigation(str(number + 1))
    # roles of the user, count, rows with job, cluster and owner, labels
    with django_assert_num_queries(4):
        queue(viewer, QueueFilters())


def test_lost_gpu_hours_are_summed_over_failed_jobs(viewer, judged_run, time_machine):
    time_machine.move_to(ENDED + timedelta(days=1))
    assert queries.lost_gpu_hours(viewer) == 80.0
