"""What the Slurm connector says when sacct fails, lies, stops half-way or hangs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from connectors import Context, JobKey, Limits, parse_config
from connectors.contract import Step
from connectors.errors import (
    AccessDenied,
    BadAnswer,
    Cancelled,
    ConnectorError,
    Misconfigured,
    NotFound,
    TimedOut,
    Unreachable,
)
from connectors.slurm.connector import Slurm
from telemetry.writer import BundleWriter
from tests.connectors.conftest import RECORDED, job_at
from tests.connectors.test_slurm_answers import setting

SLURM = Slurm()
KEY = JobKey.parse("8")
TABLE = (RECORDED / "oom_step.P.txt").read_bytes()


def failing(text: str, status: int = 1) -> str:
    return f"sys.stderr.write({text!r}); sys.exit({status})"


def test_a_database_that_is_down_is_unreachable_with_what_to_check(fake_program: Callable[..., Path]) -> None:
    config, context = setting(fake_program(failing((RECORDED / "dbd_down.P.txt").read_text())))
    with pytest.raises(Unreachable, match="slurmdbd") as caught:
        SLURM.find_job(config, KEY, context)
    assert "AccountingStorageHost" in caught.value.remedy
    assert not caught.value.permanent


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("sacct: error: Slurm accounting storage is disabled", ConnectorError),
        ("user1@login1: Permission denied (publickey,password).", AccessDenied),
        ("Host key verification failed.", AccessDenied),
        ("ssh: Could not resolve hostname login1: Name or service not known", Unreachable),
        ('sacct: error: Munge encode failed: Failed to access "/run/munge/munge.socket.2"', Unreachable),
        ("bash: line 1: sacct: command not found", NotFound),
        ("something never seen before", BadAnswer),
        ("", BadAnswer),
    ],
)
def test_every_complaint_has_a_place_and_a_remedy(
    said: str, kind: type[ConnectorError], fake_program: Callable[..., Path]
) -> None:
    config, context = setting(fake_program(failing(said, 255)))
    with pytest.raises(kind) as caught:
        SLURM.find_job(config, KEY, context)
    assert caught.value.what
    assert caught.value.where
    assert caught.value.remedy


def test_a_field_that_this_sacct_lacks_is_left_out_and_told(
    fake_program: Callable[..., Path], writer: BundleWriter
) -> None:
    config, context = setting(
        fake_program(
            f"""
fields = argv[argv.index("-o") + 1].split(",")
for old in ("ReqMem", "DerivedExitCode"):
    if old in fields:
        sys.stderr.write('sacct: error: Invalid field requested: "%s"\\n' % old); sys.exit(1)
sys.stdout.buffer.write({TABLE!r})
"""
        )
    )
    (report,) = SLURM.collect(config, job_at(id="8"), Step("scheduler"), writer, context)
    assert report.status == "complete"
    assert "no field ReqMem" in report.detail
    assert "no field DerivedExitCode" in report.detail


def test_a_field_that_cannot_be_done_without_does_not_make_it_ask_for_ever(fake_program: Callable[..., Path]) -> None:
    config, context = setting(fake_program(failing('sacct: error: Invalid field requested: "JobID"\n')))
    with pytest.raises(BadAnswer):
        SLURM.find_job(config, KEY, context)


@pytest.mark.parametrize(("form", "other"), [("text", "json"), ("json", "text")])
def test_the_other_form_is_tried_when_one_cannot_be_had(
    form: str, other: str, recorded_sacct: Callable[..., Path], writer: BundleWriter
) -> None:
    only = {other: {"text": "oom_step.P.txt", "json": "oom_step.json"}[other]}
    config, context = setting(recorded_sacct(**only), form=form)
    (report,) = SLURM.collect(config, job_at(id="8"), Step("scheduler"), writer, context)
    assert f"The {form} form could not be had" in report.detail
    assert [file.name for file in (writer.root / "scheduler").iterdir()] == [
        "sacct.txt" if other == "text" else "sacct.json"
    ]


@pytest.mark.parametrize("status", [0, 1])
def test_half_a_table_is_kept_and_called_partial(
    status: int, fake_program: Callable[..., Path], writer: BundleWriter
) -> None:
    half = TABLE[: TABLE.rfind(b"|", 0, len(TABLE) - 150)]
    config, context = setting(
        fake_program(f"sys.stdout.buffer.write({half!r}); sys.stdout.flush(); os._exit({status})")
    )
    (report,) = SLURM.collect(config, job_at(id="8"), Step("scheduler"), writer, context)
    assert report.status == "partial"
    assert report.reason in {"truncated", "bad_answer"}
    assert (writer.root / "scheduler/sacct.txt").read_bytes() == half


def test_a_hanging_sacct_is_ended_with_all_its_children(fake_program: Callable[..., Path], tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    config, context = setting(
        fake_program(
            f"""
child = subprocess.Popen(["sleep", "600"])
open({str(pids)!r}, "w").write(f"{{os.getpid()}} {{child.pid}}")
signal.signal(signal.SIGTERM, signal.SIG_IGN)
time.sleep(600)
"""
        ),
        timeout=1.0,
    )
    begun = time.monotonic()
    with pytest.raises(TimedOut, match="1 seconds"):
        SLURM.find_job(config, KEY, context)
    assert time.monotonic() - begun < 10
    for pid in pids.read_text().split():
        assert not _runs(int(pid))


def test_what_came_before_it_hung_is_kept(fake_program: Callable[..., Path], writer: BundleWriter) -> None:
    config, context = setting(
        fake_program(f"sys.stdout.buffer.write({TABLE!r}); sys.stdout.flush(); time.sleep(600)"), timeout=1.5
    )
    (report,) = SLURM.collect(config, job_at(id="8"), Step("scheduler"), writer, context)
    assert (report.status, report.reason) == ("partial", "timeout")
    assert report.lines == TABLE.count(b"\n")


def test_cancelling_ends_sacct_at_once(fake_program: Callable[..., Path]) -> None:
    config, context = setting(fake_program("time.sleep(600)"), timeout=60)
    begun = time.monotonic()

    def cancelled() -> bool:
        return time.monotonic() - begun > 0.5

    with pytest.raises(Cancelled):
        SLURM.find_job(config, KEY, Context(programs=context.programs, cancelled=cancelled))
    assert time.monotonic() - begun < 10


def test_an_endless_answer_is_cut_at_the_limit(fake_program: Callable[..., Path], writer: BundleWriter) -> None:
    endless = f"sys.stdout.buffer.write({TABLE!r})\nwhile True: sys.stdout.buffer.write({TABLE.splitlines(True)[1]!r})"
    config, context = setting(fake_program(endless))
    context = Context(programs=context.programs, limits=Limits(answer_bytes=100_000))
    (report,) = SLURM.collect(config, job_at(id="8"), Step("scheduler"), writer, context)
    assert (report.status, report.reason) == ("partial", "truncated")
    assert report.bytes <= 110_000


@pytest.mark.parametrize("junk", [b"", b"\0\xff\xfe junk \x1f" * 50, b"Last login: Tue\nWelcome!\n", b"[1, 2]", b"{}"])
def test_junk_is_a_bad_answer_and_not_an_unknown_job(junk: bytes, fake_program: Callable[..., Path]) -> None:
    config, context = setting(fake_program(f"sys.stdout.buffer.write({junk!r})"))
    with pytest.raises(BadAnswer) as caught:
        SLURM.find_job(config, KEY, context)
    assert len(str(caught.value)) < 1000


def test_what_a_program_prints_is_redacted_before_it_is_shown(fake_program: Callable[..., Path]) -> None:
    token = "ghp_" + "a1B2" * 9
    for body in (f"print('{token}')", failing(f"login failed with {token}")):
        config, context = setting(fake_program(body))
        with pytest.raises(BadAnswer) as caught:
            SLURM.find_job(config, KEY, context)
        assert token not in str(caught.value)


def test_json_errors_with_no_jobs_are_not_an_unknown_job(fake_program: Callable[..., Path]) -> None:
    answer = (
        b'{"meta": {}, "errors": [{"error_number": 7000, "description": "Unable to connect to database"}], "jobs": []}'
    )
    config, context = setting(fake_program(f"sys.stdout.buffer.write({answer!r})"), form="json")
    with pytest.raises(Unreachable, match="Unable to connect to database"):
        SLURM.find_job(config, KEY, context)


def test_deeply_nested_json_is_refused(fake_program: Callable[..., Path]) -> None:
    config, context = setting(fake_program("sys.stdout.write('[' * 200000)"), form="json")
    with pytest.raises(BadAnswer):
        SLURM.find_job(config, KEY, context)


def test_a_program_that_is_not_installed_or_not_allowed_is_told_apart(tmp_path: Path) -> None:
    config = parse_config(SLURM, {"command": ["sacct-that-is-not-there"]})
    with pytest.raises(Misconfigured, match="not among those"):
        SLURM.find_job(config, KEY, Context())
    with pytest.raises(NotFound, match="not installed"):
        SLURM.find_job(config, KEY, Context(programs=("sacct-that-is-not-there",)))
    config = parse_config(SLURM, {"command": ["/bin/sh"]})
    with pytest.raises(Misconfigured):
        SLURM.find_job(config, KEY, Context())


def test_a_probe_stops_at_the_first_failure_and_says_what_to_change(
    fake_program: Callable[..., Path], recorded_sacct: Callable[..., Path]
) -> None:
    config, context = setting(
        fake_program(
            'print("slurm-wlm 22.05.8") if "--version" in argv else '
            "(sys.stderr.write('sacct: error: Problem talking to the database: Connection refused'), sys.exit(1))"
        )
    )
    report = SLURM.probe(config, context)
    assert [check.ok for check in report.checks] == [True, False]
    assert report.checks[0].sample == "slurm-wlm 22.05.8"
    assert report.failure is not None
    assert "slurmdbd" in report.failure.reason
    config, context = setting(recorded_sacct("all.P.txt"))
    report = SLURM.probe(config, context)
    assert report.ok
    assert "jobs in the last day" in report.checks[-1].sample


def _runs(pid: int) -> bool:
    for _ in range(50):
        try:
            os.kill(pid, 0)
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except (ProcessLookupError, FileNotFoundError):
            return False
        if state == "Z":
            return False
        time.sleep(0.05)
    return True
