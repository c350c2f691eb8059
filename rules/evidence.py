"""The evidence trail: which lines the verdict rests on, numbered, and the chain from cause to effect."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from rules.clocks import iso
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
    """Evidence entries in reading order, and the id that stands for each fault."""

    topology: Topology
    entries: list[dict[str, Any]] = field(default_factory=list)
    ids: dict[int, list[str]] = field(default_factory=dict)

    def of(self, fault: Fault) -> list[str]:
        return self.ids.get(id(fault), [])


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


def _when(signal: Signal) -> tuple[bool, float, str, int, str]:
    return (
        signal.time is None,
        signal.time.lo if signal.time else 0.0,
        signal.stream,
        signal.offset,
        signal.signature.id,
    )


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
    context = [f for f in faults if f.rule.standing == "context"]
    taken: set[int] = set()
    chosen: list[tuple[str, Fault, Signal]] = []

    def take(role: str, members: list[Fault], lines: int, each: int) -> None:
        room = lines
        for fault in members:
            if id(fault) in taken:
                continue
            taken.add(id(fault))
            for signal in fault.signals[: min(each, max(room, 1) if fault is members[0] else room)]:
                chosen.append((role, fault, signal))
                room -= 1

    take(role, deciding, CAUSE_LINES, CAUSE_LINES)
    take("symptom", symptoms, SYMPTOM_LINES, PER_SYMPTOM)
    take("rejected", [r.fault for r in judgement.rejected], OTHER_LINES, PER_OTHER)
    take("context", context, OTHER_LINES, PER_OTHER)
    first = {"cause": 0, "symptom": 1 if role == "cause" else 0, "rejected": 2, "context": 2}
    chosen.sort(key=lambda c: (0 if c[0] == "cause" else 1, first[c[0]] if c[2].time is None else 1, _when(c[2])))
    lines = _line_numbers(bundle, [signal for _, _, signal in chosen])
    for number, (as_role, fault, signal) in enumerate(chosen, 1):
        line = lines.get((signal.stream, signal.offset), 1)
        made.entries.append(_entry(number, as_role, signal, line, topology))
        made.ids.setdefault(id(fault), []).append(f"E{number}")
    return made


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
        source = edge.cause.first
        for number, target in zip(made.of(edge.effect), edge.effect.signals, strict=False):
            gap = target.time.lo - source.time.lo if target.time and source.time else None
            links.append(
                {
                    "from": made.of(edge.cause)[0],
                    "to": number,
                    "rule": edge.rule,
                    "relation": edge.relation,
                    "gap_seconds": round(gap, 6) if gap is not None else None,
                    "order": "certain" if edge.certain else "unknown",
                }
            )
    return sorted(links, key=lambda link: (int(link["to"][1:]), int(link["from"][1:])))


def _rank(edge: Edge, deciding: set[int]) -> tuple[bool, bool, bool, float, str, str]:
    """Rules that name the effect before usual ones; certain order first; then the root, then the shortest gap."""
    gap = edge.gap
    return (
        edge.usual,
        not edge.certain,
        id(edge.cause) not in deciding,
        abs(gap) if gap is not None else 1e12,
        edge.rule,
        f"{edge.cause.node}{edge.cause.device}",
    )
