"""Running sacct somewhere else, and reading what it wrote into files."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from connectors import Context, JobKey, Limits, parse_config
from connectors.contract import Step
from connectors.errors import LimitReached, Misconfigured, NotFound
from connectors.slurm.connector import Slurm
from connectors.slurm.wrapper import whole_command
from telemetry.writer import BundleWriter
from tests.connectors.conftest import RECORDED, job_at, write

SLURM = Slurm()


def test_behind_ssh_the_command_is_quoted_for_the_shell_there(
    fake_program: Callable[..., Path], calls: Callable[..., list[tuple[list[str], dict[str, str]]]]
) -> None:
    table = (RECORDED / "oom_step.P.txt").read_bytes()
    ssh = fake_program(f"sys.stdout.buffer.write({table!r})", "ssh")
    config = parse_config(SLURM, {"wrapper": [str(ssh), "-p", "2222", "reader@login1"]})
    job = SLURM.find_job(config, JobKey.parse("8"), Context(programs=(str(ssh),)))
    assert job is not None
    (arguments, _), *_ = calls(ssh)
    assert arguments[:-1] == ["-o", "BatchMode=yes", "-p", "2222", "reader@login1", "--"]
    words = shlex.split(arguments[-1])
    assert words[0] == "env"
    assert "SLURM_TIME_FORMAT=%s" in words
    assert "--delimiter=\x1f" in words
    assert words[-2:] == ["-j", "8"]


def test_nothing_in_an_argument_can_reach_the_remote_shell() -> None:
    argv = whole_command(["ssh", "login1"], ["sacct"], ["-j", "8; rm -rf / $(id) `id` 'x'"], {})
    assert shlex.split(argv[-1])[-1] == "8; rm -rf / $(id) `id` 'x'"


def test_another_wrapper_gets_plain_arguments() -> None:
    argv = whole_command(["sudo", "-n"], ["sacct"], ["-j", "8"], {"TZ": "UTC"})
    assert argv == ["sudo", "-n", "env", "TZ=UTC", "sacct", "-j", "8"]


@pytest.mark.parametrize(
    "wrapper",
    [
        ["ssh"],
        ["ssh", "login1", "login2"],
        ["ssh", "-oProxyCommand=touch", "login1"],
        ["ssh", "-o", "ProxyCommand=touch", "login1"],
        ["ssh", "-o", "LocalCommand=x", "login1"],
        ["ssh", "-F", "/tmp/config", "login1"],
        ["ssh", "-L", "80:a:80", "login1"],
        ["ssh", "-p", "2222;x", "login1"],
        ["ssh", "login1; reboot"],
        ["ssh", "login1\n"],
        ["ssh", "$(reboot)"],
    ],
)
def test_wrappers_that_could_do_more_are_refused(wrapper: list[str]) -> None:
    with pytest.raises(Misconfigured) as caught:
        parse_config(SLURM, {"wrapper": wrapper})
    assert caught.value.fields


def exports(tmp_path: Path, name: str = "all.P.duplicates.txt", **values: object) -> object:
    path = write(tmp_path / "exports" / name, (RECORDED / name).read_bytes())
    return parse_config(
        SLURM,
        {"origin": "files", "roots": [str(path.parent)], "paths": [str(path)], "timezone": "UTC", **values},
    )


def test_an_exported_table_of_many_jobs_gives_the_job_and_only_its_rows(tmp_path: Path, writer: BundleWriter) -> None:
    config = exports(tmp_path)
    job = SLURM.find_job(config, JobKey.parse("13"), Context())
    assert job is not None
    assert job.started == datetime(2026, 12, 1, 12, 46, 42, tzinfo=UTC)
    (report,) = SLURM.collect(config, job, Step("scheduler"), writer, Context())
    lines = (writer.root / "scheduler/sacct.txt").read_text().splitlines()
    assert lines[0].startswith("JobID|")
    assert {line.split("|")[0].split(".")[0] for line in lines[1:]} == {"13"}
    assert report.status == "complete"


def test_an_exported_array_element_comes_without_its_siblings(tmp_path: Path, writer: BundleWriter) -> None:
    config = exports(tmp_path)
    SLURM.collect(config, job_at(id="10", array_task="3"), Step("scheduler"), writer, Context())
    lines = (writer.root / "scheduler/sacct.txt").read_text().splitlines()
    assert {line.split("|")[0].split(".")[0] for line in lines[1:]} == {"10_3"}


def test_exported_json_gives_only_the_jobs_entries(tmp_path: Path, writer: BundleWriter) -> None:
    config = exports(tmp_path, "array.json")
    job = SLURM.find_job(config, JobKey.parse("10_3"), Context())
    assert job is not None
    SLURM.collect(config, job, Step("scheduler"), writer, Context())
    kept = json.loads((writer.root / "scheduler/sacct.json").read_text())
    assert [entry["job_id"] for entry in kept["jobs"]] == [27]


def test_exports_are_searched_for_failed_jobs(tmp_path: Path) -> None:
    config = exports(tmp_path)
    jobs = list(SLURM.discover(config, datetime(2026, 12, 1, tzinfo=UTC), Context()))
    assert {("40", 1), ("1", 1), ("10_3", 1)} <= {(str(JobKey.of(job)), job.attempt) for job in jobs}


def test_a_file_for_each_job_is_found_by_its_id(tmp_path: Path) -> None:
    write(tmp_path / "exports/8.txt", (RECORDED / "oom_step.P.txt").read_bytes())
    config = exports(tmp_path, paths=[f"{tmp_path}/exports/{{job_id}}.txt"])
    assert SLURM.find_job(config, JobKey.parse("8"), Context()) is not None
    assert SLURM.find_job(config, JobKey.parse("9"), Context()) is None


def test_an_export_that_is_gone_or_too_large_is_told(tmp_path: Path) -> None:
    config = exports(tmp_path)
    with pytest.raises(LimitReached):
        list(SLURM.discover(config, datetime(2026, 12, 1, tzinfo=UTC), Context(limits=Limits(answer_bytes=1000))))
    (tmp_path / "exports/all.P.duplicates.txt").unlink()
    with pytest.raises(NotFound):
        SLURM.find_job(config, JobKey.parse("8"), Context())
    assert not SLURM.probe(config, Context()).ok


def test_local_times_without_a_known_zone_are_not_guessed(tmp_path: Path) -> None:
    config = exports(tmp_path, timezone=None)
    job = SLURM.find_job(config, JobKey.parse("13"), Context())
    assert job is not None
    assert job.started is None
    job = SLURM.find_job(config, JobKey.parse("13"), Context(timezone="America/New_York"))
    assert job is not None
    assert job.started == datetime(2026, 12, 1, 17, 46, 42, tzinfo=UTC)
