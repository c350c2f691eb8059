"""Confirming, overriding and taking back; who may, and what the trail says."""

from datetime import timedelta

import pytest
from django.utils import timezone

from investigations.access import NotAllowed
from investigations.errors import Conflict, InvalidInput
from investigations.models import AuditEvent, Review
from investigations.review import services as review
from investigations.review.forms import AmbiguousForm
from tests.investigations.jobs import a_finished_run, a_verdict, an_investigation
from tests.investigations.people import person

pytestmark = pytest.mark.django_db


def test_a_confirmed_verdict_stands_as_confirmed(judged_run, analyst):
    made = review.confirm(analyst, judged_run)
    investigation = judged_run.investigation
    assert (investigation.standing, investigation.reviewed_by) == ("confirmed", analyst)
    assert made.cause == "gpu_link_signal_integrity"
    assert (made.before["standing"], made.after["standing"]) == ("attributed", "confirmed")


def test_an_override_replaces_cause_and_culprit_in_the_queue(judged_run, analyst):
    review.override(
        analyst, judged_run, "network_link_flap", [{"node": "leaf-3b", "device": "port 17"}], "Port flapped."
    )
    investigation = judged_run.investigation
    assert investigation.standing == "overridden"
    assert (investigation.cause, investigation.sub_domain) == ("network_link_flap", "network")
    assert investigation.culprit == "leaf-3b port 17"
    assert judged_run.verdict["cause"] == "gpu_link_signal_integrity"


@pytest.mark.parametrize(("cause", "why", "field"), [("bad_luck", "Because.", "cause"), ("gpu_hang", "  ", "why")])
def test_an_override_needs_a_known_cause_and_a_reason(judged_run, analyst, cause, why, field):
    with pytest.raises(InvalidInput) as refused:
        review.override(analyst, judged_run, cause, [], why)
    assert refused.value.field == field
    assert not Review.objects.exists()


def test_a_verdict_can_be_marked_ambiguous_with_the_causes_that_fit(judged_run, analyst):
    made = review.mark_ambiguous(analyst, judged_run, "Either.", ["gpu_hang", "data_loader_failure"])
    assert made.alternatives == ["gpu_hang", "data_loader_failure"]
    assert judged_run.investigation.standing == "ambiguous"
    assert judged_run.investigation.reviewed


def test_cannot_tell_closes_the_open_question(investigation, analyst):
    run = a_finished_run(investigation, a_verdict(outcome="insufficient_evidence", cause=None))
    assert investigation.due_at is not None
    review.cannot_tell(analyst, run, "No syslog anywhere.")
    assert investigation.standing == "insufficient_evidence"
    run.investigation.refresh_from_db()
    assert run.investigation.due_at is None


def test_a_retracted_decision_gives_the_engine_its_word_back_and_both_stay_in_the_trail(judged_run, analyst):
    made = review.override(analyst, judged_run, "gpu_hang", [], "I thought so.")
    review.retract(analyst, made, "Wrong job.")
    investigation = judged_run.investigation
    investigation.refresh_from_db()
    assert (investigation.standing, investigation.cause) == ("attributed", "gpu_link_signal_integrity")
    assert [entry.action for entry in investigation.reviews.order_by("id")] == ["override", "retract"]


def test_a_decision_is_taken_back_once(judged_run, analyst):
    made = review.confirm(analyst, judged_run)
    review.retract(analyst, made, "No.")
    with pytest.raises(Conflict):
        review.retract(analyst, made, "No again.")


def test_after_a_retraction_the_earlier_decision_counts_again(judged_run, analyst):
    review.confirm(analyst, judged_run)
    second = review.override(analyst, judged_run, "gpu_hang", [], "Hm.")
    review.retract(analyst, second, "No.")
    judged_run.investigation.refresh_from_db()
    assert judged_run.investigation.standing == "confirmed"


def test_labels_go_on_once_and_come_off(investigation, analyst):
    assert review.add_label(analyst, investigation, "  RMA  packet ").label == "rma packet"
    assert review.add_label(analyst, investigation, "rma packet") is None
    assert review.remove_label(analyst, investigation, "rma packet").after["labels"] == []
    assert [entry.action for entry in investigation.reviews.order_by("id")] == ["label", "unlabel"]


def test_what_somebody_has_in_hand_cannot_be_taken_by_another(investigation, analyst):
    other = person("jo", "analyst")
    review.take(analyst, investigation)
    with pytest.raises(Conflict, match="mika has this in hand"):
        review.take(other, investigation)
    review.assign(other, investigation, other)
    assert investigation.owner == other


def test_a_hold_runs_out(investigation, analyst, time_machine):
    review.take(person("jo", "analyst"), investigation)
    time_machine.move_to(timezone.now() + timedelta(hours=4, seconds=1))
    review.take(analyst, investigation)
    assert investigation.owner == analyst


def test_only_people_who_review_can_be_made_owner(investigation, analyst, viewer):
    with pytest.raises(InvalidInput, match="cannot review"):
        review.assign(analyst, investigation, viewer)


def test_a_later_run_that_says_otherwise_is_pointed_out(judged_run, analyst):
    review.confirm(analyst, judged_run)
    investigation = judged_run.investigation
    a_finished_run(investigation, a_verdict(cause="gpu_hang", sub_domain="gpu"))
    assert (investigation.standing, investigation.disagrees) == ("confirmed", True)


def test_a_run_without_a_verdict_cannot_be_judged(investigation, analyst):
    run = a_finished_run(investigation, state="failed")
    with pytest.raises(Conflict, match="no verdict"):
        review.confirm(analyst, run)


def test_every_review_leaves_an_audit_row(judged_run, analyst):
    review.confirm(analyst, judged_run)
    event = AuditEvent.objects.get(action="review: confirmed")
    assert (event.actor, event.object_type, event.object_id) == (
        analyst,
        "investigation",
        str(judged_run.investigation_id),
    )


@pytest.mark.parametrize("role", ["", "viewer"])
def test_other_roles_cannot_review(judged_run, role):
    user = person("someone", role)
    investigation = judged_run.investigation
    acts = [
        lambda: review.confirm(user, judged_run),
        lambda: review.override(user, judged_run, "gpu_hang", [], "Why."),
        lambda: review.mark_ambiguous(user, judged_run, "Why."),
        lambda: review.cannot_tell(user, judged_run, "Why."),
        lambda: review.add_label(user, investigation, "x"),
        lambda: review.remove_label(user, investigation, "x"),
        lambda: review.comment(user, investigation, "x"),
        lambda: review.assign(user, investigation, user),
        lambda: review.take(user, investigation),
    ]
    for act in acts:
        with pytest.raises(NotAllowed):
            act()
    assert not Review.objects.exists()
    assert not AuditEvent.objects.filter(actor=user).exists()


def test_reviews_of_one_job_do_not_touch_another(judged_run, analyst):
    other = an_investigation("48212")
    review.confirm(analyst, judged_run)
    other.refresh_from_db()
    assert other.standing == "new"


@pytest.mark.parametrize(
    "typed",
    [
        "gpu_hang, network_link_down",
        "GPU hang, Network link down",
        "gpu_hang network_link_down",
        "gpu hang;network_link_down,",
    ],
)
def test_the_causes_that_fit_may_be_typed_as_names_or_as_words(typed):
    form = AmbiguousForm({"run": 1, "why": "Both fit.", "causes": typed})
    assert form.is_valid(), form.errors
    assert form.cleaned_data["causes"] == ["gpu_hang", "network_link_down"]


def test_a_label_cannot_turn_the_pages_text_around(judged_run, analyst):
    review.add_label(analyst, judged_run.investigation, "rack\u202e7\u200b\x1b")
    assert [label.name for label in judged_run.investigation.labels.all()] == ["rack7"]
