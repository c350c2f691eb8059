"""Logs at configured paths."""

from __future__ import annotations

import gzip
import lzma
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import zstandard

from connectors import Context, Limits, parse_config
from connectors.contract import Progress, Step
from connectors.errors import Cancelled, Misconfigured
from connectors.files.logs import LogFiles
from telemetry.coverage import Coverage, merge
from telemetry.writer import BundleWriter
from tests.connectors.conftest import job_at, write

FILES = LogFiles()


def collect(
    tmp_path: Path,
    writer: BundleWriter,
    path: str,
    source: str = "syslog",
    context: Context | None = None,
    job: Any = None,
    **options: Any,
) -> tuple[Coverage, ...]:
    config = parse_config(
        FILES, {"roots": [str(tmp_path / "logs")], "patterns": [{"source": source, "path": path, **options}]}
    )
    return FILES.collect(config, job or job_at(), Step(source), writer, context or Context())


def stored(writer: BundleWriter) -> dict[str, bytes]:
    return {
        file.relative_to(writer.root).as_posix(): file.read_bytes()
        for file in sorted(writer.root.rglob("*"))
        if file.is_file()
    }


def line(time: str, text: str, day: int = 11) -> str:
    return f"2026-03-{day:02d}T{time}+00:00 node01 kernel: {text}\n"


def test_each_node_gets_a_stream_of_its_own(tmp_path: Path, writer: BundleWriter) -> None:
    for node in ("node01", "node02"):
        write(tmp_path / "logs" / node / "messages", line("10:30:00", f"hello from {node}"))
    reports = collect(tmp_path, writer, f"{tmp_path}/logs/{{node}}/messages")
    assert set(stored(writer)) == {"syslog/node01.log", "syslog/node02.log"}
    assert {(report.target, report.status) for report in reports} == {("node01", "complete"), ("node02", "complete")}


def test_a_node_without_a_file_is_named_as_missing(tmp_path: Path, writer: BundleWriter) -> None:
    write(tmp_path / "logs/node01/messages", line("10:30:00", "x"))
    whole = merge("syslog", collect(tmp_path, writer, f"{tmp_path}/logs/{{node}}/messages"))
    assert (whole.status, whole.reason, whole.nodes_missing) == ("partial", "nodes_missing", ("node02",))


def test_no_file_of_any_node_is_empty_and_names_them_all(tmp_path: Path, writer: BundleWriter) -> None:
    (tmp_path / "logs").mkdir()
    whole = merge("syslog", collect(tmp_path, writer, f"{tmp_path}/logs/{{node}}/messages"))
    assert (whole.status, whole.nodes_missing) == ("empty", ("node01", "node02"))


def test_only_lines_from_the_time_of_the_job_are_kept(tmp_path: Path, writer: BundleWriter) -> None:
    days = "".join(line("12:00:00", f"day {day}", day) * 2000 for day in range(1, 11))
    text = days + line("08:59:00", "too early") + line("09:10:00", "just before") + "a line without a time\n"
    text += line("10:59:00", "Xid 79") + line("11:45:00", "too late") + line("12:00:00", "next day", 12) * 2000
    write(tmp_path / "logs/node01.log", text)
    (report,) = collect(tmp_path, writer, f"{tmp_path}/logs/node01.log")
    kept = stored(writer)["syslog/node01.log"].decode()
    assert kept == line("09:10:00", "just before") + "a line without a time\n" + line("10:59:00", "Xid 79")
    assert report.status == "complete"
    assert report.lines == 3
    assert report.asked is not None


def test_times_without_zone_are_read_in_the_clusters_zone(tmp_path: Path, writer: BundleWriter) -> None:
    write(tmp_path / "logs/node01.log", "Mar 11 03:30:00 node01 kernel: in\nMar 11 10:30:00 node01 kernel: out\n")
    collect(tmp_path, writer, f"{tmp_path}/logs/node01.log", context=Context(timezone="America/Los_Angeles"))
    assert stored(writer)["syslog/node01.log"] == b"Mar 11 03:30:00 node01 kernel: in\n"


def test_without_a_known_zone_nothing_that_may_belong_to_the_job_is_cut(tmp_path: Path, writer: BundleWriter) -> None:
    text = "Mar 11 03:30:00 node01 kernel: a\nMar 11 22:30:00 node01 kernel: b\nMar 13 10:30:00 node01 kernel: c\n"
    write(tmp_path / "logs/node01.log", text)
    collect(tmp_path, writer, f"{tmp_path}/logs/node01.log")
    assert stored(writer)["syslog/node01.log"].count(b"\n") == 2


def test_a_log_whose_clock_is_years_off_keeps_its_end_and_says_so(tmp_path: Path, writer: BundleWriter) -> None:
    text = "".join(f"2023-01-01T00:{n // 60:02d}:{n % 60:02d}+00:00 node01 kernel: line {n}\n" for n in range(600))
    write(tmp_path / "logs/node01.log", text)
    (report,) = collect(tmp_path, writer, f"{tmp_path}/logs/node01.log")
    assert stored(writer)["syslog/node01.log"].endswith(b"line 599\n")
    assert (report.status, report.reason) == ("partial", "window_cut")
    assert "clock may be wrong" in report.detail


def test_a_log_without_times_is_kept_whole(tmp_path: Path, writer: BundleWriter) -> None:
    write(tmp_path / "logs/node01.log", "[  12.345678] NVRM: Xid 79\n" * 3000)
    (report,) = collect(tmp_path, writer, f"{tmp_path}/logs/node01.log")
    assert report.lines == 3000
    assert report.status == "complete"


def test_rotated_and_compressed_files_become_one_stream_oldest_first(tmp_path: Path, writer: BundleWriter) -> None:
    logs = tmp_path / "logs/node01"
    write(logs / "messages.3.xz", lzma.compress(line("09:10:00", "1").encode()))
    write(
        logs / "messages.2.gz",
        gzip.compress(line("09:20:00", "2").encode()) + gzip.compress(line("09:25:00", "2b").encode()),
    )
    write(logs / "messages.1", line("09:30:00", "3").rstrip("\n"))
    write(logs / "messages", line("10:40:00", "4"))
    write(logs / "messages-other", "not this one")
    collect(tmp_path, writer, f"{tmp_path}/logs/{{node}}/messages")
    kept = stored(writer)["syslog/node01.log"].decode()
    assert [each.rsplit(" ", 1)[1] for each in kept.splitlines()] == ["1", "2", "2b", "3", "4"]


def test_dated_rotation_is_ordered_by_date(tmp_path: Path, writer: BundleWriter) -> None:
    logs = tmp_path / "logs/node01"
    write(logs / "kern.log-20260310.zst", zstandard.compress(line("09:10:00", "1").encode()))
    write(logs / "kern.log-20260311", line("09:20:00", "2"))
    write(logs / "kern.log", line("10:40:00", "3"))
    collect(tmp_path, writer, f"{tmp_path}/logs/{{node}}/kern.log")
    kept = stored(writer)["syslog/node01.log"].decode()
    assert [each.rsplit(" ", 1)[1] for each in kept.splitlines()] == ["1", "2", "3"]


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, zstandard.compress])
def test_a_cut_compressed_file_gives_what_it_holds_and_is_partial(
    pack: Any, tmp_path: Path, writer: BundleWriter
) -> None:
    text = "".join(line("10:30:00", os.urandom(20).hex()) for _ in range(20_000)).encode()
    packed = pack(text)
    write(tmp_path / "logs/node01.log.gz", packed[: len(packed) // 2])
    (report,) = collect(tmp_path, writer, f"{tmp_path}/logs/node01.log.gz")
    assert report.status == "partial"
    assert 0 < report.bytes < len(text)


def test_an_unreadable_file_is_denied_and_the_others_still_come(
    tmp_path: Path, writer: BundleWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    for node in ("node01", "node02"):
        write(tmp_path / "logs" / node / "messages", line("10:30:00", "x"))
    real = os.open

    def refusing(path: Any, flags: int, *rest: Any, **named: Any) -> int:
        if str(path).endswith("node02/messages"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, flags, *rest, **named)

    monkeypatch.setattr(os, "open", refusing)
    reports = {report.target: report for report in collect(tmp_path, writer, f"{tmp_path}/logs/{{node}}/messages")}
    assert reports["node01"].status == "complete"
    assert (reports["node02"].status, reports["node02"].reason) == ("failed", "denied")
    assert reports["node02"].nodes_missing == ("node02",)
    assert "read it" in reports["node02"].detail
    assert "syslog/node02.log" not in stored(writer)


def test_an_empty_file_is_empty_not_missing(tmp_path: Path, writer: BundleWriter) -> None:
    write(tmp_path / "logs/node01.log", b"")
    (report,) = collect(tmp_path, writer, f"{tmp_path}/logs/node01.log")
    assert (report.status, report.nodes_missing) == ("empty", ())


def test_a_huge_output_keeps_its_start_and_above_all_its_end(tmp_path: Path, writer: BundleWriter) -> None:
    write(tmp_path / "logs/slurm-88213.out", "".join(f"line {n:07d}\n" for n in range(200_000)))
    context = Context(limits=Limits(stream_bytes=100_000))
    (report,) = collect(tmp_path, writer, f"{tmp_path}/logs/slurm-{{job_id}}.out", "applog", context)
    kept = stored(writer)["applog/slurm-88213.out"].split(b"\n")
    assert kept[0] == b"line 0000000"
    assert kept[-2] == b"line 0199999"
    assert all(len(each) in {0, 12} for each in kept)
    assert (report.status, report.reason) == ("partial", "truncated")
    assert report.bytes <= 100_000


def test_one_noisy_node_does_not_cost_the_others_their_share(tmp_path: Path, writer: BundleWriter) -> None:
    write(tmp_path / "logs/node01/messages", line("10:30:00", "noise") * 20_000)
    write(tmp_path / "logs/node02/messages", line("10:30:00", "Xid 79"))
    context = Context(limits=Limits(bytes=100_000))
    reports = {
        report.target: report
        for report in collect(tmp_path, writer, f"{tmp_path}/logs/{{node}}/messages", context=context)
    }
    assert reports["node01"].reason == "truncated"
    assert reports["node02"].status == "complete"


def test_a_limit_on_lines_leaves_a_part_and_says_so(tmp_path: Path, writer: BundleWriter) -> None:
    write(tmp_path / "logs/a.out", "line\n" * 400_000)
    (report,) = collect(tmp_path, writer, f"{tmp_path}/logs/a.out", "applog", Context(limits=Limits(lines=1000)))
    assert (report.status, report.reason) == ("partial", "truncated")
    assert report.lines < 400_000


def test_utf16_and_binary_and_endless_lines_come_through(tmp_path: Path, writer: BundleWriter) -> None:
    write(tmp_path / "logs/a.out", "größe\nzwei\n".encode("utf-16"))
    write(tmp_path / "logs/b.out", bytes(range(256)) * 1000)
    write(tmp_path / "logs/c.out", b"x" * 3_000_000)
    write(tmp_path / "logs/d.out", ("x" * 3_000_000 + "\n").encode("utf-16-le"))
    reports = collect(tmp_path, writer, f"{tmp_path}/logs/*.out", "applog")
    assert {report.status for report in reports} == {"complete"}
    assert stored(writer)["applog/a.out"].decode() == "größe\nzwei\n"


def test_known_ranks_are_looked_up_and_missing_ones_named(tmp_path: Path, writer: BundleWriter) -> None:
    for rank in (0, 1, 3):
        write(tmp_path / f"logs/88213/rank-{rank}.out", "x\n")
    reports = collect(tmp_path, writer, f"{tmp_path}/logs/{{job_id}}/rank-{{rank}}.out", "applog")
    assert "applog/rank-3.out" in stored(writer)
    whole = merge("applog", reports)
    assert whole.status == "partial"
    assert "1 rank: 2." in whole.detail


def test_unknown_ranks_are_found_by_their_number(tmp_path: Path, writer: BundleWriter) -> None:
    for name in ("rank-0.out", "rank-12.out", "rank-x.out"):
        write(tmp_path / "logs" / name, "x\n")
    job = job_at(ranks_per_node=None)
    collect(tmp_path, writer, f"{tmp_path}/logs/rank-{{rank}}.out", "applog", job=job)
    assert set(stored(writer)) == {"applog/rank-0.out", "applog/rank-12.out"}


def test_equal_file_names_in_different_folders_stay_apart(tmp_path: Path, writer: BundleWriter) -> None:
    for rank in (0, 1):
        write(tmp_path / f"logs/rank{rank}/stderr.log", f"{rank}\n")
    collect(tmp_path, writer, f"{tmp_path}/logs/rank*/stderr.log", "applog")
    assert set(stored(writer)) == {"applog/rank0_stderr.log", "applog/rank1_stderr.log"}


def test_two_logs_of_one_node_are_two_streams_and_one_report(tmp_path: Path, writer: BundleWriter) -> None:
    write(tmp_path / "logs/node01/messages", line("10:30:00", "x"))
    write(tmp_path / "logs/node01/kern.log", line("10:30:00", "y"))
    config = parse_config(
        FILES,
        {
            "roots": [f"{tmp_path}/logs"],
            "patterns": [
                {"source": "syslog", "path": f"{tmp_path}/logs/{{node}}/messages"},
                {"source": "syslog", "path": f"{tmp_path}/logs/{{node}}/kern.log"},
            ],
        },
    )
    reports = FILES.collect(config, job_at(nodes=("node01",)), Step("syslog"), writer, Context())
    assert set(stored(writer)) == {"syslog/node01.log", "syslog/node01.kern.log"}
    assert [(report.target, report.status, report.lines) for report in reports] == [("node01", "complete", 2)]


def test_a_job_without_known_nodes_says_that_it_could_not_look(tmp_path: Path, writer: BundleWriter) -> None:
    (report,) = collect(tmp_path, writer, f"{tmp_path}/logs/{{node}}/messages", job=job_at(nodes=()))
    assert (report.status, report.reason) == ("failed", "unsupported")
    assert "nodes is not known" in report.detail


def test_collecting_again_changes_nothing(tmp_path: Path, writer: BundleWriter) -> None:
    write(tmp_path / "logs/node01.log", line("10:30:00", "x"))
    first = collect(tmp_path, writer, f"{tmp_path}/logs/node01.log"), stored(writer)
    assert (collect(tmp_path, writer, f"{tmp_path}/logs/node01.log"), stored(writer)) == first


def test_progress_counts_targets_and_cancelling_ends_at_once(tmp_path: Path, writer: BundleWriter) -> None:
    for node in ("node01", "node02"):
        write(tmp_path / "logs" / node / "messages", line("10:30:00", "x"))
    seen: list[Progress] = []
    collect(tmp_path, writer, f"{tmp_path}/logs/{{node}}/messages", context=Context(progress=seen.append))
    assert (seen[-1].done, seen[-1].total, seen[-1].lines) == (2, 2, 2)
    with pytest.raises(Cancelled):
        collect(tmp_path, writer, f"{tmp_path}/logs/{{node}}/messages", context=Context(cancelled=lambda: True))


def test_when_time_is_over_the_rest_is_reported_as_not_read(tmp_path: Path, writer: BundleWriter) -> None:
    write(tmp_path / "logs/node01.log", line("10:30:00", "x"))
    with pytest.raises(Exception, match="used up its 0 seconds"):
        collect(tmp_path, writer, f"{tmp_path}/logs/node01.log", context=Context(limits=Limits(seconds=0)))


def test_a_running_job_is_collected_up_to_now(tmp_path: Path, writer: BundleWriter) -> None:
    write(tmp_path / "logs/node01.log", line("13:00:00", "in") + line("15:00:00", "out"))
    job = job_at(ended=None, state="RUNNING")
    now = job_at().ended + timedelta(hours=2)
    collect(tmp_path, writer, f"{tmp_path}/logs/node01.log", job=job, context=Context(now=lambda: now))
    assert stored(writer)["syslog/node01.log"].decode() == line("13:00:00", "in")


def test_roots_must_lie_in_what_the_site_allows(tmp_path: Path, writer: BundleWriter) -> None:
    write(tmp_path / "logs/node01.log", line("10:30:00", "x"))
    with pytest.raises(Misconfigured, match="outside what the site allows"):
        collect(tmp_path, writer, f"{tmp_path}/logs/node01.log", context=Context(roots=(tmp_path / "elsewhere",)))
