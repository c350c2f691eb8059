"""A connector that knows what a test tells it, and fails where a test wants it to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar

from connectors.config import ConnectorConfig
from connectors.contract import Check, Context, ProbeReport, Progress, Step
from connectors.errors import ConnectorError
from connectors.keys import JobKey
from telemetry.coverage import Coverage
from telemetry.job import JobContext
from telemetry.writer import BundleWriter


class ScriptedConfig(ConnectorConfig):
    pass


@dataclass
class Scripted:
    """jobs: what it can look up. streams: what each source gives. fails: an error a source raises instead.

    during: called in the middle of collecting a source, with the connector's context. asked: called while listing jobs.
    """

    jobs: list[JobContext] = field(default_factory=list)
    streams: dict[str, bytes] = field(default_factory=dict)
    fails: dict[str, BaseException] = field(default_factory=dict)
    during: Callable[[str, Context], None] = lambda source, context: None
    asked: Callable[[], object] = lambda: None
    cannot_look: ConnectorError | None = None
    collected: list[str] = field(default_factory=list)

    slug: ClassVar[str] = "scripted"
    label: ClassVar[str] = "Scripted"
    version: ClassVar[str] = "1"
    capabilities: ClassVar[frozenset[str]] = frozenset({"find", "discover", "collect"})
    Config: ClassVar[type[ConnectorConfig]] = ScriptedConfig

    @property
    def sources(self) -> frozenset[str]:
        return frozenset(self.streams | self.fails)

    def probe(self, config: Any, context: Context) -> ProbeReport:
        return ProbeReport((Check("Script", True),))

    def find_job(self, config: Any, key: JobKey, context: Context) -> JobContext | None:
        if self.cannot_look:
            raise self.cannot_look
        return next((job for job in self.jobs if key.fits(job)), None)

    def discover(self, config: Any, since: datetime, context: Context) -> Iterator[JobContext]:
        if self.cannot_look:
            raise self.cannot_look
        self.asked()
        yield from (job for job in self.jobs if job.ended and job.ended >= since)

    def plan(self, config: Any, job: JobContext) -> tuple[Step, ...]:
        return tuple(Step(source, None, f"{source} as scripted") for source in sorted(self.sources))

    def collect(
        self, config: Any, job: JobContext, step: Step, writer: BundleWriter, context: Context
    ) -> tuple[Coverage, ...]:
        self.collected.append(step.source)
        if step.source in self.fails:
            raise self.fails[step.source]
        data = self.streams[step.source]
        with writer.stream(step.source, "node.log") as out:
            out.write(data)
            context.progress(Progress(1, len(data), 0, 2, "half of it"))
            self.during(step.source, context)
            context.check_cancelled()
            context.progress(Progress(data.count(b"\n"), len(data), 2, 2, "all of it"))
        return (Coverage(step.source, "complete", lines=data.count(b"\n"), bytes=len(data)),)
