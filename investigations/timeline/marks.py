"""What is drawn: evidence as marks in lanes, folded until a window can show them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from investigations.reading import times
from investigations.reading.beginning import VAGUE

MOST = 2000
FAR = 3600.0  # seconds; a clock that is further off gets no hollow twin
APART = 6.0  # px; marks of one kind closer than this are folded where a lane stands for many nodes


@dataclass(frozen=True, slots=True)
class Event:
    """One piece of evidence that carries a time. Times are seconds since 1970 UTC.

    `told` is the middle of the interval in which it happened, `at` where it is drawn: never before the first fault when
    the interval allows that it came after.
    """

    evidence: str
    role: str
    layer: str
    title: str
    node: str | None
    device: str | None
    rank: int | None
    source: str
    at: float
    told: float
    error: float
    logged: float
    last: float
    count: int

    def when(self, clock: str) -> float:
        return self.logged if clock == "logged" else self.at

    @property
    def shifted(self) -> bool:
        """Whether the two clocks put it at visibly different times."""
        return abs(self.at - self.logged) > 0.05

    @property
    def vague(self) -> bool:
        """A line without a time of its own, known only to lie between others."""
        return self.error > VAGUE


@dataclass(frozen=True, slots=True)
class Mark:
    """Events drawn as one: `event` is the first of them, `count` all lines they stand for, `place` on the axis."""

    event: Event
    lane: str
    place: float
    other: float
    count: int
    events: int
    evidence: tuple[str, ...]


def events(verdict: Mapping[str, Any]) -> list[Event]:
    """The evidence that carries a time, in order of time."""
    found = []
    zero = times.seconds(verdict["first_fault_at"])
    for item in verdict["evidence"]:
        told = times.seconds(item["time"])
        if told is None:
            continue
        error = max(item["time_error"] or 0.0, 0.0)
        logged = times.seconds(item["time_logged"])
        shift = 0.0 if logged is None else logged - told
        at = told
        if zero is not None and item["role"] == "symptom" and told < zero <= told + error:
            at = zero
        found.append(
            Event(
                evidence=item["id"],
                role=item["role"],
                layer=item["layer"],
                title=item["title"],
                node=item["node"],
                device=item["device"],
                rank=item["rank"],
                source=item["source"],
                at=at,
                told=told,
                error=error,
                logged=at + shift,
                last=max(times.seconds(item["last"]) or at, at),
                count=max(item["count"] or 1, 1),
            )
        )
    return sorted(found, key=lambda event: (event.at, event.evidence))


def undated(verdict: Mapping[str, Any]) -> int:
    return sum(1 for item in verdict["evidence"] if not item["time"])


def fold(marks: Iterable[Mark], crowded: frozenset[str], per_px: float) -> list[Mark]:
    """`marks` with near ones joined: those that say the same; in `crowded` lanes, or when too many, by layer.

    `per_px` is the length of one pixel on the axis. At most MOST marks come back.
    """
    all_marks = list(marks)
    apart = APART * per_px
    folded = _joined(all_marks, apart, crowded)
    for _ in range(32):
        if len(folded) <= MOST:
            break
        apart *= 2
        folded = _joined(all_marks, apart, frozenset(mark.lane for mark in all_marks))
    return sorted(sorted(folded, key=lambda mark: mark.event.role != "cause")[:MOST], key=lambda mark: mark.place)


def _joined(marks: Iterable[Mark], apart: float, crowded: frozenset[str]) -> list[Mark]:
    open_marks: dict[tuple[str, ...], Mark] = {}
    done: list[Mark] = []
    for mark in sorted(marks, key=lambda m: m.place):
        title = "" if mark.lane in crowded else mark.event.title
        key = (mark.lane, mark.event.layer, mark.event.role, title)
        first = open_marks.get(key)
        if first is not None and mark.event.role != "cause" and mark.place - first.place <= apart:
            open_marks[key] = replace(
                first,
                count=first.count + mark.count,
                events=first.events + mark.events,
                evidence=first.evidence + mark.evidence,
            )
            continue
        if first is not None:
            done.append(first)
        open_marks[key] = mark
    return done + list(open_marks.values())
