"""How a verdict came about, for someone who writes rules: signals, faults, what explains what, what was set aside.

Every line names the rule's file and line, so that a surprise can be looked up where it was written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from rules import faults as faulting
from rules.attribution import scanner_for
from rules.clocks import iso
from rules.faults import Fault
from rules.judgement import Case, Judgement
from rules.observation import observe
from rules.pack import Pack
from telemetry.bundle import Bundle

SHOWN: Final = 40


def _at(pack: Pack, rule: str) -> str:
    file, line = pack.where(rule)
    return f"{file}:{line}"


def _place(fault: Fault) -> str:
    parts = [fault.node, fault.device, f"link {fault.link}" if fault.link else None]
    if fault.ranks:
        parts.append(f"{len(fault.ranks)} ranks" if len(fault.ranks) > 1 else f"rank {min(fault.ranks)}")
    return ", ".join(part for part in parts if part) or "no place"


def _when(fault: Fault) -> str:
    time = fault.first.time
    if time is None:
        return "no time"
    width = time.hi - time.lo
    return f"{iso(time.lo)}" + (f" (+{width:.0f} s)" if width > 1 else "")


def _named(fault: Fault) -> str:
    return f"{fault.rule.rule} [{_place(fault)}]"


def _cut(lines: list[str]) -> Iterator[str]:
    yield from lines[:SHOWN]
    if len(lines) > SHOWN:
        yield f"    … {len(lines) - SHOWN} more"


def explain(bundle: Bundle, pack: Pack) -> Iterator[str]:
    """The trace, line by line."""
    observation = observe(bundle, pack, scanner_for(pack))
    faults = faulting.build(observation.signals, pack, observation.topology)
    judgement = Case(bundle, pack, faults, observation).judge()
    yield f"Ended: {observation.terminal_state}, cancelled by {observation.cancelled_by}"
    progress = observation.progress
    if progress:
        yield f"Last sign of progress: {progress.stream} byte {progress.offset}, {iso(progress.at) or 'no time'}"
    for stream, clock in sorted(observation.clocks.items()):
        if clock.basis != "as logged":
            yield f"Clock of {stream}: {clock.shift:+.0f} s, error {clock.error:.0f} s ({clock.basis})"
    yield from _signals(observation.signals, pack)
    yield from _faults(faults, pack)
    yield from _edges(judgement, pack)
    yield from _outcome(judgement, pack)


def _signals(signals: list[faulting.Signal], pack: Pack) -> Iterator[str]:
    counts: Counter[tuple[str, str]] = Counter()
    for signal in signals:
        counts[(signal.signature.id, signal.rule.rule)] += signal.count
    yield f"Signals: {sum(counts.values())} lines, {len(counts)} signatures"
    rows = [f"    {count:>7}  {name}  ({_at(pack, rule)})" for (name, rule), count in counts.most_common()]
    yield from _cut(rows)


def _faults(faults: list[Fault], pack: Pack) -> Iterator[str]:
    yield f"Faults: {len(faults)}"
    rows = []
    for fault in faults:
        notes: list[str] = [fault.rule.standing, fault.scope]
        if fault.demoted:
            notes.append(f"does not decide: {fault.demoted}")
        where = f"{fault.first.stream} byte {fault.first.offset}"
        rows.append(f"    {_named(fault)} {_when(fault)} {where}: {', '.join(notes)}  ({_at(pack, fault.rule.rule)})")
    yield from _cut(rows)


def _edges(judgement: Judgement, pack: Pack) -> Iterator[str]:
    yield f"Explanations: {len(judgement.edges)}"
    rows = []
    for edge in judgement.edges:
        order = "certain" if edge.certain else "order unknown"
        by = "as any fault does" if edge.usual else _at(pack, edge.rule)
        rows.append(f"    {_named(edge.cause)} -> {_named(edge.effect)}: {edge.relation}, {order}  ({by})")
    yield from _cut(rows)


def _outcome(judgement: Judgement, pack: Pack) -> Iterator[str]:
    yield f"Set aside: {len(judgement.rejected)}"
    yield from _cut([f"    {_named(r.fault)}: {r.why}  ({_at(pack, r.rule)})" for r in judgement.rejected])
    yield f"Outcome: {judgement.outcome}" + (f", {judgement.cause}" if judgement.cause else "") + f" ({judgement.why})"
    for fault in judgement.winners:
        yield f"    decided by {_named(fault)}  ({_at(pack, fault.rule.rule)})"
    for alternative in judgement.alternatives:
        rests = ", ".join(dict.fromkeys(f.rule.rule for f in alternative.faults))
        yield f"    still possible: {alternative.cause}, on {rests}: {alternative.why}"
    for source, nodes in judgement.lacking.items():
        yield f"    missing: {source} of {', '.join(nodes) or 'the job'}"
