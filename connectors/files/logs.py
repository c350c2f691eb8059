"""The connector for logs at configured paths: patterns for each source, with placeholders for job, node and rank."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import ClassVar

from connectors.config import ConnectorConfig
from connectors.contract import Context, ProbeReport, Step
from connectors.files.allowed import AllowedRoots
from connectors.files.copying import LogCopy
from connectors.files.log_probe import probe_logs
from connectors.files.reports import one_for_each_target
from connectors.files.settings import LogFilesConfig
from connectors.files.targets import Target, targets_of
from connectors.files.window import WindowCut
from connectors.keys import JobKey
from connectors.meter import Meter
from telemetry.bundle import SOURCES
from telemetry.coverage import Coverage
from telemetry.job import JobContext
from telemetry.writer import BundleWriter


class LogFiles:
    """Job output, node logs, fabric logs and exports that lie on a file system this machine can read."""

    slug: ClassVar[str] = "files"
    label: ClassVar[str] = "Log files"
    version: ClassVar[str] = "1.0"
    capabilities: ClassVar[frozenset[str]] = frozenset({"collect"})
    sources: ClassVar[frozenset[str]] = frozenset(SOURCES)
    Config: ClassVar[type[ConnectorConfig]] = LogFilesConfig

    def probe(self, config: LogFilesConfig, context: Context) -> ProbeReport:
        return probe_logs(config, context)

    def find_job(self, config: LogFilesConfig, key: JobKey, context: Context) -> JobContext | None:
        """Always None: log files do not say which jobs there were."""
        return None

    def discover(self, config: LogFilesConfig, since: datetime, context: Context) -> Iterator[JobContext]:
        """Nothing: log files do not say which jobs there were."""
        return iter(())

    def plan(self, config: LogFilesConfig, job: JobContext) -> tuple[Step, ...]:
        wanted = {pattern.source for pattern in config.patterns}
        return tuple(Step(source, None, f"{source} files") for source in SOURCES if source in wanted)

    def collect(
        self, config: LogFilesConfig, job: JobContext, step: Step, writer: BundleWriter, context: Context
    ) -> tuple[Coverage, ...]:
        roots = AllowedRoots.of(config.roots, context.roots)
        meter = Meter(context)
        patterns = [pattern for pattern in config.patterns if pattern.source == step.source]
        found = targets_of(step.source, patterns, job, roots, meter)
        meter.total = len(found.targets)
        zone = config.timezone or job.timezone or context.timezone
        reports: list[Coverage] = []
        for position, target in enumerate(found.targets):
            room = meter.room(len(found.targets) - position)
            copy = LogCopy(target.log, roots, writer, meter, room, _window(target, job, context, zone))
            reports.append(copy.run().coverage())
            meter.finished(target.log.name)
        return one_for_each_target(reports + found.shortfalls)


def _window(target: Target, job: JobContext, context: Context, zone: str | None) -> WindowCut | None:
    window = context.window(job)
    if not target.cut or window is None:
        return None
    return WindowCut(window[0].timestamp(), window[1].timestamp(), zone)
