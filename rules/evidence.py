"""The evidence trail: which lines the verdict rests on, numbered, and the chain from cause to effect."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from rules.clocks import iso, order
from rules.explanations import Edge
from rules.facts import Topology
from rules.faults import Fault
from rules.judgement import Judgement
from rules.signals import Signal
from telemetry.bundle import Bundle

# Enough for a person to read and for a timeline to show; counts say what was folded.
CAUSE_LINES: Final = 12
SYMPTOM_LINES: Final = 160
PER_SYMPTOM: Final = 24
OTHER_LINES: Final = 40
PER_OTHER: Final = 3


@dataclass(slots=True)
class Trail:
    """Evidence entries in reading order, and which of them (with their signals) stand for each fault."""

    topology: Topology
    entries: list[dict[str, Any]] = field(default_factory=list)
    held: dict[int, list[tuple[str, Signal]]] = field(default_factory=dict)

    def of(self, fault: Fault) -> list[str]:
        return [number for number, _ in self.held.get(id(fault), [])]


def _entry(number: int, role: str, signal: Signal, line: int, topology: Topology) -> dict[str, Any]:
    time = signal.time
    return {
        "id": f"E{number}",
        "role": role,
        "signature": signal.signature.id,
        "rule": signal.rule.rule,
        "title": signal.rule.title,
        "layer": signal.layer,
        "source": signal.source,
        "stream": signal.stream,
        "line": line,
        "offset": signal.offset,
        "time": iso(time.lo) if time else None,
        "time_error": round(time.hi - time.lo, 6) if time else None,
        "time_logged": iso(signal.logged),
        "node": signal.node,
        "rank": signal.rank,
        "device": topology.shown_device(signal.node, signal.device),
        "count": signal.count,
        "first": iso(time.lo) if time else None,
        "last": iso(signal.last.lo) if signal.last else None,
        "text": signal.text,
        "fields": dict(sorted(signal.fields.items())),
    }


def _when(signal: Signal, floor: float = 0.0) -> tuple[bool, float, str, int, str]:
    """Reading order. A symptom whose time is only known to lie somewhere does not stand before its cause."""
    low = max(signal.time.lo, floor) if signal.time else 0.0
    return (signal.time is None, low, signal.stream, signal.offset, signal.signature.id)


def _deciding(judgement: Judgement) -> list[Fault]:
    if judgement.winners:
        return judgement.winners
    return list(dict.fromkeys(f for a in judgement.alternatives for f in a.faults))


def trail(judgement: Judgement, faults: list[Fault], topology: Topology, bundle: Bundle) -> Trail:
    made = Trail(topology)
    deciding = _deciding(judgement)
    role = "cause" if judgement.outcome in ("attributed", "ambiguous") else "symptom"
    explained = {id(e.effect) for e in judgement.edges if e.cause in deciding}
    symptoms = sorted(judgement.symptoms, key=lambda f: (id(f) not in explained, _when(f.first)))
    context = judgement.aside + [f for f in faults if f.rule.standing == "context"]
    chosen = _Chosen()
    chosen.take(role, deciding, CAUSE_LINES, CAUSE_LINES)
    chosen.take("symptom", symptoms, SYMPTOM_LINES, PER_SYMPTOM)
    chosen.take("rejected", [r.fault for r in judgement.rejected], OTHER_LINES, PER_OTHER)
    chosen.take("context", context, OTHER_LINES, PER_OTHER)
    floor = max((c.signal.time.lo for c in chosen.lines if c.role == "cause" and c.signal.time), default=0.0)
    ordered = sorted(
        chosen.lines, key=lambda c: (c.role != "cause", _when(c.signal, floor if c.role == "symptom" else 0.0))
    )
    numbers = _line_numbers(bundle, [c.signal for c in ordered])
    for number, choice in enumerate(ordered, 1):
        line = numbers.get((choice.signal.stream, choice.signal.offset), 1)
        made.entries.append(_entry(number, choice.role, choice.signal, line, topology))
        for fault in choice.faults:
            made.held.setdefault(id(fault), []).append((f"E{number}", choice.signal))
    return made


@dataclass(slots=True)
class _Line:
    role: str
    signal: Signal
    faults: list[Fault]


@dataclass(slots=True)
class _Chosen:
    """The lines to show: each once, though several rules may speak of it; the first role that took it stands."""

    lines: list[_Line] = field(default_factory=list)
    _at: dict[tuple[str, int, str], _Line] = field(default_factory=dict)
    _taken: set[int] = field(default_factory=set)

    def take(self, role: str, members: list[Fault], room: int, each: int) -> None:
        """Up to ``room`` lines of these faults, at most ``each`` of one."""
        for fault in members:
            if id(fault) in self._taken:
                continue
            self._taken.add(id(fault))
            for signal in fault.signals[: min(each, room)]:
                key = (signal.stream, signal.offset, signal.text)
                if key in self._at:
                    self._at[key].faults.append(fault)
                    continue
                self._at[key] = _Line(role, signal, [fault])
                self.lines.append(self._at[key])
                room -= 1


def _line_numbers(bundle: Bundle, signals: list[Signal]) -> dict[tuple[str, int], int]:
    """Line numbers of what is shown, by stream and offset: counted only now, and only in these streams."""
    offsets: dict[str, set[int]] = {}
    for signal in signals:
        offsets.setdefault(signal.stream, set()).add(signal.offset)
    streams = {stream.path: stream for stream in bundle.streams}
    found = {}
    for path, wanted in offsets.items():
        if path in streams:
            ordered = sorted(wanted)
            for offset, line in zip(ordered, streams[path].line_numbers(ordered), strict=True):
                found[(path, offset)] = line
    return found


def chain(judgement: Judgement, made: Trail) -> list[dict[str, Any]]:
    """One link to each symptom, from the nearest fault that a named rule says caused it."""
    deciding = {id(f) for f in _deciding(judgement)}
    shown = [e for e in judgement.edges if made.of(e.cause) and made.of(e.effect) and id(e.effect) not in deciding]
    best: dict[int, Edge] = {}
    for edge in shown:
        kept = best.get(id(edge.effect))
        if kept is None or _rank(edge, deciding) < _rank(kept, deciding):
            best[id(edge.effect)] = edge
    links = []
    for edge in best.values():
        (start, source), *_ = made.held[id(edge.cause)]
        for number, target in made.held[id(edge.effect)]:
            if number == start:
                continue
            clocked = target.own_clock and source.own_clock
            gap = target.time.lo - source.time.lo if clocked and target.time and source.time else None
            links.append(
                {
                    "from": start,
                    "to": number,
                    "rule": edge.rule,
                    "relation": edge.relation,
                    "gap_seconds": round(gap, 6) if gap is not None else None,
                    "order": "certain" if order(source, target) < 0 else "unknown",
                }
            )
    return sorted(links, key=lambda link: (int(link["to"][1:]), int(link["from"][1:])))


def _rank(edge: Edge, deciding: set[int]) -> tuple[bool, bool, bool, bool, float, str, str]:
    """Rules that name the effect before usual ones; certain order first; then the root, then the shortest gap."""
    gap = edge.gap
    rooted = id(edge.cause) in deciding
    return (
        not rooted and not edge.certain,
        edge.usual,
        not edge.certain,
        not rooted,
        abs(gap) if gap is not None else 1e12,
        edge.rule,
        f"{edge.cause.node}{edge.cause.device}",
    )
