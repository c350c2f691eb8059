"""A line of evidence is seen among its neighbours, and still when the log is gone."""

import shutil

import pytest
from django.http import Http404

from investigations.access import NotAllowed
from investigations.models import AuditEvent
from investigations.runs.logs import log_window
from investigations.runs.queries import investigation_page
from tests.investigations.jobs import a_finished_run, a_verdict, an_item
from tests.investigations.people import person

pytestmark = pytest.mark.django_db

STREAM = "syslog/gpu-node-07.log"


@pytest.fixture
def run(investigation, settings, tmp_path):
    settings.BUNDLES_DIR = tmp_path
    evidence = [an_item("E1", 50), an_item("E2", 52, role="symptom"), an_item("E3", 9, stream="syslog/gone.log")]
    run = a_finished_run(investigation, a_verdict(evidence=evidence))
    file = run.bundle_dir / STREAM
    file.parent.mkdir(parents=True)
    file.write_bytes(b"".join(b"line %d of the log\n" % number for number in range(1, 101)))
    (file.parent / "odd.log").write_bytes(b"\x1b[31mred\x00\n" + b"x" * 200_000 + b"\n\xff\xfe bytes\n")
    (file.parent / "empty.log").write_bytes(b"")
    return run


def numbers(window):
    return [line.number for line in window.lines]


def test_a_line_is_shown_with_what_stands_around_it(run, viewer):
    window = log_window(viewer, run, STREAM, line=50, before=2, after=3)
    assert numbers(window) == [48, 49, 50, 51, 52, 53]
    assert [line.text for line in window.lines if line.anchor] == ["line 50 of the log"]
    assert [mark.evidence_id for line in window.lines for mark in line.evidence] == ["E1", "E2"]
    assert (window.earlier, window.later) == (45, 57)
    assert [(hit.evidence_id, hit.line) for hit in window.hits] == [("E1", 50), ("E2", 52)]
    assert (window.node, window.source, window.problem) == ("gpu-node-07", "syslog", None)


def test_without_a_place_it_opens_at_the_first_fault(run, viewer):
    assert log_window(viewer, run, STREAM).anchor == 50


def test_a_byte_offset_leads_to_its_line(run, viewer):
    offset = log_window(viewer, run, STREAM, line=77, before=0, after=0).lines[0].offset
    assert log_window(viewer, run, STREAM, offset=offset + 3).anchor == 77


def test_the_ends_of_a_log_lead_no_further(run, viewer):
    first = log_window(viewer, run, STREAM, line=1, before=5, after=1)
    assert (numbers(first), first.earlier) == ([1, 2], None)
    last = log_window(viewer, run, STREAM, line=100, before=1, after=5)
    assert (numbers(last), last.later) == ([99, 100], None)


def test_a_line_beyond_the_end_is_said_to_be_none(run, viewer):
    window = log_window(viewer, run, STREAM, line=10_000)
    assert window.lines == ()
    assert window.problem["what"] == "The log has no line 10000."


def test_an_empty_log_says_so(run, viewer):
    assert log_window(viewer, run, "syslog/empty.log").problem["what"] == "The log is empty."


def test_hostile_bytes_are_shown_as_signs_and_long_lines_cut(run, viewer):
    lines = log_window(viewer, run, "syslog/odd.log").lines
    assert lines[0].text == "\N{SYMBOL FOR ESCAPE}[31mred\N{SYMBOL FOR NULL}"
    assert (len(lines[1].text), lines[1].cut) == (8000, True)
    assert lines[2].text == "\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER} bytes"


def test_the_window_has_a_bound(run, viewer):
    assert len(log_window(viewer, run, STREAM, line=1, before=10**9, after=10**9).lines) == 100


@pytest.mark.parametrize("stream", ["syslog/none.log", "../secret", "/etc/passwd", "manifest.json", ""])
def test_only_streams_of_the_bundle_can_be_asked_for(run, viewer, stream):
    with pytest.raises(Http404):
        log_window(viewer, run, stream)


def test_when_the_log_is_gone_the_evidence_is_still_there(run, viewer):
    shutil.rmtree(run.bundle_dir)
    window = log_window(viewer, run, STREAM, line=52)
    assert [(line.number, line.text, line.anchor) for line in window.lines] == [
        (50, "line 50 of the kernel log", False),
        (52, "line 52 of the kernel log", True),
    ]
    assert "no longer kept" in window.problem["what"]


def test_looking_at_a_raw_log_is_audited(run, viewer):
    log_window(viewer, run, STREAM, line=50)
    event = AuditEvent.objects.get(action="viewed raw log")
    assert (event.actor, event.detail) == (viewer, {"run": 1, "stream": STREAM})


def test_paging_through_one_log_is_one_look_and_the_trail_shows_it(run, viewer, analyst):
    for line in (1, 40, 80):
        log_window(viewer, run, STREAM, line=line)
    log_window(viewer, run, "syslog/odd.log")
    log_window(analyst, run, STREAM)
    assert AuditEvent.objects.filter(action="viewed raw log").count() == 3
    page = investigation_page(viewer, run.investigation_id)
    looks = sorted((entry.who, entry.text) for entry in page.activity if entry.action == "raw_log")
    assert ("mika", "Looked at the raw logs of run 1") in looks
    assert {who for who, _ in looks} == {"mika", "vera"}


def test_without_a_role_no_log_is_shown(run):
    with pytest.raises(NotAllowed):
        log_window(person("stranger"), run, STREAM)
