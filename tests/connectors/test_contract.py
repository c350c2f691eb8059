"""What every connector must do, whatever it connects to. A new one joins by an entry in SITES."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from connectors import Connector, Context, JobKey, Limits, Step, load_registry, parse_config
from connectors.config import dump_config
from connectors.contract import CAPABILITIES
from connectors.errors import Cancelled, ConnectorError
from connectors.outcomes import is_failed_end
from telemetry import SOURCES, JobContext
from telemetry.writer import BundleWriter
from tests.connectors.conftest import RECORDED, job_at, write

TOKEN = "ghp_" + "a1B2" * 9
SINCE = datetime(2026, 3, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Site:
    """A connector that works, on something that holds a job with a planted secret; and settings that do not work."""

    connector: Connector
    config: Any
    context: Context
    job: JobContext
    broken: dict[str, Any]


def bundles(tmp_path: Path, fake_program: Callable[..., Path]) -> Site:
    folder = tmp_path / "stored"
    write(
        folder / "some-name/incident.yaml",
        "label: {cause: secret}\njob: {id: '88213', cluster: cluster-a, state: FAILED, nodes: [node01, node02],\n"
        "  started: '2026-03-11T10:00:00Z', ended: '2026-03-11T11:00:00Z'}\n",
    )
    write(folder / "some-name/applog/slurm-88213.out", f"token {TOKEN} of someone@example.org\n")
    write(folder / "some-name/syslog/node01.log", "2026-03-11T10:30:00+00:00 node01 kernel: x\n")
    connector = load_registry().get("bundles")
    config = parse_config(connector, {"path": str(folder)})
    return Site(connector, config, Context(), job_at(), {"path": str(tmp_path / "gone")})


def files(tmp_path: Path, fake_program: Callable[..., Path]) -> Site:
    logs = tmp_path / "logs"
    write(logs / "slurm-88213.out", f"token {TOKEN} of someone@example.org\n")
    write(logs / "node01/messages", "2026-03-11T10:30:00+00:00 node01 kernel: x\n")
    connector = load_registry().get("files")
    values = {
        "roots": [str(logs)],
        "patterns": [
            {"source": "applog", "path": f"{logs}/slurm-{{job_id}}.out"},
            {"source": "syslog", "path": f"{logs}/{{node}}/messages"},
        ],
    }
    broken = {"roots": ["/gone"], "patterns": [{"source": "syslog", "path": "/gone/{node}/messages"}]}
    return Site(connector, parse_config(connector, values), Context(), job_at(), broken)


def _table() -> bytes:
    text = (RECORDED / "oom_step.P.txt").read_text()
    return text.replace("|None|", f"|None {TOKEN} someone@example.org|", 1).encode()


def slurm(tmp_path: Path, fake_program: Callable[..., Path]) -> Site:
    unknown = (RECORDED / "unknown.P.txt").read_bytes()
    program = fake_program(
        f"""
if "--version" in argv: print("slurm-wlm 22.05.8"); sys.exit(0)
known = argv[argv.index("-j") + 1] == "8" if "-j" in argv else (
    argv[argv.index("-S") + 1] <= "2026-12-01T12" <= argv[argv.index("-E") + 1])
sys.stdout.buffer.write({_table()!r} if known else {unknown!r})
"""
    )
    connector = load_registry().get("slurm")
    now = datetime(2026, 12, 2, tzinfo=UTC)
    context = Context(programs=(str(program),), now=lambda: now)
    config = parse_config(connector, {"command": [str(program)]})
    return Site(connector, config, context, job_at(id="8"), {"command": ["/gone/sacct"]})


def slurm_exports(tmp_path: Path, fake_program: Callable[..., Path]) -> Site:
    path = write(tmp_path / "exports/all.txt", _table())
    connector = load_registry().get("slurm")
    values = {"origin": "files", "roots": [str(path.parent)], "paths": [str(path)], "timezone": "UTC"}
    broken = {"origin": "files", "roots": ["/gone"], "paths": ["/gone/all.txt"]}
    return Site(connector, parse_config(connector, values), Context(), job_at(id="8"), broken)


SITES = [bundles, files, slurm, slurm_exports]


@pytest.fixture(params=SITES, ids=lambda make: make.__name__)
def site(request: pytest.FixtureRequest, tmp_path: Path, fake_program: Callable[..., Path]) -> Site:
    made: Site = request.param(tmp_path, fake_program)
    return made


def written(writer: BundleWriter) -> dict[str, bytes]:
    return {str(f.relative_to(writer.root)): f.read_bytes() for f in sorted(writer.root.rglob("*")) if f.is_file()}


def test_every_built_in_connector_is_held_to_this(tmp_path: Path, fake_program: Callable[..., Path]) -> None:
    covered = {make(tmp_path / make.__name__, fake_program).connector.slug for make in SITES}
    assert covered == {connector.slug for connector in load_registry().all()}


def test_it_says_who_it_is_and_what_it_can_do(site: Site) -> None:
    assert isinstance(site.connector, Connector)
    assert site.connector.slug.isidentifier()
    assert site.connector.label
    assert site.connector.version
    assert site.connector.capabilities <= CAPABILITIES
    assert site.connector.sources <= set(SOURCES)


def test_every_setting_explains_itself(site: Site) -> None:
    schema = site.connector.Config.model_json_schema()
    for model in [schema, *schema.get("$defs", {}).values()]:
        for name, field in model.get("properties", {}).items():
            assert field.get("title"), name
            assert field.get("description"), name


def test_settings_survive_the_database(site: Site) -> None:
    stored = json.loads(json.dumps(dump_config(site.config)))
    assert parse_config(site.connector, stored) == site.config


def test_a_probe_shows_what_it_saw(site: Site) -> None:
    report = site.connector.probe(site.config, site.context)
    assert report.ok, report
    assert any(check.sample for check in report.checks)
    json.dumps(report.as_dict())


def test_a_probe_of_what_does_not_work_never_raises_and_names_the_remedy(site: Site) -> None:
    report = site.connector.probe(parse_config(site.connector, site.broken), site.context)
    assert not report.ok
    assert report.failure is report.checks[-1]
    assert report.failure.reason
    assert report.failure.remedy


def test_a_job_that_is_there_is_found_and_another_is_not(site: Site) -> None:
    if "find" not in site.connector.capabilities:
        assert site.connector.find_job(site.config, JobKey.of(site.job), site.context) is None
        return
    job = site.connector.find_job(site.config, JobKey(None, site.job.id or ""), site.context)
    assert job is not None
    assert job.id == site.job.id
    assert JobKey.of(job).fits(job)
    for moment in (job.submitted, job.started, job.ended):
        assert moment is None or moment.utcoffset() is not None
    assert site.connector.find_job(site.config, JobKey(None, "4711"), site.context) is None


def test_looking_where_nothing_can_be_looked_at_is_an_error_and_not_an_unknown_job(site: Site) -> None:
    if "find" in site.connector.capabilities:
        with pytest.raises(ConnectorError) as caught:
            site.connector.find_job(parse_config(site.connector, site.broken), JobKey(None, "1"), site.context)
        assert caught.value.what
        assert caught.value.where
        assert caught.value.remedy


def test_discovery_gives_failed_jobs_once_in_the_order_of_their_ends(site: Site) -> None:
    jobs = list(
        site.connector.discover(
            site.config, SINCE, replace(site.context, now=lambda: datetime(2026, 12, 3, tzinfo=UTC))
        )
    )
    assert bool(jobs) == ("discover" in site.connector.capabilities)
    names = [(str(JobKey.of(job)), job.attempt) for job in jobs]
    assert len(names) == len(set(names))
    assert all(is_failed_end(job.state) for job in jobs)
    ends = [job.ended for job in jobs if job.ended]
    assert ends == sorted(ends)
    later = datetime(2027, 1, 1, tzinfo=UTC)
    assert list(site.connector.discover(site.config, later, site.context)) == []


def test_a_plan_is_pure_and_its_steps_are_unique(site: Site) -> None:
    plan = site.connector.plan(site.config, site.job)
    assert plan
    assert plan == site.connector.plan(site.config, site.job)
    assert len({(step.source, step.target) for step in plan}) == len(plan)
    assert {step.source for step in plan} <= site.connector.sources
    assert [Step.from_dict(json.loads(json.dumps(step.as_dict()))) for step in plan] == list(plan)


def test_collecting_writes_only_its_source_and_reports_each_target_once(site: Site, writer: BundleWriter) -> None:
    for step in site.connector.plan(site.config, site.job):
        before = set(written(writer))
        reports = site.connector.collect(site.config, site.job, step, writer, site.context)
        assert reports
        assert {report.source for report in reports} == {step.source}
        assert len({report.target for report in reports}) == len(reports)
        assert all(name.startswith(f"{step.source}/") for name in set(written(writer)) - before)
        for report in reports:
            assert report.status == "complete" or report.detail
            writer.cover(report)
    stored = sum(len(data) for data in written(writer).values())
    assert stored
    assert "manifest.json" not in written(writer)


def test_collecting_again_doubles_nothing(site: Site, writer: BundleWriter) -> None:
    def once() -> Any:
        plan = site.connector.plan(site.config, site.job)
        return [site.connector.collect(site.config, site.job, step, writer, site.context) for step in plan], written(
            writer
        )

    assert once() == once()


def test_planted_secrets_are_not_in_what_is_stored(site: Site, writer: BundleWriter) -> None:
    for step in site.connector.plan(site.config, site.job):
        site.connector.collect(site.config, site.job, step, writer, site.context)
    stored = b"".join(written(writer).values())
    assert TOKEN.encode() not in stored
    assert b"someone@example.org" not in stored
    assert b"[redacted:" in stored


def test_cancelling_is_heeded(site: Site, writer: BundleWriter) -> None:
    context = replace(site.context, cancelled=lambda: True)
    step = site.connector.plan(site.config, site.job)[-1]
    source = {"bundles": "applog", "files": "applog"}.get(site.connector.slug, step.source)
    with pytest.raises(Cancelled):
        site.connector.collect(site.config, site.job, Step(source), writer, context)


def test_limits_on_bytes_leave_a_part_and_say_so(site: Site, writer: BundleWriter) -> None:
    if site.connector.slug == "slurm":
        return  # one answer in memory: bounded by answer_bytes, tested with it
    context = replace(site.context, limits=Limits(bytes=10))
    reports = site.connector.collect(site.config, site.job, Step("applog"), writer, context)
    assert {report.status for report in reports} == {"partial"}
    assert sum(len(data) for data in written(writer).values()) <= 10
