"""What the page of one investigation is given."""

import pytest
from django.http import Http404

from investigations.review import services as review
from investigations.runs.queries import investigation_page
from tests.investigations.jobs import a_finished_run, a_verdict
from tests.investigations.people import person

pytestmark = pytest.mark.django_db


def test_it_shows_the_newest_run_unless_another_is_asked_for(judged_run, viewer):
    investigation = judged_run.investigation
    second = a_finished_run(investigation, a_verdict(cause="gpu_hang"))
    assert investigation_page(viewer, investigation.pk).run == second
    first = investigation_page(viewer, investigation.pk, 1)
    assert (first.run, first.verdict["cause"]) == (judged_run, "gpu_link_signal_integrity")
    assert [run.number for run in first.runs] == [2, 1]
    with pytest.raises(Http404):
        investigation_page(viewer, investigation.pk, 3)


def test_streams_that_the_verdict_rests_on_are_listed_though_the_bundle_is_gone(judged_run, viewer):
    page = investigation_page(viewer, judged_run.investigation_id)
    assert [(stream.path, stream.hits) for stream in page.streams] == [("syslog/gpu-node-07.log", 2)]


def test_the_trail_tells_runs_and_reviews_newest_first(judged_run, viewer, analyst):
    investigation = judged_run.investigation
    made = review.override(analyst, judged_run, "gpu_hang", [], "Saw it before.")
    review.retract(analyst, made, "Wrong job.")
    page = investigation_page(viewer, investigation.pk)
    assert [entry.text for entry in page.activity] == [
        "Took back their own override: Wrong job.",
        "Overrode the verdict with “GPU hang”: Saw it before.",
        "Run 1: Attributed. NVLink signal-integrity fault.",
        "Run 1: opened by a user",
    ]
    assert [entry.retracted for entry in page.activity] == [False, True, False, False]
    assert page.decision is None


def test_an_investigation_without_a_run_can_be_shown(investigation, viewer):
    page = investigation_page(viewer, investigation.pk)
    assert (page.run, page.verdict, page.progress, page.streams) == (None, None, None, ())


def test_it_is_not_there_for_somebody_without_a_role(investigation):
    with pytest.raises(Http404):
        investigation_page(person("stranger"), investigation.pk)


def test_it_takes_the_same_few_queries_however_long_the_trail_is(judged_run, analyst, django_assert_max_num_queries):
    for number in range(5):
        review.comment(analyst, judged_run.investigation, f"Note {number}.")
    # roles, investigation, runs, steps, reviews, decision, labels, looks at logs, evidence counted by stream
    with django_assert_max_num_queries(10):
        investigation_page(analyst, judged_run.investigation_id)
