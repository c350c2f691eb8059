"""Slurm accounting, in the shapes that were recorded on Slurm 22.05."""

import json
from pathlib import Path

import pytest

from telemetry.formats.records import records
from telemetry.formats.sacct import parse_text, seconds, size
from telemetry.formats.sacct_json import parse_json
from tests.telemetry.files import recorded, recorded_stream, stream_of


def test_every_shape_of_the_same_table_gives_the_same_states() -> None:
    wanted = {(row.job_id, row.step): row.state for row in parse_text(recorded("slurm/all.P.txt"))}
    assert len(wanted) > 140
    for name in ("all.delimiter.txt", "all.parsable.txt", "all.P.noheader.txt", "all.default.txt"):
        rows = parse_text(recorded(f"slurm/{name}"))
        found = {(row.job_id, row.step): row.state for row in rows}
        odd = {key for key in found if found[key] != wanted[key]}
        assert not odd, name
        assert len(found) >= len(wanted) - 1, name


def test_a_step_killed_for_memory_shows_only_in_its_own_row() -> None:
    rows = {row.step: row for row in parse_text(recorded("slurm/oom_step.P.txt"))}
    assert (rows[None].state, rows[None].exit, rows[None].derived) == ("FAILED", "1:0", "0:125")
    assert (rows["0"].state, rows["0"].exit, rows["0"].maxrss) == ("OUT_OF_MEMORY", "0:125", 124580 * 1024)


def test_a_pipe_in_a_name_moves_no_column() -> None:
    row = parse_text(recorded("slurm/pipe_in_name.P.ALL.txt"))[0]
    assert (row.name, row.state, row.exit, row.nodes) == ("run|1 größe", "FAILED", "17:0", ("node04",))
    assert row.values["comment"] == "try 2 | lr=3e-4"


def test_a_newline_in_a_name_is_put_together_again() -> None:
    table = b"JobID|JobName|State|ExitCode\n5|two\nlines|FAILED|1:0\n6|x|COMPLETED|0:0\n"
    rows = parse_text(table)
    assert [(row.job_id, row.name, row.state, row.line) for row in rows] == [
        ("5", "two lines", "FAILED", 2),
        ("6", "x", "COMPLETED", 4),
    ]


def test_arrays_and_heterogeneous_jobs_keep_their_names() -> None:
    rows = parse_text(recorded("slurm/all.P.txt"))
    names = {row.job_id: row.raw_id for row in rows if row.step is None}
    assert names["10_4"] == "10"
    assert names["20+1"] == "21"
    assert {row.job_id for row in parse_json(json.loads(recorded("slurm/het.json")))} == {"20+0", "20+1"}
    assert "10_3" in {row.job_id for row in parse_json(json.loads(recorded("slurm/array.json")))}


def test_who_cancelled_is_told() -> None:
    rows = {row.job_id: row for row in parse_text(recorded("slurm/all.P.txt")) if row.step is None}
    assert (rows["28"].state, rows["28"].by, rows["28"].by_owner) == ("CANCELLED", "1001", None)
    assert rows["29"].by_owner is False
    told = parse_json(json.loads(recorded("slurm/cancel_user.json")))[0]
    assert (told.by, told.by_owner) == ("user1", True)


def test_json_exit_codes_that_slurm_gets_wrong_are_not_believed() -> None:
    rows = {row.step: row for row in parse_json(json.loads(recorded("slurm/oom_step.json")))}
    assert rows[None].exit is None
    assert rows[None].derived == "0:125"
    assert rows["0"].exit == "0:125"
    assert rows[None].start
    assert not rows[None].start.local


def test_newer_json_shapes_are_read() -> None:
    job = {
        "job_id": 5,
        "state": {"current": ["FAILED"], "reason": "NonZeroExitCode"},
        "time": {"start": 1796129202, "end": 1796129204, "limit": {"set": True, "infinite": False, "number": 10}},
        "exit_code": {"status": ["ERROR"], "return_code": {"set": True, "infinite": False, "number": 3}, "signal": {}},
        "nodes": "n[1-2]",
        "steps": [{"step": {"id": "5.batch", "name": "batch"}, "state": ["FAILED"], "nodes": {"list": ["n1"]}}],
    }
    rows = parse_json({"jobs": [job]})
    assert (rows[0].state, rows[0].exit, rows[0].limit, rows[0].nodes) == ("FAILED", "3:0", 600, ("n1", "n2"))
    assert (rows[1].step, rows[1].state) == ("batch", "FAILED")


def test_epoch_times_are_not_local() -> None:
    row = parse_text(recorded("slurm/time_format_epoch.P.txt"))[0]
    assert row.start
    assert (row.start.seconds, row.start.local) == (1796129201.0, False)


def test_errors_of_sacct_are_told_and_give_no_rows() -> None:
    problems: list[tuple[int, str]] = []
    assert parse_text(recorded("slurm/badfield.txt"), problems=problems) == []
    assert "Bogus" in problems[0][1]


def test_half_a_table_gives_the_whole_rows_and_a_problem(tmp_path: Path) -> None:
    cut = recorded("slurm/oom_step.P.txt")[:-260]
    stream = stream_of(tmp_path, cut, "scheduler/sacct.txt")
    found = list(records(stream) or [])
    assert len(found) >= 2
    assert stream.problems
    assert stream.problems[0].where.startswith("line ")


def test_the_record_text_has_its_words_in_the_agreed_order() -> None:
    found = list(records(recorded_stream("slurm/oom_step.P.txt")) or [])
    assert found[-1].text == (
        "sacct job=8 step=0 name=python3 state=OUT_OF_MEMORY by=- exit=0:125 derived=- nodes=node02 "
        "start=2026-12-01T12:46:42 end=2026-12-01T12:46:44 elapsed=2 limit=- maxrss=127569920 reqmem=- reason=-"
    )
    assert (found[-1].node, found[-1].local, found[-1].precision) == ("node02", True, 1.0)


def test_a_job_name_cannot_pose_as_another_word(tmp_path: Path) -> None:
    table = b"JobID|JobName|State|ExitCode\n5|x state=OUT_OF_MEMORY by=0|FAILED|1:0\n"
    text = next(iter(records(stream_of(tmp_path, table, "scheduler/sacct.txt")) or [])).text
    assert " state=FAILED " in text
    assert "state=OUT_OF_MEMORY" not in text


@pytest.mark.parametrize(
    ("text", "value"), [("01:02:03", 3723), ("2-00:00:00", 172800), ("00:05.123", 5), ("UNLIMITED", None), ("", None)]
)
def test_durations(text: str, value: int | None) -> None:
    assert seconds(text) == value


@pytest.mark.parametrize(("text", "value"), [("3948K", 3948 * 1024), ("1.5G", 1610612736), ("0", 0), ("x", None)])
def test_sizes(text: str, value: int | None) -> None:
    assert size(text) == value
