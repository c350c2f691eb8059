"""What the Slurm connector makes of what sacct really answers, recorded on Slurm 22.05."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from connectors import Context, JobKey, Limits, parse_config
from connectors.contract import Step
from connectors.errors import SeveralJobs
from connectors.slurm.connector import Slurm
from connectors.slurm.jobs import jobs_of
from connectors.slurm.settings import SlurmConfig
from telemetry import open_bundle
from telemetry.formats.records import records
from telemetry.formats.sacct import parse_text
from telemetry.writer import BundleWriter
from tests.connectors.conftest import RECORDED, job_at

SLURM = Slurm()


def setting(program: Path, **values: object) -> tuple[SlurmConfig, Context]:
    config = parse_config(SLURM, {"command": [str(program)], "timeout": 20, **values})
    assert isinstance(config, SlurmConfig)
    return config, Context(programs=(str(program),))


@pytest.mark.parametrize(("text", "form"), [("oom_step.P.txt", "text"), ("oom_step.json", "json")])
def test_a_job_is_found_in_either_form(recorded_sacct: Callable[..., Path], text: str, form: str) -> None:
    config, context = setting(recorded_sacct("oom_step.P.txt", "oom_step.json"), form=form)
    job = SLURM.find_job(config, JobKey.parse("8"), context)
    assert job is not None
    assert (job.id, job.state, job.user, job.cluster, job.nodes) == ("8", "FAILED", "user1", "cluster-a", ("node02",))
    assert job.started == datetime(2026, 12, 1, 12, 46, 42, tzinfo=UTC)
    # The JSON form of 22.05 says SUCCESS for every plain exit code; it is not believed.
    assert job.exit_code == ("1:0" if form == "text" else None)


def test_an_unknown_job_is_not_there_rather_than_an_error(recorded_sacct: Callable[..., Path]) -> None:
    for form in ("text", "json"):
        config, context = setting(recorded_sacct("unknown.P.txt", "unknown.json"), form=form)
        assert SLURM.find_job(config, JobKey.parse("99999"), context) is None


def test_an_array_needs_its_element_and_lists_them(recorded_sacct: Callable[..., Path]) -> None:
    config, context = setting(recorded_sacct("array.P.txt"))
    with pytest.raises(SeveralJobs, match="10_1, 10_2, 10_3, 10_4") as caught:
        SLURM.find_job(config, JobKey.parse("10"), context)
    assert [job.state for job in caught.value.choices] == ["COMPLETED", "COMPLETED", "FAILED", "COMPLETED"]
    job = SLURM.find_job(config, JobKey.parse("10_3"), context)
    assert job is not None
    assert (job.id, job.array_task, job.state, job.nodes) == ("10", "3", "FAILED", ("node04",))


def test_the_raw_id_of_an_element_leads_to_it(recorded_sacct: Callable[..., Path]) -> None:
    config, context = setting(recorded_sacct("array.P.txt"))
    job = SLURM.find_job(config, JobKey.parse("27"), context)
    assert job is not None
    assert str(JobKey.of(job)) == "10_3"


def test_components_of_a_heterogeneous_job_are_told_apart(recorded_sacct: Callable[..., Path]) -> None:
    for form in ("text", "json"):
        config, context = setting(recorded_sacct("het.P.txt", "het.json"), form=form)
        with pytest.raises(SeveralJobs):
            SLURM.find_job(config, JobKey.parse("20"), context)
        job = SLURM.find_job(config, JobKey.parse("20+1"), context)
        assert job is not None
        assert (job.id, job.het_component, job.nodes) == ("20", 1, ("node04",))


@pytest.mark.parametrize("form", ["text", "json"])
def test_runs_of_a_requeued_job_are_attempts(recorded_sacct: Callable[..., Path], form: str) -> None:
    config, context = setting(recorded_sacct("requeue.P.ALL.txt", "requeue.json"), form=form)
    latest = SLURM.find_job(config, JobKey.parse("34"), context)
    first = SLURM.find_job(config, JobKey(None, "34", attempt=1), context)
    assert latest is not None
    assert first is not None
    assert (latest.attempt, latest.state) == (2, "COMPLETED")
    assert (first.attempt, first.state) == (1, "REQUEUED")
    assert first.ended is not None
    assert latest.started is not None
    assert first.ended < latest.started


def test_delimiters_in_names_and_names_that_are_not_utf8_do_no_harm(
    recorded_sacct: Callable[..., Path], fake_program: Callable[..., Path]
) -> None:
    config, context = setting(recorded_sacct("pipe_in_name.P.txt"))
    job = SLURM.find_job(config, JobKey.parse("19"), context)
    assert job is not None
    assert (job.user, job.state, job.exit_code) == ("user1", "FAILED", "17:0")
    raw = (RECORDED / "pipe_in_name.P.txt").read_bytes().replace("größe".encode(), b"gr\xf6\xdfe\nx")
    config, context = setting(fake_program(f"sys.stdout.buffer.write({raw!r})"))
    job = SLURM.find_job(config, JobKey.parse("19"), context)
    assert job is not None
    assert (job.user, job.state) == ("user1", "FAILED")


def test_a_job_that_never_ran_has_no_nodes_and_no_start(recorded_sacct: Callable[..., Path]) -> None:
    config, context = setting(recorded_sacct("dep_never.P.txt"))
    job = SLURM.find_job(config, JobKey.parse("33"), context)
    assert job is not None
    assert (job.state, job.nodes, job.started, job.ended) == ("PENDING", (), None, None)


def test_ranks_and_gpus_a_node_come_from_the_widest_step(recorded_sacct: Callable[..., Path]) -> None:
    config, context = setting(recorded_sacct("all.delimiter.txt"))
    job = SLURM.find_job(config, JobKey.parse("2"), context)
    assert job is not None
    assert (job.nodes, job.ranks_per_node, job.gpus_per_node) == (("node01", "node02"), 2, 1)


@pytest.mark.parametrize(("name", "form"), [("timeout.P.txt", "text"), ("timeout.json", "json")])
def test_what_is_collected_is_what_the_engine_reads(
    recorded_sacct: Callable[..., Path], writer: BundleWriter, name: str, form: str
) -> None:
    config, context = setting(recorded_sacct("timeout.P.txt", "timeout.json"), form=form)
    (report,) = SLURM.collect(config, job_at(id="1"), Step("scheduler"), writer, context)
    writer.cover(report)
    writer.write_manifest()
    with open_bundle(writer.root) as bundle:
        (stream,) = bundle.streams
        assert stream.file.read_bytes() == (RECORDED / name).read_bytes()
        found = list(records(stream) or ())
    assert report.status == "complete"
    assert any("job=1 step=- " in record.text and "state=TIMEOUT" in record.text for record in found)


def test_collecting_a_job_that_is_gone_is_empty_and_names_it(
    recorded_sacct: Callable[..., Path], writer: BundleWriter
) -> None:
    config, context = setting(recorded_sacct("unknown.P.txt"))
    (report,) = SLURM.collect(config, job_at(id="99999"), Step("scheduler"), writer, context)
    assert (report.status, report.reason) == ("empty", "not_found")
    assert "99999" in report.detail
    assert not (writer.root / "scheduler").exists()


def test_it_asks_for_epoch_seconds_and_a_delimiter_that_no_name_holds(
    recorded_sacct: Callable[..., Path],
    calls: Callable[..., list[tuple[list[str], dict[str, str]]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SECRET_KEY", "the-consoles-own")
    program = recorded_sacct("oom_step.P.txt")
    config, context = setting(program, cluster="cluster-a")
    SLURM.find_job(config, JobKey.parse("8"), context)
    arguments, environment = calls(program)[0]
    assert arguments[:5] == ["-D", "-M", "cluster-a", "-P", "--delimiter=\x1f"]
    assert arguments[-2:] == ["-j", "8"]
    assert (environment["SLURM_TIME_FORMAT"], environment["TZ"]) == ("%s", "UTC")
    assert "SECRET_KEY" not in environment


DISCOVERY = f"""
rows = open({str(RECORDED / "all.P.duplicates.txt")!r}).read().splitlines()
header, rows = rows[0], rows[1:]
full = open({str(RECORDED / "all.P.txt")!r}).read().splitlines()[1:]
if "-j" in argv:
    ids = argv[argv.index("-j") + 1].split(",")
    of = lambda row: row.split("|")[0].split(".")[0]
    steps = [row for row in full if "." in row.split("|")[0]]
    rows = [row for row in rows + steps if of(row) in ids or of(row).split("+")[0] in ids]
else:
    states = argv[argv.index("--state") + 1].split(",")
    start, end = argv[argv.index("-S") + 1], argv[argv.index("-E") + 1]
    rows = [row for row in rows if row.split("|")[7].split(" ")[0] in states and "." not in row.split("|")[0]
            and start <= row.split("|")[13] <= end]
print("\\n".join([header, *rows]))
"""


def test_discovery_finds_every_failed_end_once_in_order(fake_program: Callable[..., Path]) -> None:
    config, context = setting(fake_program(DISCOVERY))
    context = Context(programs=context.programs, now=lambda: datetime(2026, 12, 3, tzinfo=UTC))
    jobs = list(SLURM.discover(config, datetime(2026, 11, 30, tzinfo=UTC), context))
    names = [(str(JobKey.of(job)), job.attempt) for job in jobs]
    assert len(set(names)) == len(names)
    assert [job.ended for job in jobs] == sorted(job.ended for job in jobs if job.ended)
    states = {name: job.state for name, job in zip(names, jobs, strict=True)}
    assert states["1", 1] == "TIMEOUT"
    assert states["10_3", 1] == "FAILED"
    assert states["20+1", 1] == "FAILED"
    assert states["40", 1] == "NODE_FAIL"  # its second run completed
    assert states["37", 1] == "PREEMPTED"
    assert states["28", 1] == "CANCELLED"
    assert ("2", 1) not in states
    assert ("34", 1) not in states  # only requeued
    assert {job.state for job in jobs} >= {"FAILED", "OUT_OF_MEMORY", "NODE_FAIL", "TIMEOUT", "CANCELLED", "PREEMPTED"}


def test_discovery_goes_on_from_where_it_was(fake_program: Callable[..., Path]) -> None:
    config, context = setting(fake_program(DISCOVERY))
    context = Context(programs=context.programs, now=lambda: datetime(2026, 12, 3, tzinfo=UTC))
    everything = list(SLURM.discover(config, datetime(2026, 11, 30, tzinfo=UTC), context))
    middle = everything[len(everything) // 2].ended
    assert middle is not None
    rest = list(SLURM.discover(config, middle, context))
    assert rest == [job for job in everything if job.ended and job.ended >= middle]


def test_times_in_epoch_seconds_are_read_as_such(fake_program: Callable[..., Path]) -> None:
    raw = (RECORDED / "time_format_epoch.P.txt").read_bytes()
    config, context = setting(fake_program(f"sys.stdout.buffer.write({raw!r})"))
    job = SLURM.find_job(config, JobKey.parse("1"), context)
    assert job is not None
    assert job.ended == datetime(2026, 12, 1, 12, 47, 45, tzinfo=UTC)


def test_a_long_quiet_time_takes_few_questions(
    fake_program: Callable[..., Path], calls: Callable[..., list[tuple[list[str], dict[str, str]]]]
) -> None:
    program = fake_program(DISCOVERY)
    config, context = setting(program)
    context = Context(programs=context.programs, now=lambda: datetime(2026, 12, 3, tzinfo=UTC))
    assert list(SLURM.discover(config, datetime(2024, 12, 3, tzinfo=UTC), context))
    assert len(calls(program)) < 30


def test_a_slice_with_too_many_jobs_is_asked_for_in_shorter_ones(fake_program: Callable[..., Path]) -> None:
    config, context = setting(fake_program(DISCOVERY))
    now, since = datetime(2026, 12, 1, 23, tzinfo=UTC), datetime(2026, 12, 1, 11, tzinfo=UTC)
    whole = list(SLURM.discover(config, since, Context(programs=context.programs, now=lambda: now)))
    bounded = Context(programs=context.programs, now=lambda: now, limits=Limits(answer_bytes=8_000))
    assert list(SLURM.discover(config, since, bounded)) == whole


def test_a_table_of_twenty_thousand_elements_with_steps_is_read_in_seconds() -> None:
    head = b"JobID|State|JobIDRaw|NodeList|NTasks|NNodes|Start\n"
    rows = b"".join(
        f"7_{n}|FAILED|{n}|node02|||1780000000\n7_{n}.0|FAILED|{n}.0|node02|8|1|1780000000\n".encode()
        for n in range(20_000)
    )
    begun = time.process_time()
    jobs = jobs_of(parse_text(head + rows), "UTC")
    assert time.process_time() - begun < 5
    assert {job.ranks_per_node for job in jobs} == {8}
    assert len(jobs) == 20_000
