"""Clocks: a time is an interval, and two signals are ordered only when their intervals do not overlap.

A stream's stamps may be UTC, carry an offset, be local without a zone, lack a year, or count from boot. Local stamps
are read in the site's zone when the job tells it; otherwise the zone is the half hour that lays the stream into the
job's own window, and what that leaves open widens the interval. A stream that no zone lays near the job has a clock
that cannot be trusted: its lines keep their order among themselves and prove none against others.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
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


def stream_clock(job: JobContext, stamps: list[Stamp]) -> StreamClock:
    """How to read one stream's stamps, given those that its hit lines carry."""
    start, end = window(job)
    readings = sorted(s.seconds for s in stamps if s.zone != "boot")
    if not readings or (start is None and end is None):
        return StreamClock()
    low = (start if start is not None else end or 0.0) - EARLY
    high = (end if end is not None else start or 0.0) + LATE
    local = any(s.zone == "local" for s in stamps)
    if not local or job.timezone:
        inside = any(low <= reading <= high for reading in readings)
        return StreamClock() if inside else StreamClock(trusted=False, basis="clock far from the job's time")
    return _fitted_zone(readings, start, end, low, high)


def _fitted_zone(readings: list[float], start: float | None, end: float | None, low: float, high: float) -> StreamClock:
    """The offset from UTC, in half hours, under which most stamps fall into the job."""
    first = (start if start is not None else low) - 120.0
    last = (end if end is not None else high) + 120.0

    def inside(shift: float) -> int:
        return sum(first <= r + shift <= last for r in readings)

    if inside(0.0):
        return StreamClock()
    shifts = [half * HALF_HOUR for half in range(-28, 29)]
    best = max(inside(shift) for shift in shifts)
    if best:
        fitting = [shift for shift in shifts if inside(shift) == best]
        # Failures are logged towards the end of a job, so among equals the one nearest to the end.
        chosen = min(fitting, key=lambda shift: (abs(readings[-1] + shift - last), abs(shift)))
        error = 0.0 if len(fitting) == 1 else max(abs(shift - chosen) for shift in fitting)
        return StreamClock(chosen, error, True, f"zone not said; UTC{-chosen / 3600:+g} lays it into the job's time")
    if any(low <= r <= high for r in readings):
        return StreamClock()
    return StreamClock(trusted=False, basis="clock far from the job's time")


def read(stamp: Stamp | None, clock: StreamClock, job: JobContext) -> Interval | None:
    """The interval of one stamp in UTC, on its own machine's clock (no allowance for other machines yet)."""
    if stamp is None or stamp.zone == "boot" or not clock.trusted:
        return None
    seconds = stamp.seconds
    if stamp.zone == "local":
        zone = _zone(job.timezone)
        inside = _with_zone(seconds, zone) if zone else Interval(seconds + clock.shift, seconds + clock.shift)
        return Interval(inside.lo, inside.hi + stamp.precision).widened(clock.error)
    return Interval(seconds, seconds + stamp.precision)


def _zone(name: str | None) -> ZoneInfo | None:
    if not name:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return None


def set_times(signals: list[Signal], job: JobContext) -> dict[str, StreamClock]:
    """Give every signal its interval; returns the clock that each stream was read with."""
    by_stream: dict[str, list[Signal]] = {}
    for signal in signals:
        by_stream.setdefault(signal.stream, []).append(signal)
    clocks = {}
    for stream, members in by_stream.items():
        stamps = [s for m in members for s in (m.stamp, m.before, m.after) if s is not None]
        clock = clocks[stream] = stream_clock(job, stamps)
        for signal in members:
            signal.time = read(signal.stamp, clock, job)
            signal.last = read(signal.last_stamp, clock, job) or signal.time
            signal.logged = signal.stamp.seconds if signal.stamp else None
            if signal.time is None and signal.stamp is None:
                signal.own_clock = False
                before, after = read(signal.before, clock, job), read(signal.after, clock, job)
                if before and after and before.lo <= after.hi:
                    signal.time = signal.last = Interval(before.lo - BUFFERED, after.hi + BUFFERED)
    return clocks


def order(a: Signal, b: Signal, lag: float = 0.0) -> int:
    """-1 when ``a`` is certainly first, 1 when ``b`` is, 0 when the clocks cannot prove it.

    Lines of one writer (one node's log, one rank's output) keep their order even without times. ``lag`` is how much
    earlier an effect may have been logged than its cause.
    """
    if a.stream == b.stream and (a.source in ("syslog", "fabric") or (a.rank == b.rank and a.source == "applog")):
        if a.time and b.time and a.own_clock and b.own_clock:
            if a.time.hi < b.time.lo:
                return -1
            if b.time.hi < a.time.lo:
                return 1
        return -1 if a.offset < b.offset else 1 if b.offset < a.offset else 0
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
