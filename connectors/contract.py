"""What a connector is: one system that telemetry comes from, behind five calls.

A connector holds no state and reads no settings: what it may use comes in a frozen `Context`, what it is pointed at in
its own `Config`. The same contract carries local files, a scheduler's command line and HTTP services.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar, Protocol, runtime_checkable

from connectors.config import ConnectorConfig
from connectors.errors import Cancelled
from connectors.keys import JobKey
from connectors.secrets import SecretStore
from telemetry.coverage import Coverage
from telemetry.job import JobContext
from telemetry.writer import BundleWriter

CAPABILITIES = frozenset({"find", "discover", "collect"})


@dataclass(frozen=True, slots=True)
class Step:
    """One piece of collecting: a source, and a target when one source is fetched in parts.

    (source, target) is unique within a plan. `label` says it to a person.
    """

    source: str
    target: str | None = None
    label: str = ""

    def as_dict(self) -> dict[str, str | None]:
        return {"source": self.source, "target": self.target, "label": self.label}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Step:
        return cls(str(data["source"]), data.get("target") or None, str(data.get("label") or ""))


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one call. What was collected up to a bound is kept and called partial."""

    seconds: float = 300.0
    bytes: int = 2 * 1024**3
    """Written by one step, over all its streams."""
    lines: int = 20_000_000
    """Written by one step, over all its streams."""
    stream_bytes: int = 1024**3
    answer_bytes: int = 16 * 1024**2
    """Kept in memory at once: one answer of a command or server."""
    jobs: int = 10_000
    """Given by one discovery, or folders looked through for one job."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a step is, cumulative. `done` of `total` counts targets: nodes, files or pages."""

    lines: int
    bytes: int
    done: int
    total: int | None
    what: str


def _ignore(progress: Progress) -> None:
    """Nobody is watching."""


def _never() -> bool:
    return False


def _utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Context:
    """What a connector may use besides its own settings; everything has a default that suits a notebook.

    before/after:  how much is collected around the job's run.
    roots:         folders of this machine that the site lets connectors read; None leaves it to their own roots.
    timezone:      the cluster's IANA zone, for times without a zone; a connector's own setting goes first.
    programs:      what a configured command may start with: bare names, looked up in PATH, or absolute paths.
    """

    limits: Limits = Limits()
    progress: Callable[[Progress], None] = _ignore
    cancelled: Callable[[], bool] = _never
    now: Callable[[], datetime] = _utc_now
    secrets: SecretStore = field(default_factory=SecretStore)
    before: timedelta = timedelta(hours=1)
    after: timedelta = timedelta(minutes=30)
    roots: tuple[Path, ...] | None = None
    timezone: str | None = None
    programs: tuple[str, ...] = ("sacct", "ssh")

    def check_cancelled(self) -> None:
        """Raises Cancelled when the run was stopped; cheap enough for every block."""
        if self.cancelled():
            raise Cancelled("Collecting was stopped")

    def window(self, job: JobContext) -> tuple[datetime, datetime] | None:
        """The time to collect, UTC. A running job's ends now; None when the job's times are not known."""
        begin = job.started or job.submitted or job.ended
        if begin is None:
            return None
        end = job.ended if job.ended is not None and job.ended >= begin else self.now()
        return begin - self.before, max(end, begin) + self.after


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that `probe()` tried. When it failed, `reason` says why and `remedy` exactly what to change."""

    name: str
    ok: bool
    reason: str = ""
    remedy: str = ""
    sample: str = ""
    """A short piece of what was seen."""


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """Checks in the order tried, cheap to costly; the last one is the first failure, if there is one."""

    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        return bool(self.checks) and all(check.ok for check in self.checks)

    @property
    def failure(self) -> Check | None:
        return next((check for check in self.checks if not check.ok), None)

    def as_dict(self) -> dict[str, Any]:
        return {"ok": self.ok, "checks": [asdict(check) for check in self.checks]}


@runtime_checkable
class Connector(Protocol):
    """A system that telemetry comes from. Errors are those of `connectors.errors`."""

    slug: ClassVar[str]
    label: ClassVar[str]
    version: ClassVar[str]
    capabilities: ClassVar[frozenset[str]]
    sources: ClassVar[frozenset[str]]
    Config: ClassVar[type[ConnectorConfig]]

    def probe(self, config: Any, context: Context) -> ProbeReport:
        """Try what this configuration needs, cheap things first, and stop at the first failure. Never raises."""
        ...

    def find_job(self, config: Any, key: JobKey, context: Context) -> JobContext | None:
        """The job, or None when the system answered that it knows no such job. Raises when it could not be asked,
        and SeveralJobs when the key is not enough."""
        ...

    def discover(self, config: Any, since: datetime, context: Context) -> Iterator[JobContext]:
        """Jobs that came to a failed end at or after `since` (aware), each run once, ordered by end time."""
        ...

    def plan(self, config: Any, job: JobContext) -> tuple[Step, ...]:
        """The steps that collect this job. Pure: nothing is asked or read."""
        ...

    def collect(
        self, config: Any, job: JobContext, step: Step, writer: BundleWriter, context: Context
    ) -> tuple[Coverage, ...]:
        """Write the step's streams and say what came and what did not, one coverage a target.

        Raises only when there is nothing at all to return. Doing it again replaces the same streams.
        """
        ...
