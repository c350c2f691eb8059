"""Opening a job by its id, and jobs that arrive by themselves."""

import dataclasses
from datetime import timedelta
from pathlib import Path

import pytest

from connectors.errors import Unreachable
from connectors.keys import JobKey
from investigations.access import NotAllowed
from investigations.errors import InvalidInput, JobNotFound, SourceUnavailable
from investigations.jobs.connectors import context
from investigations.jobs.discovery import ask_cluster, discover, look_at_running_jobs
from investigations.jobs.lookup import parse_job_key
from investigations.jobs.services import open_job
from investigations.models import AuditEvent, ConnectorConfig, Investigation, Job
from investigations.runs.steps import advance_fully
from tests.investigations.jobs import ENDED, a_cluster, a_job_context

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("48211", JobKey(None, "48211")),
        (" 48211_3 ", JobKey(None, "48211", array_task="3")),
        ("20+1", JobKey(None, "20", het_component=1)),
        ("48211#2", JobKey(None, "48211", attempt=2)),
        ("48211_3.batch", JobKey(None, "48211", array_task="3")),
        ("48211.0", JobKey(None, "48211")),
        ("train/pretrain-34b", JobKey(None, "train/pretrain-34b")),
    ],
)
def test_job_ids_are_read_as_people_write_them(text, key):
    assert parse_job_key(text) == key


@pytest.mark.parametrize("text", ["", "  ", "10_[1-4]", "../etc", "a b", "48211;id", "x" * 300, "48211\x00"])
def test_what_is_no_job_id_is_refused_with_a_remedy(text):
    with pytest.raises(InvalidInput) as refused:
        parse_job_key(text)
    assert refused.value.field == "job"
    assert refused.value.remedy


def test_opening_a_job_starts_its_first_run(scripted, analyst):
    opened = open_job(analyst, a_cluster(), "48211")
    assert opened.created
    assert (opened.run.number, opened.run.trigger, opened.run.requested_by) == (1, "user", analyst)
    assert opened.investigation.standing == "collecting"
    assert (opened.investigation.job.user, opened.investigation.job.gpu_hours) == ("reyes", 80.0)
    assert AuditEvent.objects.filter(actor=analyst, action="opened job").count() == 1


def test_opening_it_again_gives_the_same_investigation_and_run(scripted, analyst):
    first = open_job(analyst, a_cluster(), "48211")
    again = open_job(analyst, a_cluster(), "48211")
    assert (again.created, again.investigation, again.run) == (False, first.investigation, first.run)


def test_array_tasks_and_attempts_are_jobs_of_their_own(scripted, analyst):
    scripted.jobs = [
        a_job_context("10", array_task="1"),
        a_job_context("10", array_task="2"),
        a_job_context("20", het_component=1, attempt=2),
    ]
    for text in ("10_1", "10_2", "20+1#2"):
        assert open_job(analyst, a_cluster(), text).created
    assert {job.key for job in Job.objects.all()} == {"10_1", "10_2", "20+1#2"}


def test_an_unknown_job_says_who_was_asked_and_what_to_do(scripted, analyst):
    with pytest.raises(JobNotFound) as missing:
        open_job(analyst, a_cluster(), "99")
    assert missing.value.what == "There is no job 99."
    assert missing.value.where == "cluster Atlas: asked Script"
    assert "48211_3" in missing.value.remedy
    assert not Investigation.objects.exists()


def test_a_scheduler_that_cannot_be_asked_is_not_taken_for_no(scripted, analyst):
    scripted.cannot_look = Unreachable("The database is down", "slurmdbd on login1", "Start it.")
    with pytest.raises(SourceUnavailable) as unknown:
        open_job(analyst, a_cluster(), "48211")
    assert "could not be found out" in unknown.value.what
    assert "slurmdbd on login1" in unknown.value.where
    assert unknown.value.remedy == "Start it."


def test_a_cluster_without_connectors_says_so(analyst):
    with pytest.raises(SourceUnavailable, match="no connector"):
        open_job(analyst, a_cluster("empty"), "48211")


def test_a_viewer_cannot_open_jobs(scripted, viewer):
    with pytest.raises(NotAllowed):
        open_job(viewer, a_cluster(), "48211")


def test_failed_jobs_arrive_by_themselves_and_once(scripted):
    scripted.jobs.append(a_job_context("48212", ended=ENDED - timedelta(days=3)))
    found = discover(a_cluster(), since=ENDED - timedelta(days=1))
    assert (found.new, found.known) == (1, 0)
    found = discover(a_cluster(), since=ENDED - timedelta(days=1))
    assert (found.new, found.known) == (0, 1)
    investigation = Investigation.objects.get()
    assert (investigation.job.key, investigation.runs.get().trigger) == ("48211", "discovery")


def test_discovery_names_the_connector_that_failed_and_looks_back_as_far_next_time(scripted):
    scripted.cannot_look = Unreachable("No answer", "login1", "Look at it.")
    assert discover(a_cluster()).problems == [
        {"connector": "Script", "what": "No answer", "where": "login1", "remedy": "Look at it."}
    ]
    assert ConnectorConfig.objects.get().last_discovered_at is None


def test_two_workers_do_not_ask_one_cluster_at_once(scripted):
    seen = []
    scripted.asked = lambda: seen.append(ask_cluster(a_cluster()))
    assert ask_cluster(a_cluster()) is not None
    assert seen == [None]
    assert ask_cluster(a_cluster()) is not None


def test_a_running_job_is_judged_provisionally_and_again_when_it_has_ended(scripted, analyst):
    ended = scripted.jobs[0]
    scripted.jobs = [dataclasses.replace(ended, state="RUNNING", ended=None, exit_code=None)]
    opened = open_job(analyst, a_cluster(), "48211")
    advance_fully(opened.run.pk)
    opened.investigation.refresh_from_db()
    assert opened.investigation.provisional
    assert look_at_running_jobs(a_cluster()) == 0

    scripted.jobs = [ended]
    assert look_at_running_jobs(a_cluster()) == 1
    second = opened.investigation.runs.get(number=2)
    assert second.trigger == "job_ended"
    advance_fully(second.pk)
    opened.investigation.refresh_from_db()
    assert not opened.investigation.provisional
    assert opened.investigation.job.state == "FAILED"


def test_a_site_limits_what_connectors_may_read_and_start(settings):
    settings.FIRST_FAULT = {"ROOTS": ["/srv/bundles"], "PROGRAMS": ["/opt/slurm/bin/sacct"]}
    allowed = context(a_cluster(zone="Europe/Berlin"))
    assert allowed.roots == (Path("/srv/bundles"),)
    assert allowed.programs == ("/opt/slurm/bin/sacct",)
    assert allowed.timezone == "Europe/Berlin"
