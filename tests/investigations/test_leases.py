"""A killed worker's run is resumed by another, never doubled."""

from datetime import timedelta

import pytest
from django.utils import timezone

from investigations.jobs.services import open_job
from investigations.limits import limits
from investigations.models import Run, RunStep
from investigations.runs import sweep as sweeping
from investigations.runs.leases import LeaseLost, claim_step, write_held
from investigations.runs.steps import advance, advance_fully
from investigations.runs.sweep import sweep
from tests.investigations.jobs import a_cluster

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def run(scripted, analyst):
    run = open_job(analyst, a_cluster(), "48211").run
    advance(run.pk)  # the plan
    return run


@pytest.fixture
def sent(monkeypatch):
    """The run ids that the sweep sent messages for."""
    ids = []
    monkeypatch.setattr(sweeping, "send", ids.append)
    return ids


def later(seconds):
    return timezone.now() + timedelta(seconds=seconds)


def let_the_lease_run_out(step):
    RunStep.objects.filter(pk=step.pk).update(lease_until=timezone.now() - timedelta(seconds=1))


def test_two_workers_never_hold_the_same_step(run):
    first, second = claim_step(run.pk), claim_step(run.pk)
    assert {first.source, second.source} == {"applog", "scheduler"}
    assert claim_step(run.pk) is None


def test_attributing_waits_until_nothing_else_is_open(run):
    claim_step(run.pk)
    other = claim_step(run.pk)
    write_held(other, state=RunStep.State.DONE)
    assert claim_step(run.pk) is None


def test_a_dead_workers_step_is_taken_over_and_done_once(scripted, run):
    dead = claim_step(run.pk)
    let_the_lease_run_out(dead)
    advance_fully(run.pk)
    assert Run.objects.get(pk=run.pk).state == "done"
    step = RunStep.objects.get(pk=dead.pk)
    assert (step.state, step.attempts) == ("done", 2)
    assert sorted(scripted.collected) == ["applog", "scheduler"]


def test_a_worker_that_was_thought_dead_changes_nothing_when_it_comes_back(run):
    slow = claim_step(run.pk)
    let_the_lease_run_out(slow)
    claimed = claim_step(run.pk)
    assert claimed.pk == slow.pk
    with pytest.raises(LeaseLost):
        write_held(slow, state=RunStep.State.FAILED)
    claimed.refresh_from_db()
    assert claimed.state == "running"


def test_a_collecting_worker_notices_that_its_step_was_taken_over(scripted, run):
    def take_over(source, context):
        RunStep.objects.filter(source=source).update(lease_owner="another worker")

    scripted.during = take_over
    step = advance(run.pk)
    step.refresh_from_db()
    assert (step.state, step.lease_owner) == ("running", "another worker")


def test_a_step_that_kills_every_worker_is_given_up_and_the_run_goes_on(scripted, run):
    for _ in range(limits().step_attempts):
        step = claim_step(run.pk)
        let_the_lease_run_out(step)
    advance_fully(run.pk)
    done = Run.objects.get(pk=run.pk)
    lost = done.steps.get(pk=step.pk)
    assert (done.state, lost.state) == ("done", "errored")
    assert "worker was lost 3 times" in lost.problem["what"]
    report = next(report for report in done.verdict["coverage"] if report["source"] == lost.source)
    assert report["status"] == "failed"


def test_when_attributing_kills_every_worker_the_run_ends(run):
    RunStep.objects.filter(run=run, kind="collect").update(state=RunStep.State.DONE)
    for _ in range(limits().step_attempts):
        let_the_lease_run_out(claim_step(run.pk))
    assert advance(run.pk) is None
    assert Run.objects.get(pk=run.pk).state == "errored"


def test_the_sweep_sends_for_a_run_whose_worker_died(run, sent):
    step = claim_step(run.pk)
    assert sweep(later(limits().lease_seconds - 5)) == []
    let_the_lease_run_out(step)
    assert sweep(later(limits().lease_seconds + 5)) == sent == [run.pk]


def test_the_sweep_sends_once_however_often_it_looks(run, sent):
    for _ in range(3):
        sweep(later(limits().lease_seconds + 5))
    assert sent == [run.pk]


def test_the_sweep_leaves_living_and_finished_runs_alone(run, sent):
    advance_fully(run.pk)
    sweep(later(10_000))
    assert sent == []


def test_a_message_that_comes_twice_does_no_harm(scripted, run):
    advance_fully(run.pk)
    advance_fully(run.pk)
    assert Run.objects.get(pk=run.pk).evidence.count() == len(Run.objects.get(pk=run.pk).verdict["evidence"])


def test_a_step_that_takes_too_long_is_stopped_and_says_so(scripted, run, monkeypatch):
    monkeypatch.setattr("investigations.runs.leases.Heartbeat.over_time", lambda self: True)
    step = advance(run.pk)
    step.refresh_from_db()
    assert step.state == "failed"
    assert "longer than 30 minutes" in step.problem["what"]


def test_what_a_worker_without_the_lease_has_read_never_replaces_what_its_heir_stored(scripted, run):
    def be_overtaken(source, context):
        scripted.during = lambda source, context: None
        let_the_lease_run_out(RunStep.objects.get(run=run, source=source))
        advance(run.pk)  # the heir does the same step, whole
        scripted.streams[source] = b"what came later\n"

    scripted.during = be_overtaken
    first = scripted.streams["applog"]
    advance(run.pk)
    stored = Run.objects.get(pk=run.pk).bundle_dir / "applog" / "node.log"
    assert stored.read_bytes() == first
    assert RunStep.objects.get(run=run, source="applog").state == "done"
    assert [part.name for part in stored.parent.iterdir()] == ["node.log"]
