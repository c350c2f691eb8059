"""Clocks: a time is an interval, and two signals are ordered only when their intervals do not overlap.

A stream's stamps may be UTC, carry an offset, be local without a zone, lack a year, or count from boot. Local stamps
are read in the site's zone when the job tells it; otherwise the zone is the half hour that lays the stream into the
job's own window, and what that leaves open widens the interval. A stream that no zone lays near the job has a clock
that cannot be trusted: its lines keep their order among themselves and prove none against others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from rules.signals import Interval, Signal
from telemetry.formats.prefix import Stamp
from telemetry.job import JobContext

# Two machines that keep NTP are within this of true time unless something shows otherwise (chrony's own default
# panic bounds are far wider; campus clusters are measured in milliseconds). Half a second is deliberately wide.
NODE_ERROR: Final = 0.5
SAME_HOST_ERROR: Final = 0.05
HALF_HOUR: Final = 1800.0
DAY: Final = 86400.0
# A line without a time stands between its neighbours; output buffers hold lines back about this long.
BUFFERED: Final = 2.0
# How far from a job's start its launch, and from its end its last lines, may be logged.
AROUND_START: Final = 300.0
EARLY: Final = 3 * DAY
LATE: Final = 0.5 * DAY


@dataclass(frozen=True, slots=True)
class StreamClock:
    """How one stream's zone-less stamps become UTC. ``shift`` is added; ``error`` widens; untrusted proves nothing."""

    shift: float = 0.0
    error: float = 0.0
    trusted: bool = True
    basis: str = "as logged"


def _epoch(moment: datetime | None) -> float | None:
    return moment.timestamp() if moment else None


def window(job: JobContext) -> tuple[float | None, float | None]:
    """The job's start (or submission) and end as epoch seconds, as far as known."""
    return _epoch(job.started or job.submitted), _epoch(job.ended)


def reference(job: JobContext) -> float | None:
    """The moment next to which stamps without year or date are put."""
    return _epoch(job.ended or job.started or job.submitted)


def _with_zone(seconds: float, zone: ZoneInfo) -> Interval:
    """A wall-clock reading in a zone; in the hour that a clock lives twice, both readings are possible."""
    wall = datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)
    readings = [wall.replace(tzinfo=zone, fold=fold).timestamp() for fold in (0, 1)]
    return Interval(min(readings), max(readings))


def _utc(stamp: Stamp, site: ZoneInfo | None) -> float:
    """A stamp as epoch seconds: a zone-less one is read in the site's zone, or as UTC where none is known."""
    return _with_zone(stamp.seconds, site).lo if stamp.zone == "local" and site else stamp.seconds


def stream_clock(job: JobContext, stamps: list[Stamp], zone: ZoneFit | None) -> StreamClock:
    """How to read one stream's stamps. ``zone``: what fits the zone-less streams of its kind, None when UTC stands."""
    start, end = window(job)
    site = _zone(job.timezone)
    readings = sorted(_utc(s, site) for s in stamps if s.zone != "boot")
    if not readings or (start is None and end is None):
        return StreamClock()
    low = (start if start is not None else end or 0.0) - EARLY
    high = (end if end is not None else start or 0.0) + LATE
    if zone is None or not all(s.zone == "local" for s in stamps if s.zone != "boot"):
        zone = ZoneFit(0.0, 0.0)
    if not any(low <= reading + zone.shift <= high for reading in readings):
        return StreamClock(trusted=False, basis="clock far from the job's time")
    if not zone.shift:
        return StreamClock()
    return StreamClock(zone.shift, zone.error, True, zone.basis)


class ZoneFit(NamedTuple):
    """Seconds to add to zone-less stamps; ``error``: how far other zones that fit as well lie from it; why this one."""

    shift: float
    error: float
    basis: str = ""


def zone_fit(job: JobContext, readings: list[float], anchors: list[float]) -> ZoneFit | None:
    """The zone of the zone-less stamps of one kind of stream (hosts of one cluster share one); None: they stay as read.

    ``anchors`` are when the nodes' slurmd launched this very job: under the right zone they follow the job's start.
    Without one, the stamps stay as read so long as any falls into the job; else the whole hour (or the half, for the
    zones that have one) that lays the latest line, where failures are, into it. In a long job many do: then the one
    nearest to the end is taken and the others widen every time of the stream.
    """
    start, end = window(job)
    if start is None or end is None or not (readings or anchors):
        return None
    shifts = sorted((half * HALF_HOUR for half in range(-28, 29)), key=abs)
    if anchors and job.started:
        first = min(anchors)
        near_start = [s for s in shifts if -AROUND_START <= first + s - start <= AROUND_START]
        return ZoneFit(near_start[0], 0.0, "its own line that launches this job") if near_start else None
    first, last = start - AROUND_START, end + AROUND_START
    if any(first <= r <= last for r in readings):
        return None
    fitting = [s for s in shifts if first <= max(readings) + s <= last]
    whole = [s for s in fitting if not s % (2 * HALF_HOUR)] or fitting
    if not whole:
        return None
    best = min(whole, key=lambda s: (abs(max(readings) + s - end), abs(s)))
    if len(whole) == 1:
        return ZoneFit(best, 0.0, "the only whole hour that lays its lines into the job's time")
    return ZoneFit(best, max(abs(s - best) for s in whole), "the whole hour that lays its lines next to the job's end")


def read(stamp: Stamp | None, clock: StreamClock, job: JobContext) -> Interval | None:
    """The interval of one stamp in UTC, on its own machine's clock (no allowance for other machines yet)."""
    if stamp is None or stamp.zone == "boot" or not clock.trusted:
        return None
    seconds = stamp.seconds
    if stamp.zone == "local":
        zone = _zone(job.timezone)
        inside = _with_zone(seconds, zone) if zone else Interval(seconds, seconds)
        moved = Interval(inside.lo + clock.shift, inside.hi + clock.shift + stamp.precision)
        return moved.widened(clock.error)
    return Interval(seconds, seconds + stamp.precision).widened(clock.error)


def _zone(name: str | None) -> ZoneInfo | None:
    if not name:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return None


def set_times(
    signals: list[Signal],
    anchors: list[tuple[str, Stamp]],
    job: JobContext,
    wrong: Callable[[dict[str, StreamClock], list[tuple[str, Stamp]], JobContext], dict[str, StreamClock]]
    | None = None,
) -> dict[str, StreamClock]:
    """Give every signal its interval; returns the clock that each stream was read with.

    ``anchors``: (stream, stamp) of lines in which a node's slurmd launches this job. ``wrong``: finds the streams
    whose clock is shown to be off (see :mod:`rules.spans`).
    """
    by_stream: dict[str, list[Signal]] = {}
    for signal in signals:
        by_stream.setdefault(signal.stream, []).append(signal)
    stamps = {path: _stamps(members) for path, members in by_stream.items()}
    shifts = {kind: _shift_of(kind, stamps, anchors, job) for kind in ("hosts", "job")}
    clocks = {path: stream_clock(job, stamps[path], shifts[_kind(path)]) for path in by_stream}
    if wrong is not None:
        off = wrong(clocks, anchors, job)
        clocks.update({path: clock for path, clock in off.items() if path in clocks})
    for path, members in by_stream.items():
        for signal in members:
            _set_time(signal, clocks[path], job)
    return clocks


def _kind(path: str) -> str:
    return "hosts" if path.startswith(("syslog/", "fabric/")) else "job"


def _stamps(members: list[Signal]) -> list[Stamp]:
    return [s for m in members for s in (m.stamp, m.before, m.after) if s is not None]


def _shift_of(
    kind: str, stamps: dict[str, list[Stamp]], anchors: list[tuple[str, Stamp]], job: JobContext
) -> ZoneFit | None:
    site = _zone(job.timezone)
    readings = [
        _utc(s, site) for path, held in stamps.items() if _kind(path) == kind for s in held if s.zone == "local"
    ]
    own = [_utc(stamp, site) for path, stamp in anchors if _kind(path) == kind and stamp.zone == "local"]
    return zone_fit(job, readings, own)


def _set_time(signal: Signal, clock: StreamClock, job: JobContext) -> None:
    signal.time = read(signal.stamp, clock, job)
    signal.last = read(signal.last_stamp, clock, job) or signal.time
    signal.logged = signal.stamp.seconds if signal.stamp else None
    if signal.stamp is None:
        signal.own_clock = False
        start, end = window(job)
        before, after = read(signal.before, clock, job), read(signal.after, clock, job)
        # Before the first stamped line of an output stands the job's start, behind the last its end.
        low = before.lo - BUFFERED if before else start if signal.source == "applog" else None
        high = after.hi + BUFFERED if after else end + BUFFERED if end and signal.source == "applog" else None
        if low is not None and high is not None and low <= high and (before or after):
            signal.time = signal.last = Interval(low, high)


def order(a: Signal, b: Signal, lag: float = 0.0) -> int:
    """-1 when ``a`` is certainly first, 1 when ``b`` is, 0 when the clocks cannot prove it.

    Lines of one writer (one node's log, one rank's output) keep their order even without times. ``lag`` is how much
    earlier an effect may have been logged than its cause.
    """
    if a.stream == b.stream and (a.source in ("syslog", "fabric") or (a.rank == b.rank and a.source == "applog")):
        if a.time and b.time and a.own_clock and b.own_clock:
            if a.time.hi < b.time.lo:
                return -1
            if b.time.hi + lag < a.time.lo:
                return 1
        if a.offset < b.offset:
            return -1
        # What may be printed late (an out-of-memory report at a step's end) is not proven late by its place alone.
        return 1 if b.offset < a.offset and not lag else 0
    if a.time is None or b.time is None:
        return 0
    error = SAME_HOST_ERROR if a.node is not None and a.node == b.node else NODE_ERROR
    if a.time.hi + error < b.time.lo:
        return -1
    if b.time.hi + error + lag < a.time.lo:
        return 1
    return 0


def iso(seconds: float | None) -> str | None:
    """Epoch seconds as ISO 8601 in UTC, to the microsecond."""
    if seconds is None:
        return None
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=round(seconds * 1e6))
    return moment.isoformat(timespec="microseconds" if moment.microsecond else "seconds").replace("+00:00", "Z")
