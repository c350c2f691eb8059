"""Where the story begins, as it is drawn: a line at a known time, a band over an unknown one, a line per candidate."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from investigations.reading import times, words
from investigations.reading.beginning import Beginning
from investigations.timeline.marks import Event, Mark
from investigations.timeline.scene import Scene


@dataclass(frozen=True, slots=True)
class Origin:
    """`lines`: place of each line through the lanes and its text in the ruler. `band`: two places and a text.

    `first` is the mark of the first fault; `candidates` those that may be, when none is.
    """

    first: Mark | None = None
    candidates: tuple[Mark, ...] = ()
    lines: tuple[tuple[float, str], ...] = ()
    band: tuple[float, float, str] | None = None


def shown(begin: Beginning, found: Iterable[Event], clock: str) -> tuple[float, float] | None:
    """From when to when the beginning lies on `clock`, in seconds since 1970; None when no time is known for it."""
    of_it = [event for event in found if event.evidence in begin.evidence]
    if not of_it:
        return None
    if begin.start is None or begin.end is None:
        at = [event.when(clock) for event in of_it]
        return min(at), max(at)
    shift = of_it[0].when(clock) - of_it[0].at
    return begin.start + shift, (begin.end if begin.kind == "within" else begin.start) + shift


def build(verdict: Mapping[str, Any], begin: Beginning, found: list[Event], marks: list[Mark], scene: Scene) -> Origin:
    of_it = tuple(mark for mark in marks if mark.event.role == "cause" and set(mark.evidence) & set(begin.evidence))
    clock = scene.view.clock
    if begin.kind == "candidates":
        lines = tuple((mark.place, f"{_told(mark.event, clock)} {_candidates(verdict, mark)}") for mark in of_it)
        return Origin(candidates=of_it, lines=lines)
    if not begin.fault:
        return Origin()
    first = of_it[0] if of_it else None
    lies = shown(begin, found, clock)
    if begin.kind == "within" and lies is not None:
        text = f"first fault: some time {times.between(*lies)}"
        return Origin(first, band=(scene.axis.place(lies[0]), scene.axis.place(lies[1]), text))
    if first is None:
        return Origin()
    return Origin(first, lines=((first.place, f"{_told(first.event, clock)} first fault"),))


def _told(event: Event, clock: str) -> str:
    at = times.sure(event.when(clock), event.error)
    return f"{at} as logged," if clock == "logged" and event.shifted else at


def _candidates(verdict: Mapping[str, Any], mark: Mark) -> str:
    resting = sum(1 for item in verdict["alternatives"] if set(item["evidence"]) & set(mark.evidence))
    return "candidate" if resting == 1 else words.counted(resting, "candidate")
