"""Is one node's clock wrong? What its whole log tells, beside what the other nodes' logs tell.

Logs of a job's nodes are collected for one span of time. One that begins and ends by the same amount later (or
earlier) than the others' was stamped by a clock that is off by about as much. A node's own line that launches this
very job outside of the job's time says the same. Neither gives the offset well enough to correct by: it widens every
time of that log, so that nothing is ordered by it that the error could turn round.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from statistics import median
from typing import Final, NamedTuple

from rules.clocks import StreamClock, read, window
from rules.signals import Collector, Interval
from telemetry.bundle import Stream
from telemetry.formats.prefix import Stamp
from telemetry.job import JobContext
from telemetry.streams import Block

# Logs that differ by less than this may just have little to say at their ends.
APART: Final = 600.0
# How well both ends must agree. A log that runs on later than all others has no innocent reason; one that ends early
# has (the node died), so there both ends must agree closely.
AGREE_LATER: Final = 0.3
AGREE_EARLIER: Final = 0.1
# The launch of a job is logged within this of its start.
LAUNCH: Final = 60.0
_LINES: Final = 40
# A node that only writes its activity records (every ten minutes) is silent for this long.
QUIET: Final = 660.0


class Span(NamedTuple):
    """The first and the last stamp of a log; ``cut``: it ends in the middle of a line, so more was there."""

    first: Stamp
    last: Stamp
    cut: bool = False


class Covered(NamedTuple):
    """From when to when a log has lines (epoch seconds), and how long after the last it may just have been quiet."""

    lo: float
    hi: float
    quiet: float = QUIET


def widen(span: Span | None, block: Block, collector: Collector) -> Span | None:
    """The span so far with one more block: only lines at its two ends are read."""
    first = span.first if span else _stamp(block, collector, last=False)
    last = _stamp(block, collector, last=True)
    if first is None:
        return span
    return Span(first, last or (span.last if span else first), breaks_off(block))


def breaks_off(block: Block) -> bool:
    """Does a block end in the middle of a line? Only a stream's last one can."""
    return bool(block.length) and bytes(block.data[block.length - 1 : block.length]) != b"\n"


def _stamp(block: Block, collector: Collector, *, last: bool) -> Stamp | None:
    data, at = block.data, block.length if last else 0
    for _ in range(_LINES):
        if last:
            end = at
            at = start = data.rfind(b"\n", 0, max(end - 1, 0)) + 1
        else:
            start, end = at, data.find(b"\n", at, block.length)
            end = end if end >= 0 else block.length
            at = end + 1
        if stamp := collector.prefix(bytes(data[start : min(end, start + 400)])).time:
            return stamp
        if (last and start <= 0) or (not last and at >= block.length):
            break
    return None


def wrong_clocks(
    spans: dict[str, Span], clocks: dict[str, StreamClock], launches: list[tuple[str, Stamp]], job: JobContext
) -> dict[str, StreamClock]:
    """The streams whose clock is shown to be off, each with a clock that says by about how much."""
    found = {}
    for path, error in {**_by_span(spans, clocks, job), **_by_launch(clocks, launches, job)}.items():
        old = clocks.get(path, StreamClock())
        basis, seconds = error
        found[path] = StreamClock(old.shift, old.error + seconds, old.trusted, basis)
    return found


def covered(
    spans: dict[str, Span],
    streams: Iterable[Stream],
    clocks: dict[str, StreamClock],
    job: JobContext,
    broken: Collection[str] = (),
) -> dict[str, Covered]:
    """From when to when each node's system log has lines; nodes whose log tells no time are not in it.

    A log whose clock cannot be trusted covers no time at all, nor does one in ``broken``: they break off in a line
    before they tell a time.
    """
    found: dict[str, Covered] = {}
    for stream in streams:
        span = spans.get(stream.path)
        if stream.node is None:
            continue
        if span is None:
            if stream.path in broken:
                found.setdefault(stream.node, Covered(math.inf, -math.inf))
            continue
        clock = clocks.get(stream.path, StreamClock())
        first, last = read(span.first, clock, job), read(span.last, clock, job)
        if not clock.trusted:
            found.setdefault(stream.node, Covered(math.inf, -math.inf))
        elif first and last:
            own = Covered(first.lo, last.hi, 0.0 if span.cut else QUIET)
            old = found.get(stream.node, own)
            found[stream.node] = Covered(min(old.lo, own.lo), *max((old.hi, old.quiet), (own.hi, own.quiet)))
    return found


def _by_span(spans: dict[str, Span], clocks: dict[str, StreamClock], job: JobContext) -> dict[str, tuple[str, float]]:
    seen: dict[str, Interval] = {}
    for path, span in spans.items():
        clock = clocks.get(path, StreamClock())
        first, last = read(span.first, clock, job), read(span.last, clock, job)
        if path.startswith("syslog/") and first and last and not clock.error:
            seen[path] = Interval(first.lo, last.lo)
    if len(seen) < 3:
        return {}
    usual = Interval(median(s.lo for s in seen.values()), median(s.hi for s in seen.values()))
    found = {}
    for path, own in seen.items():
        begins, ends = own.lo - usual.lo, own.hi - usual.hi
        least = min(abs(begins), abs(ends))
        agree = AGREE_LATER if ends > 0 else AGREE_EARLIER
        if begins * ends > 0 and least >= APART and abs(begins - ends) <= agree * least:
            found[path] = ("its log covers another span than the other nodes' logs", max(abs(begins), abs(ends)))
    # Where many differ there is no usual span to differ from.
    return found if 3 * len(found) <= len(seen) else {}


def _by_launch(
    clocks: dict[str, StreamClock], launches: list[tuple[str, Stamp]], job: JobContext
) -> dict[str, tuple[str, float]]:
    start, end = window(job)
    if start is None or not job.started:
        return {}
    times: dict[str, list[Interval]] = {}
    for path, stamp in launches:
        if time := read(stamp, clocks.get(path, StreamClock()), job):
            times.setdefault(path, []).append(time)
    # A job that was started again has launches of its earlier attempt too: one at the right time is enough.
    return {
        path: ("its own line that launches this job", max(abs(start - t.lo) for t in of_stream))
        for path, of_stream in times.items()
        if all(max(start - t.hi, t.lo - (end if end is not None else t.lo)) > LAUNCH for t in of_stream)
    }
