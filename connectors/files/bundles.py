"""The connector for a folder of bundles: made by hand, exported from another site, or curated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar

from connectors.config import ConnectorConfig
from connectors.contract import Check, Context, ProbeReport, Step
from connectors.errors import ConnectorError, LimitReached, NotFound, SeveralJobs, mapped
from connectors.files.allowed import AllowedRoots
from connectors.files.settings import BundleFoldersConfig
from connectors.keys import JobKey
from connectors.meter import Meter
from connectors.outcomes import is_failed_end
from telemetry.bundle import SOURCES, BundleError, open_bundle
from telemetry.coverage import Coverage
from telemetry.job import JobContext
from telemetry.streams import Stream
from telemetry.writer import BundleWriter

_PIECE = 1024 * 1024


class BundleFolders:
    """Each entry of one folder is a bundle. A job is found by the id in its manifest or incident.yaml, never by the
    name of its folder."""

    slug: ClassVar[str] = "bundles"
    label: ClassVar[str] = "Bundle folders"
    version: ClassVar[str] = "1.0"
    capabilities: ClassVar[frozenset[str]] = frozenset({"find", "discover", "collect"})
    sources: ClassVar[frozenset[str]] = frozenset(SOURCES)
    Config: ClassVar[type[ConnectorConfig]] = BundleFoldersConfig

    def probe(self, config: BundleFoldersConfig, context: Context) -> ProbeReport:
        checks: list[Check] = []
        try:
            entries = self._entries(config, context)
            checks.append(Check("Folder", True, sample=f"{len(entries)} entries in {config.path}"))
            jobs = 0
            problem = ""
            for path in entries[:20]:
                try:
                    with open_bundle(path) as bundle:
                        jobs += bool(bundle.job.id)
                except BundleError as error:
                    problem = problem or f"{error.what} ({error.where})"
            checks.append(
                Check("Bundles", True, sample=f"{jobs} of the first {min(len(entries), 20)} name their job")
                if jobs
                else Check(
                    "Bundles",
                    False,
                    problem or "No entry of the folder says which job it is about",
                    "Each bundle needs a manifest.json or an incident.yaml with the job's id.",
                )
            )
        except ConnectorError as error:
            checks.append(Check("Folder", False, f"{error.what} ({error.where})", error.remedy))
        return ProbeReport(tuple(checks))

    def find_job(self, config: BundleFoldersConfig, key: JobKey, context: Context) -> JobContext | None:
        found = [job for _, job in self._jobs(config, context) if key.fits(job)]
        if key.attempt is None and found:
            latest = max(job.attempt for job in found)
            found = [job for job in found if job.attempt == latest]
        if len({str(JobKey.of(job)) for job in found}) > 1:
            raise SeveralJobs(
                f"{key} stands for {len(found)} jobs",
                str(config.path),
                f"Open one of them: {', '.join(str(JobKey.of(job)) for job in found[:10])}.",
                tuple(found),
            )
        return found[0] if found else None

    def discover(self, config: BundleFoldersConfig, since: datetime, context: Context) -> Iterator[JobContext]:
        ended = [
            job
            for _, job in self._jobs(config, context)
            if job.id and is_failed_end(job.state) and (job.ended is None or job.ended >= since)
        ]
        seen: set[tuple[str, int]] = set()
        for job in sorted(ended, key=lambda each: (each.ended or datetime.min.replace(tzinfo=UTC), each.id or "")):
            name = (str(JobKey.of(job)), job.attempt)
            if name not in seen:
                seen.add(name)
                yield job

    def plan(self, config: BundleFoldersConfig, job: JobContext) -> tuple[Step, ...]:
        return tuple(Step(source, None, f"{source} of the stored bundle") for source in SOURCES)

    def collect(
        self, config: BundleFoldersConfig, job: JobContext, step: Step, writer: BundleWriter, context: Context
    ) -> tuple[Coverage, ...]:
        key = JobKey.of(job)
        path = next((path for path, stored in self._jobs(config, context) if key.fits(stored)), None)
        if path is None:
            raise NotFound(f"The bundle of job {key} is gone", str(config.path), "Put it back, or open another job.")
        with mapped(str(path)), open_bundle(path) as bundle:
            streams = [stream for stream in bundle.streams if stream.source == step.source]
            report = next(report for report in bundle.coverage if report.source == step.source)
            meter = Meter(context, len(streams))
            shortfalls: list[str] = []
            lines = size = 0
            for position, stream in enumerate(streams):
                copied = _copy(stream, writer, meter, meter.room(len(streams) - position))
                lines, size = lines + copied.lines, size + copied.bytes
                shortfalls += copied.shortfalls
                meter.finished(stream.path)
        if shortfalls and report.status in {"complete", "partial"}:
            detail = " ".join([report.detail, *shortfalls]).strip()
            report = replace(report, status="partial", reason=report.reason or "truncated", detail=detail)
        return (replace(report, lines=lines, bytes=size, request=f"{config.path}: job {key}, {step.source}/"),)

    def _entries(self, config: BundleFoldersConfig, context: Context) -> list[Path]:
        roots = AllowedRoots.of((config.path,), context.roots)
        names = [name for name in roots.names_in(str(config.path)) if not name.startswith(".")]
        if len(names) > context.limits.jobs:
            raise LimitReached(
                f"{len(names):,} entries are more than the {context.limits.jobs:,} that are looked through",
                str(config.path),
                "Split the folder, or raise the limit.",
            )
        return [config.path / name for name in names if roots.holds(str((config.path / name).resolve()))]

    def _jobs(self, config: BundleFoldersConfig, context: Context) -> Iterator[tuple[Path, JobContext]]:
        """Every bundle that can be opened and names its job. Others may lie in the folder too and are passed over."""
        for path in self._entries(config, context):
            context.check_cancelled()
            try:
                with open_bundle(path) as bundle:
                    yield path, bundle.job
            except BundleError:
                continue


@dataclass(frozen=True, slots=True)
class _Copied:
    """Lines and bytes as stored, and a sentence for everything that did not come."""

    lines: int
    bytes: int
    shortfalls: tuple[str, ...]


def _copy(stream: Stream, writer: BundleWriter, meter: Meter, room: int) -> _Copied:
    """Write one stream again, decoded, `room` bytes at most."""
    name = stream.path.split("/", 1)[1]
    for ending in (".gz", ".xz", ".zst", ".bz2"):
        name = name.removesuffix(ending)
    before = set(stream.problems)
    shortfalls: list[str] = []
    with writer.stream(stream.source, name, target=stream.node) as out:
        for piece in _pieces(stream):
            meter.check(stream.path)
            if len(piece) > room:
                piece = piece[: piece.rfind(b"\n", 0, room) + 1]
                shortfalls.append(f"{stream.path}: only a part was kept, up to the limit of bytes.")
            out.write(piece)
            room -= len(piece)
            meter.wrote(piece.count(b"\n"), len(piece), stream.path)
            if shortfalls:
                break
    fresh = [problem for problem in stream.problems if problem not in before]
    shortfalls += [f"{stream.path}: {problem.what} ({problem.where})." for problem in fresh]
    return _Copied(out.lines, out.bytes, tuple(shortfalls))


def _pieces(stream: Stream) -> Iterator[bytes]:
    for block in stream.blocks(count_lines=False):
        for at in range(0, block.length, _PIECE):
            yield bytes(block.view[at : min(at + _PIECE, block.length)])
        if block.cut:
            yield b"\n"
