"""The horizontal axis: time on a line from which quiet stretches are folded away.

A place on the axis is in seconds of shown time from its left end, so that a window of a millisecond stays precise.
"""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from investigations.reading import times

FOLDS = 4  # at most; more would make the line hard to read
QUIET = 10.0  # seconds; a shorter pause is never folded
FOLD_SHARE = 0.03  # of the axis, for each fold
STEPS = (
    *(0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5),
    *(1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400),
)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Time from `start` to `end` (seconds since 1970), drawn from `place` on."""

    start: float
    end: float
    place: float

    @property
    def length(self) -> float:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Fold:
    """`length` seconds without an event, drawn as `width` from `place` on."""

    place: float
    width: float
    length: float


@dataclass(frozen=True, slots=True)
class Tick:
    place: float
    label: str


@dataclass(frozen=True, slots=True)
class Axis:
    stretches: tuple[Stretch, ...]
    folds: tuple[Fold, ...] = ()

    @property
    def length(self) -> float:
        last = self.stretches[-1]
        return last.place + last.length

    def place(self, at: float) -> float:
        """Where the time `at` stands. Times in a fold stand in its middle; past the ends the line goes on."""
        number = bisect_right([s.start for s in self.stretches], at) - 1
        if number < 0:
            return at - self.stretches[0].start
        here = self.stretches[number]
        if at <= here.end or number == len(self.stretches) - 1:
            return here.place + at - here.start
        fold = self.folds[number]
        return fold.place + fold.width / 2

    def at(self, place: float) -> float:
        """The time that stands at `place`; inside a fold, its beginning."""
        number = max(0, bisect_right([s.place for s in self.stretches], place) - 1)
        here = self.stretches[number]
        at = here.start + place - here.place
        return at if number == len(self.stretches) - 1 else min(at, here.end)

    def hides(self, at: float) -> bool:
        return not any(s.start <= at <= s.end for s in self.stretches) and bool(
            self.stretches[0].start < at < self.stretches[-1].end
        )

    def ticks(self, start: float, end: float, width: int) -> list[Tick]:
        """Round times in the window, about one in 72 px, each labelled as finely as its distance to the next asks."""
        step = _step((end - start) * 72 / max(width, 1))
        found: list[Tick] = []
        for stretch in self.stretches:
            left = max(stretch.start, stretch.start + start - stretch.place)
            right = min(stretch.end, stretch.start + end - stretch.place)
            if stretch is self.stretches[-1]:
                right = stretch.start + end - stretch.place
            if stretch is self.stretches[0]:
                left = stretch.start + start - stretch.place
            number = -(-left // step)
            while number * step <= right and len(found) < 60:
                at = number * step
                found.append(Tick(self.place(at), _label(at, step)))
                number += 1
        return _apart(found, (end - start) * 64 / max(width, 1))


def _apart(ticks: list[Tick], least: float) -> list[Tick]:
    kept: list[Tick] = []
    for tick in ticks:
        if not kept or tick.place - kept[-1].place >= least:
            kept.append(tick)
    return kept


def _step(wanted: float) -> float:
    return next((step for step in STEPS if step >= wanted), 86400.0 * max(1, round(wanted / 86400)))


def _label(at: float, step: float) -> str:
    at = round(at, 6)
    if step >= 86400:
        return times.moment(at).strftime("%d %b")
    if step >= 60:
        return times.clock(at, 0)[:5]
    if step >= 1:
        return times.clock(at, 0)
    if step >= 0.001:
        return times.clock(at + 1e-7, 3)[3:]
    return times.clock(at + 1e-7, 4)[6:]


def whole(start: float, end: float, before: float = 0.0, after: float = 0.0) -> Axis:
    """From `start` to `end` with nothing folded."""
    return Axis((Stretch(start - before, max(end, start + 0.001) + after, 0.0),))


def folded(events: Iterable[tuple[float, float]]) -> Axis:
    """An axis over `events` (first and last second of each), with the long pauses between them folded.

    A pause is folded when it is longer than ten seconds and than all that is shown otherwise.
    """
    blocks = _blocks(events)
    pauses = sorted(later[0] - earlier[1] for earlier, later in pairwise(blocks))
    kept = sum(end - start for start, end in blocks)
    limit = float("inf")
    for pause in pauses:
        if pause > max(QUIET, 1.2 * kept):
            limit = pause
            break
        kept += pause
    long = [pause for pause in pauses if pause >= limit]
    if len(long) > FOLDS:
        limit = long[-FOLDS]
    groups: list[list[float]] = [list(blocks[0])]
    for start, end in blocks[1:]:
        if start - groups[-1][1] >= limit:
            groups.append([start, end])
        else:
            groups[-1][1] = max(groups[-1][1], end)
    return _laid_out(groups)


def _laid_out(groups: list[list[float]]) -> Axis:
    shown = sum(end - start for start, end in groups) or 1.0
    pauses = [later[0] - earlier[1] for earlier, later in pairwise(groups)]
    pad = min([max(0.1 * shown, 0.4)] + [0.4 * pause for pause in pauses])
    edges = [(start - pad, end + pad) for start, end in groups]
    # Room for the words left of the first fault's line.
    edges[0] = (edges[0][0] - max(pad, 0.2 * sum(end - start for start, end in edges)), edges[0][1])
    edges[-1] = (edges[-1][0], edges[-1][1] + pad)
    total = sum(end - start for start, end in edges)
    width = total * FOLD_SHARE
    stretches: list[Stretch] = []
    folds: list[Fold] = []
    place = 0.0
    for number, (start, end) in enumerate(edges):
        stretches.append(Stretch(start, end, place))
        place += end - start
        if number < len(edges) - 1:
            folds.append(Fold(place, width, edges[number + 1][0] - end))
            place += width
    return Axis(tuple(stretches), tuple(folds))


def _blocks(events: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """Overlapping events joined, in order of time."""
    blocks: list[tuple[float, float]] = []
    for start, end in sorted(events):
        if blocks and start <= blocks[-1][1]:
            blocks[-1] = (blocks[-1][0], max(blocks[-1][1], end))
        else:
            blocks.append((start, end))
    return blocks
