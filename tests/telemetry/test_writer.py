"""Writing bundles."""

import json
from pathlib import Path

import pytest

from telemetry import Coverage, JobContext, open_bundle
from telemetry.redaction import Redactor
from telemetry.writer import BundleWriter

JOB = JobContext(cluster="c1", id="7", nodes=("n1", "n2"), state="FAILED")


@pytest.mark.parametrize("piece", [1, 3, 1000])
def test_lines_come_out_whole_redacted_and_lf_ended_however_they_came_in(tmp_path: Path, piece: int) -> None:
    data = "Zeile größer\r\npassword=hunter22\r\nlast".encode()
    writer = BundleWriter(tmp_path, JOB)
    with writer.stream("applog", "job.out") as stream:
        for at in range(0, len(data), piece):
            stream.write(data[at : at + piece])
    assert (tmp_path / "applog/job.out").read_text() == "Zeile größer\npassword=[redacted:password]\nlast"
    entry = writer.write_manifest().streams[0]
    assert (entry.lines, entry.redactions, entry.status) == (2, {"password": 1}, "complete")
    assert entry.bytes == (tmp_path / "applog/job.out").stat().st_size


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "latin-1"])
def test_other_encodings_become_utf8(tmp_path: Path, encoding: str) -> None:
    text = "größer als vorher\n" * 500
    with BundleWriter(tmp_path, JOB).stream("syslog", "n1.log") as stream:
        data = text.encode(encoding)
        for at in range(0, len(data), 777):
            stream.write(data[at : at + 777])
    assert (tmp_path / "syslog/n1.log").read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("../../etc/passwd", "applog/etc/passwd"),
        ("/abs/x", "applog/abs/x"),
        (".hidden", "applog/hidden"),
        ("a b\n;c", "applog/a_b_c"),
        ("..", "applog/unnamed"),
        ("x.part", "applog/x.part_"),
        ("n" * 500, "applog/" + "n" * 120),
    ],
)
def test_names_never_leave_the_bundle(tmp_path: Path, name: str, path: str) -> None:
    root = tmp_path / "bundle"
    with BundleWriter(root, JOB).stream("applog", name) as stream:
        stream.write(b"x\n")
    assert [p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file()] == [path]


def test_an_unknown_source_is_refused(tmp_path: Path) -> None:
    writer = BundleWriter(tmp_path, JOB)
    with pytest.raises(ValueError, match="not one of the sources"), writer.stream("../x", "a"):
        pass


def test_a_stream_broken_off_is_kept_as_partial_and_the_error_goes_on(tmp_path: Path) -> None:
    writer = BundleWriter(tmp_path, JOB)

    def collect() -> None:
        with writer.stream("syslog", "n1.log", target="n1") as stream:
            stream.write(b"one\ntwo\n")
            raise ConnectionError("gone")

    with pytest.raises(ConnectionError):
        collect()
    entry = writer.write_manifest().streams[0]
    assert (entry.status, entry.lines, entry.target) == ("partial", 2, "n1")
    assert not writer.has("syslog", "n1.log")
    assert (tmp_path / "syslog/n1.log").read_bytes() == b"one\ntwo\n"


def test_a_collection_goes_on_where_it_was_broken_off(tmp_path: Path) -> None:
    first = BundleWriter(tmp_path, JOB)
    with first.stream("syslog", "n1.log", target="n1") as stream:
        stream.write(b"x\n")
    first.cover(Coverage("syslog", "complete", target="n1", lines=1))
    first.write_manifest()
    second = BundleWriter(tmp_path, JOB)
    assert second.has("syslog", "n1.log")
    assert not second.has("syslog", "n2.log")
    second.cover(Coverage("syslog", "failed", "unreachable", "n2 did not answer.", ("n2",), target="n2"))
    manifest = second.write_manifest()
    assert [report.target for report in manifest.coverage] == ["n1", "n2"]
    assert [entry.path for entry in manifest.streams] == ["syslog/n1.log"]


def test_what_was_written_is_what_is_opened(tmp_path: Path) -> None:
    writer = BundleWriter(tmp_path, JOB, collected_by="test")
    with writer.stream("syslog", "n1", target="n1") as stream:
        stream.write(b"x\n")
    writer.cover(Coverage("syslog", "complete", target="n1", asked=(1.0, 2.0), lines=1))
    writer.cover(Coverage("syslog", "failed", "unreachable", "No route to host.", ("n2",), target="n2"))
    writer.cover(Coverage("metrics", "not_configured", detail="No Prometheus is set up for c1."))
    writer.cover(Coverage("applog", "empty"))
    writer.write_manifest()
    bundle = open_bundle(tmp_path)
    coverage = {report.source: report for report in bundle.coverage}
    assert bundle.job == JOB
    assert (coverage["syslog"].status, coverage["syslog"].nodes_missing) == ("partial", ("n2",))
    assert coverage["syslog"].reason == "unreachable"
    assert coverage["syslog"].asked == (1.0, 2.0)
    assert coverage["metrics"].status == "not_configured"
    assert coverage["applog"].status == "empty"
    assert coverage["fabric"].status == "not_collected"
    assert bundle.streams[0].node == "n1"


def test_the_time_of_collection_does_not_change_the_digest(tmp_path: Path) -> None:
    writer = BundleWriter(tmp_path, JOB)
    with writer.stream("applog", "a") as stream:
        stream.write(b"x\n")
    writer.write_manifest()
    before = open_bundle(tmp_path).digest
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    manifest["collected_at"] = "2001-01-01T00:00:00Z"
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    assert open_bundle(tmp_path).digest == before


def test_redaction_can_be_switched_off_for_a_site(tmp_path: Path) -> None:
    with BundleWriter(tmp_path, JOB, Redactor(enabled=False)).stream("applog", "a") as stream:
        stream.write(b"password=hunter22\n")
    assert b"hunter22" in (tmp_path / "applog/a").read_bytes()


def test_a_broken_manifest_is_a_problem_and_the_streams_are_read(tmp_path: Path) -> None:
    (tmp_path / "applog").mkdir()
    (tmp_path / "applog/a").write_text("x\n")
    (tmp_path / "manifest.json").write_text("{")
    bundle = open_bundle(tmp_path)
    assert bundle.problems[0].stream == "manifest.json"
    assert [stream.path for stream in bundle.streams] == ["applog/a"]
