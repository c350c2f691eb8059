"""The trail says in plain words who did what: never a slug, never a sentence put together from two verbs."""

import pytest

from investigations.review import services as review
from investigations.runs.queries import investigation_page
from tests.investigations.people import person
from tests.pages import verdicts
from tests.pages.conftest import with_verdict


@pytest.fixture
def told(worked, analyst):
    """The newest entry of the trail."""
    return lambda: investigation_page(analyst, worked.investigation_id).activity[0].text


def test_causes_stand_in_words_and_not_as_slugs(worked, analyst, told):
    review.confirm(analyst, worked, "Agreed.")
    assert told() == "Confirmed “GPU link signal integrity”: Agreed."
    review.override(analyst, worked, "network_link_down", [], "The switch says so.")
    assert told() == "Overrode the verdict with “Network link down”: The switch says so."
    review.mark_ambiguous(analyst, worked, "Both fit.", ["gpu_hang", "network_link_down"])
    assert told() == "Marked ambiguous between “GPU hang” and “Network link down”: Both fit."
    review.mark_ambiguous(analyst, worked, "Several fit.")
    assert told() == "Marked ambiguous: Several fit."
    review.cannot_tell(analyst, worked, "No logs.")
    assert told() == "Cannot tell: No logs."


def test_a_verdict_without_a_cause_is_confirmed_as_a_verdict(analyst):
    run = with_verdict(verdicts.insufficient(), bundle=False)
    review.confirm(analyst, run)
    assert investigation_page(analyst, run.investigation_id).activity[0].text == "Confirmed the verdict"


def test_what_is_taken_back_is_named_with_whose_it_was(worked, analyst, told):
    remark = review.comment(person("otto", "analyst"), worked.investigation, "Looks odd.")
    review.retract(analyst, remark, "mistake")
    assert told() == "Took back the comment by otto: mistake"
    own = review.confirm(analyst, worked)
    review.retract(analyst, own, "too early")
    assert told() == "Took back their own confirmation: too early"


def test_labels_and_owners_read_as_sentences(worked, analyst, told):
    review.add_label(analyst, worked.investigation, "nvlink")
    assert told() == "Added the label “nvlink”"
    review.remove_label(analyst, worked.investigation, "nvlink")
    assert told() == "Removed the label “nvlink”"
    review.take(analyst, worked.investigation)
    assert told() == "Assigned to mika"


def test_the_answer_names_the_cause_that_a_person_put_in_place_of_the_verdict(worked, analyst, client):
    review.override(analyst, worked, "network_link_down", [], "The switch says so.")
    client.force_login(analyst)
    page = client.get(f"/investigations/{worked.investigation_id}/").content.decode()
    assert "overrode the verdict with <b>Network link down</b>" in page
