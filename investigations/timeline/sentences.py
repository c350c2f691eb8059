"""The sentences round the figure: which clocks disagree, and what it shows."""

from collections.abc import Mapping
from typing import Any

from investigations.reading import times, words
from investigations.reading.beginning import Beginning
from investigations.timeline.marks import FAR, Event
from investigations.timeline.view import View


def clocks(verdict: Mapping[str, Any], begin: Beginning, found: list[Event], view: View) -> tuple[str, bool]:
    """What to know about clocks that disagree, and whether it is only a remark."""
    shifted: dict[str, Event] = {}
    for event in found:
        if event.node and abs(event.at - event.logged) > 0.5:
            shifted.setdefault(event.node, event)
    if not shifted:
        return "", True
    event = next(iter(shifted.values()))
    off = event.logged - event.at
    told = _told(verdict, event, len(shifted) - 1)
    its_lines = f"the lines of its {words.SOURCE_WORDS.get(event.source, event.source)}"
    far = abs(off) >= FAR
    if view.clock == "corrected":
        if far:
            return f"{told}. {its_lines.capitalize()} are moved by {times.span(off)}.", True
        return f"{told}. Its lines are moved; the hollow marks show the times as logged.", True
    seems = _seems(begin, found, shifted)
    if far:
        too = "early" if off < 0 else "late"
        stand = f"As logged, {its_lines} stand {times.span(off)} too {too}; “Corrected” moves them."
        return f"{told}. {stand}", not seems
    return f"{seems}{told}; the hollow marks show where its lines belong.", not seems


def _told(verdict: Mapping[str, Any], event: Event, others: int) -> str:
    clock = next((clock for clock in verdict["clocks"] if clock["node"] == event.node), {})
    off, error, basis = event.logged - event.at, clock.get("error_seconds"), clock.get("basis")
    because = ", ".join(
        part for part in (times.within(error) if error else "", f"from {basis}" if basis else "") if part
    )
    told = f"The clock of {event.node} runs {times.span(off)} {'slow' if off < 0 else 'fast'}"
    told += f" ({because})" if because else ""
    if others:
        told += f", and {words.counted(others, 'other clock')} disagree{'s' if others == 1 else ''} too"
    return told


def _seems(begin: Beginning, found: list[Event], shifted: Mapping[str, Event]) -> str:
    """Which node seems to fail before the first fault, though it did not. Empty when none does."""
    fault = next((event for event in found if begin.kind == "known" and event.evidence in begin.evidence), None)
    early = next((e for e in shifted.values() if fault and e.at > fault.at and e.logged < fault.logged), None)
    if fault is None or early is None:
        return ""
    return f"As logged, {early.node} seems to fail {times.span(fault.logged - early.logged)} before the first fault. "


def caption(verdict: Mapping[str, Any], begin: Beginning, found: list[Event]) -> str:
    """The finding of the figure in one sentence."""
    symptoms = [event for event in found if event.role == "symptom"]
    parts = [_beginning(verdict, begin, found, symptoms)]
    if begin.kind == "known" and verdict["lead_seconds"]:
        parts.append(f"the first symptom elsewhere {times.span(verdict['lead_seconds'])} later")
    if symptoms:
        nodes = {event.node for event in symptoms if event.node}
        across = f" on {words.counted(len(nodes), 'node')}" if nodes else ""
        lines = words.counted(sum(event.count for event in symptoms), "line")
        parts.append(f"{lines} of symptoms{across}{' in all' if begin.kind == 'known' else ''}")
    ended = times.seconds(verdict["job"]["ended"])
    if begin.kind == "known" and begin.start is not None and ended and ended > begin.start:
        parts.append(f"the job ends after {times.span(ended - begin.start)}")
    told = ", ".join(part for part in parts if part)
    return told[:1].upper() + told[1:] + "."


def _beginning(verdict: Mapping[str, Any], begin: Beginning, found: list[Event], symptoms: list[Event]) -> str:
    of_it = [event for event in found if event.evidence in begin.evidence]
    if begin.kind == "within" and begin.start is not None and begin.end is not None:
        return f"the first fault came some time {times.between(begin.start, begin.end)}"
    if begin.kind == "untimed":
        return "the line of the first fault carries no time"
    if begin.kind == "known" and begin.start is not None:
        return f"first fault at {times.sure(begin.start, verdict['first_fault_error'])}{_logged(of_it)}"
    if begin.kind == "candidates":
        fit = f"{words.counted(len(verdict['alternatives']), 'cause')} fit equally"
        if not of_it:
            return f"{fit}, and no line stands as the first fault"
        when = _when(of_it[0])
        return (
            f"{fit}; {'the line behind them is' if len(of_it) == 1 else 'their lines are marked, the earliest'} {when}"
        )
    if verdict["outcome"] == "no_failure":
        cause = next((event for event in found if event.role == "cause"), None)
        return f"no fault; “{cause.title}” is {_when(cause)}" if cause else "no fault"
    if symptoms:
        return "no line stands as the first fault"
    return f"{words.counted(len(found), 'line')} in the job's time, none of them a symptom"


def _when(event: Event) -> str:
    if event.vague:
        return f"some time {times.between(event.told - event.error, event.told + event.error)}"
    return f"at {times.sure(event.at, event.error)}{_logged([event])}"


def _logged(events: list[Event]) -> str:
    """The time as logged, where that is another."""
    event = next((event for event in events if event.shifted), None)
    return f" (logged as {times.sure(event.logged, event.error)})" if event else ""
