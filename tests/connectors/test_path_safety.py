"""Paths cannot be made to lead anywhere but to the job's own files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from connectors import Context, JobKey, parse_config
from connectors.contract import Step
from connectors.errors import AccessDenied, BadAnswer, BadValue, Misconfigured
from connectors.files.allowed import AllowedRoots
from connectors.files.logs import LogFiles
from connectors.files.placeholders import PathTemplate, checked
from telemetry.writer import BundleWriter
from tests.connectors.conftest import job_at, write

HOSTILE = [
    "; rm -rf /",
    "$(reboot)",
    "`id`",
    "../../etc/passwd",
    "..",
    "node01/../../etc",
    "node01\n",
    "node01\0",
    "/etc/passwd",
    "*",
    "node[01]",
    "-rf",
    ".hidden",
    "{job_id}",
    "no de",
    "",
    "a" * 300,
    "nöde",
]


@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.parametrize("name", ["job_id", "node", "user", "rank", "array_task_id"])
def test_hostile_values_never_get_into_a_path(name: str, value: str) -> None:
    with pytest.raises(BadValue) as caught:
        checked(name, value)
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("name", "value"),
    [("node", "gpu-node-07"), ("node", "n1.cluster.example"), ("job_id", "10_3"), ("user", "user1"), ("rank", "12")],
)
def test_usual_values_are_let_through(name: str, value: str) -> None:
    assert checked(name, value) == value


@pytest.mark.parametrize("text", [*HOSTILE[:6], "12;ls", "a b", "x" * 400])
def test_hostile_job_ids_are_no_job_keys(text: str) -> None:
    with pytest.raises(BadValue, match="not a job id"):
        JobKey.parse(text)


def test_a_hostile_node_name_costs_only_that_node(tmp_path: Path, writer: BundleWriter) -> None:
    write(tmp_path / "logs/node01/messages", "x\n")
    write(tmp_path / "secret/messages", "SECRET\n")
    config = parse_config(
        LogFiles(),
        {
            "roots": [f"{tmp_path}/logs"],
            "patterns": [{"source": "syslog", "path": f"{tmp_path}/logs/{{node}}/messages"}],
        },
    )
    job = job_at(nodes=("../secret", "node01"))
    reports = LogFiles().collect(config, job, Step("syslog"), writer, Context())
    assert {(report.target, report.status) for report in reports} == {("node01", "complete"), ("../secret", "failed")}
    assert [file.name for file in (writer.root / "syslog").iterdir()] == ["node01.log"]


@pytest.mark.parametrize("folder_link", [True, False])
def test_a_link_that_leads_out_is_not_followed(folder_link: bool, tmp_path: Path, writer: BundleWriter) -> None:
    secret = write(tmp_path / "secret/messages", "SECRET\n")
    if folder_link:
        (tmp_path / "logs").mkdir()
        (tmp_path / "logs/node01").symlink_to(secret.parent)
    else:
        (tmp_path / "logs/node01").mkdir(parents=True)
        (tmp_path / "logs/node01/messages").symlink_to(secret)
    config = parse_config(
        LogFiles(),
        {
            "roots": [f"{tmp_path}/logs"],
            "patterns": [{"source": "syslog", "path": f"{tmp_path}/logs/{{node}}/messages"}],
        },
    )
    reports = LogFiles().collect(config, job_at(nodes=("node01",)), Step("syslog"), writer, Context())
    assert {(report.status, report.reason) for report in reports} == {("failed", "denied")}
    assert not list(writer.root.rglob("*.log"))


def test_one_users_link_does_not_cost_the_others_logs(tmp_path: Path, writer: BundleWriter) -> None:
    write(tmp_path / "secret/out.log", "SECRET\n")
    write(tmp_path / "logs/a/out.log", "x\n")
    write(tmp_path / "logs/b/out.log", "y\n")
    (tmp_path / "logs/link").symlink_to(tmp_path / "secret")
    config = parse_config(
        LogFiles(),
        {"roots": [f"{tmp_path}/logs"], "patterns": [{"source": "applog", "path": f"{tmp_path}/logs/*/*.log"}]},
    )
    reports = LogFiles().collect(config, job_at(), Step("applog"), writer, Context())
    assert sorted(file.name for file in (writer.root / "applog").iterdir()) == ["a_out.log", "b_out.log"]
    assert any(report.reason == "denied" and "link" in report.detail for report in reports)


def test_a_link_within_the_allowed_folders_is_followed(tmp_path: Path) -> None:
    write(tmp_path / "logs/real/messages", "x\n")
    (tmp_path / "logs/node01").symlink_to("real")
    roots = AllowedRoots.of((tmp_path / "logs",), None)
    os.close(roots.open_file(f"{tmp_path}/logs/node01/messages"))


def test_a_link_swapped_in_after_the_look_up_gains_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = write(tmp_path / "secret.txt", "SECRET\n")
    log = write(tmp_path / "logs/node01.log", "x\n")
    roots = AllowedRoots.of((tmp_path / "logs",), None)
    real = os.open

    def swapping(path: str, flags: int) -> int:
        log.unlink()
        log.symlink_to(secret)
        return real(path, flags)

    monkeypatch.setattr(os, "open", swapping)
    with pytest.raises(AccessDenied, match="outside"):
        roots.open_file(str(log))


def test_dots_and_nul_in_a_path_are_refused(tmp_path: Path) -> None:
    roots = AllowedRoots.of((tmp_path,), None)
    for path in (f"{tmp_path}/../etc/passwd", f"{tmp_path}/a\0b"):
        with pytest.raises(BadValue):
            roots.open_file(path)


def test_pipes_and_devices_are_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    roots = AllowedRoots.of((tmp_path,), None)
    with pytest.raises(BadAnswer, match="regular file"):
        roots.open_file(str(tmp_path / "pipe"))
    with pytest.raises(BadAnswer, match="regular file"):
        AllowedRoots.of((Path("/dev"),), None).open_file("/dev/zero")


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("relative/{node}", "absolute"),
        ("/logs/../etc/{node}", "not allowed"),
        ("/logs/**/x", "not allowed"),
        ("/logs/{host}", "unknown placeholder {host}"),
        ("/logs/{node", "brace"),
        ("/logs/a\nb", "control character"),
        ("/logs/*a*b*c*d*e", "stars"),
        ("/", "names no file"),
    ],
)
def test_bad_patterns_are_refused_with_a_reason(path: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        PathTemplate.parse(path)


def test_patterns_outside_the_allowed_folders_are_refused() -> None:
    values = {"roots": ["/var/log/hosts"], "patterns": [{"source": "syslog", "path": "/etc/{node}"}]}
    with pytest.raises(Misconfigured, match="outside the allowed folders"):
        parse_config(LogFiles(), values)
    with pytest.raises(Misconfigured, match="whole file system"):
        parse_config(LogFiles(), {**values, "roots": ["/"]})
