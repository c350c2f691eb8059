"""A run from its first step to the verdict, with everything that can go wrong on the way."""

import json

import pytest

from connectors.errors import AccessDenied, Unreachable
from investigations.access import NotAllowed
from investigations.jobs.services import open_job
from investigations.models import AuditEvent, Evidence, Investigation, Run, RunStep
from investigations.runs.progress import progress
from investigations.runs.services import start_run
from investigations.runs.steps import advance, advance_fully
from tests.investigations.jobs import a_cluster

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def run(scripted, analyst):
    return open_job(analyst, a_cluster(), "48211").run


def finished(run):
    advance_fully(run.pk)
    return Run.objects.get(pk=run.pk)


def states(run):
    return {step.source or step.kind: step.state for step in run.steps.all()}


def test_a_run_collects_and_gives_a_verdict(scripted, run):
    done = finished(run)
    assert done.state == "done"
    assert states(done) == {"plan": "done", "scheduler": "done", "applog": "done", "attribute": "done"}
    verdict = done.verdict
    assert (done.pack_name, done.bundle_sha256) == (verdict["pack"]["name"], verdict["bundle_sha256"])
    assert [item["id"] for item in verdict["evidence"]] == [item.evidence_id for item in done.evidence.all()]
    investigation = Investigation.objects.get()
    assert (investigation.standing, investigation.latest_run, investigation.busy) == (verdict["outcome"], done, False)


def test_the_verdict_is_kept_byte_for_byte(scripted, run):
    from rules import attribute, core_pack
    from telemetry.bundle import open_bundle

    done = finished(run)
    assert attribute(open_bundle(done.bundle_dir), core_pack()).as_json() == done.verdict_json


def test_sources_that_nobody_collects_are_named_in_the_coverage(scripted, run):
    statuses = {report["source"]: report["status"] for report in finished(run).verdict["coverage"]}
    assert statuses["syslog"] == statuses["fabric"] == statuses["metrics"] == "not_configured"
    assert statuses["applog"] == "complete"


def test_a_source_that_fails_is_told_and_the_rest_is_judged(scripted, run):
    scripted.fails["syslog"] = AccessDenied("Permission denied", "/var/log/messages", "Let the account read it.")
    done = finished(run)
    assert done.state == "done"
    step = done.steps.get(source="syslog")
    assert step.state == "failed"
    assert step.problem == {
        "what": "Permission denied",
        "where": "/var/log/messages",
        "remedy": "Let the account read it.",
    }
    report = next(report for report in done.verdict["coverage"] if report["source"] == "syslog")
    assert report["status"] == "failed"
    assert "Permission denied" in report["detail"]


def test_a_crash_is_kept_with_a_traceback_that_shows_no_install_path(scripted, run):
    scripted.fails["fabric"] = ZeroDivisionError("division by zero")
    done = finished(run)
    step = done.steps.get(source="fabric")
    assert (done.state, step.state) == ("done", "errored")
    assert "ZeroDivisionError" in step.traceback
    assert "investigations/runs/collecting.py" in step.traceback
    assert "/investigations/runs" not in step.traceback
    report = next(report for report in done.verdict["coverage"] if report["source"] == "fabric")
    assert report["status"] == "failed"


def test_when_every_source_fails_there_still_is_a_verdict(scripted, run):
    scripted.streams.clear()
    scripted.fails = {"applog": AccessDenied("Permission denied", "/home/reyes", "Ask the user.")}
    done = finished(run)
    assert (done.state, done.verdict["outcome"]) == ("done", "insufficient_evidence")


def test_a_rule_engine_that_crashes_ends_the_run_and_says_so(scripted, run, monkeypatch):
    monkeypatch.setattr("investigations.runs.attributing.attribute", lambda *given: 1 / 0)
    done = finished(run)
    assert done.state == "errored"
    assert "ZeroDivisionError" in done.traceback
    assert progress(done).sentence == "The console itself failed in this step."
    assert Investigation.objects.get().standing == "failed"


def test_a_rerun_is_a_new_run_beside_the_old(scripted, run, analyst):
    first = finished(run)
    second = start_run(analyst, first.investigation)
    assert (second.number, second.trigger) == (2, "rerun")
    second = finished(second)
    first.refresh_from_db()
    assert first.verdict_json == second.verdict_json
    assert first.bundle_dir != second.bundle_dir
    assert Evidence.objects.filter(run=second).count() == len(second.verdict["evidence"])


def test_asking_twice_while_a_run_is_under_way_gives_one_run(scripted, run, analyst):
    assert start_run(analyst, run.investigation) == run
    assert Run.objects.count() == 1


def test_a_rerun_of_a_job_that_the_scheduler_forgot_goes_on_with_what_was_known(scripted, run, analyst):
    finished(run)
    scripted.cannot_look = Unreachable("No answer", "login1", "Look at it.")
    second = finished(start_run(analyst, run.investigation))
    assert second.state == "done"
    assert "what was known" in second.steps.get(kind="plan").note


def test_a_viewer_cannot_start_a_run(scripted, run, viewer):
    finished(run)
    with pytest.raises(NotAllowed):
        start_run(viewer, run.investigation)
    assert not AuditEvent.objects.filter(actor=viewer).exists()


def test_progress_is_seen_while_a_source_is_read(scripted, run):
    seen = []
    scripted.during = lambda source, context: seen.append(progress(Run.objects.get(pk=run.pk)))
    advance(run.pk)
    before = progress(Run.objects.get(pk=run.pk))
    advance(run.pk)
    (now,) = seen
    assert before.version != now.version
    assert now.sentence == "Reading job output, 0 of 2."
    step = next(step for step in now.steps if step.source == "applog")
    assert (step.state, step.note, step.targets_total, step.percent) == ("running", "half of it", 2, 0)
    assert now.collected_bytes == len(scripted.streams["applog"])


def test_a_finished_run_does_nothing_more(scripted, run):
    done = finished(run)
    scripted.collected.clear()
    assert advance(done.pk) is None
    assert scripted.collected == []


def test_a_finished_step_is_not_done_again(scripted, run):
    advance(run.pk)
    advance(run.pk)
    advance_fully(run.pk)
    assert sorted(scripted.collected) == ["applog", "scheduler"]
    assert RunStep.objects.filter(run=run).count() == 4


def test_evidence_with_bytes_that_no_database_takes_is_kept(scripted, run, monkeypatch):
    from investigations.runs import attributing

    class Hostile(dict):
        def as_json(self):
            return json.dumps(self)

    def with_hostile_text(bundle, pack):
        from tests.investigations.jobs import a_verdict, an_item

        return Hostile(a_verdict(evidence=[an_item("E1", 1, text="a\x00b\udcff")], title="t\x00"))

    monkeypatch.setattr(attributing, "attribute", with_hostile_text)
    done = finished(run)
    assert done.state == "done"
    assert done.evidence.get().text == "a\N{SYMBOL FOR NULL}b?"


def test_the_manifest_lists_the_streams_of_every_worker(scripted, run):
    from telemetry.bundle import open_bundle

    manifest = open_bundle(finished(run).bundle_dir).manifest
    assert [entry.path for entry in manifest.streams] == ["applog/node.log", "scheduler/node.log"]
    assert manifest.streams[0].lines == 2
