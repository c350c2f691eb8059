"""Signals joined into faults: one rule, one place, one time.

A fault's scope says whether it may be a cause at all: inside the job's nodes and time; before its start (only a state
that lasted counts); after its end; on a machine that was not the job's (only where the rule says that such a machine
can be to blame).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from rules.clocks import order, window
from rules.facts import Topology
from rules.pack import Pack
from rules.schema import RuleModel
from rules.signals import Interval, Signal
from telemetry.job import JobContext

Scope = Literal["inside", "before", "after", "elsewhere"]
# What clocks may be off at a job's start; logs and accounting settle for some minutes after it ends.
BEFORE_START: Final = 30.0
AFTER_END: Final = 300.0
TOLD_WITHIN: Final = 120.0


@dataclass(eq=False, slots=True)
class Fault:
    rule: RuleModel
    node: str | None
    device: str | None
    link: str | None
    scope: Scope
    signals: list[Signal] = field(default_factory=list)
    demoted: str | None = None

    @property
    def first(self) -> Signal:
        return self.signals[0]

    @property
    def nodes(self) -> set[str]:
        return {s.node for s in self.signals if s.node}

    @property
    def ranks(self) -> set[int]:
        return {s.rank for s in self.signals if s.rank is not None}

    @property
    def devices(self) -> set[tuple[str | None, str]]:
        return {(s.node, s.device) for s in self.signals if s.device}

    @property
    def count(self) -> int:
        return sum(s.count for s in self.signals)

    @property
    def lasts(self) -> bool:
        """Does any of its lines show a state that stays, and not only an event?"""
        return any(s.signature.model.lasting == "state" for s in self.signals)

    @property
    def may_decide(self) -> bool:
        """Could this be a cause at all: a rule with a cause, mature, and with all that it requires."""
        return self.rule.is_cause and self.demoted is None

    def start(self) -> float | None:
        return self.first.time.lo if self.first.time else None


def _scope(signal: Signal, job: JobContext) -> Scope:
    start, end = window(job)
    if signal.time is not None:
        if start is not None and signal.time.hi < start - BEFORE_START:
            return "before"
        if end is not None and signal.time.lo > end + AFTER_END:
            return "after"
    own = signal.node is None or not job.nodes or signal.node in job.nodes
    return "inside" if own or signal.source in ("applog", "scheduler") else "elsewhere"


def _key(signal: Signal, scope: Scope) -> tuple[object, ...]:
    rule = signal.rule
    if rule.place in ("device", "link"):
        link = signal.link if rule.place == "link" else None
        return (rule.rule, scope, signal.node, signal.device, link)
    if rule.place == "server":
        return (rule.rule, scope, signal.peer or signal.node)
    if rule.place == "node" or rule.standing in ("symptom", "context"):
        return (rule.rule, scope, signal.node)
    return (rule.rule, scope)


def _sorted(signals: list[Signal]) -> list[Signal]:
    """Earliest first; those without a time after those with, by stream and line."""
    return sorted(signals, key=lambda s: (s.time is None, s.time.lo if s.time else 0.0, s.stream, s.offset))


def build(signals: list[Signal], pack: Pack, topology: Topology) -> list[Fault]:
    """All faults, in a fixed order; those that may not decide, whatever their rule says, are demoted."""
    joined: dict[tuple[object, ...], Fault] = {}
    for signal in _sorted(signals):
        scope = _scope(signal, topology.job)
        key = _key(signal, scope)
        fault = joined.get(key)
        if fault is None:
            fault = joined[key] = Fault(signal.rule, signal.node, signal.device, signal.link, scope)
        fault.signals.append(signal)
    faults = list(joined.values())
    index = Index(faults, pack)
    for fault in faults:
        fault.demoted = _demotion(fault, index, topology.logged)
    return faults


class Index:
    """Faults by rule, and by rule and node: a job of a thousand nodes has too many to compare each with each."""

    def __init__(self, faults: list[Fault], pack: Pack) -> None:
        self.pack = pack
        self.by_rule: dict[str, list[Fault]] = {}
        self.by_place: dict[tuple[str, str], list[Fault]] = {}
        for fault in faults:
            self.by_rule.setdefault(fault.rule.rule, []).append(fault)
            for node in sorted(fault.nodes):
                self.by_place.setdefault((fault.rule.rule, node), []).append(fault)

    def reached(self, fault: Fault, name: str, where: str) -> Iterator[Fault]:
        """Other faults that a rule file's name reaches in this relation to a fault. Time is not looked at."""
        for rule in sorted(self.pack.reached(name)):
            if where in ("same_node", "same_device"):
                pools = [self.by_place.get((rule, node), []) for node in sorted(fault.nodes)]
                near_by = {id(other): other for pool in pools for other in pool}
                pool = list(near_by.values())
            else:
                pool = self.by_rule.get(rule, [])
            for other in pool:
                if other is not fault and named(other, name, self.pack) and related(fault, other, where):
                    yield other


def _undatable(signal: Signal) -> bool:
    """Stamped, but by a clock that proves nothing about this job."""
    return signal.time is None and signal.stamp is not None and signal.stamp.zone != "boot"


def _only_claimed(signal: Signal) -> bool:
    """A kernel's line in a job's output: pasted there by a script, or printed by a program that blames a GPU."""
    return signal.source == "applog" and "NVRM: " in signal.text


def _demotion(fault: Fault, index: Index, logged: set[str]) -> str | None:
    """Why a fault with a cause may still not decide; None when it may."""
    if not fault.rule.is_cause:
        return None
    if fault.rule.fallback and all(s.cut for s in fault.signals):
        return "its line breaks off, and the rest of it may have named the cause"
    if fault.rule.maturity != "stable":
        return "its rule is still incubating and does not decide alone"
    if all(_undatable(s) for s in fault.signals):
        return "its log's clock lies far from the job's time, so it may be another job's"
    if all(_only_claimed(s) for s in fault.signals) and fault.nodes and fault.nodes <= logged:
        return "only the job's own output says so, and the node's log was there and does not"
    for requirement in fault.rule.requires:
        if not any(
            near(fault, other, requirement.within)
            for name in requirement.any
            for other in index.reached(fault, name, requirement.where)
        ):
            return "what would make it a cause was not seen beside it"
    return None


def known_time(fault: Fault) -> Interval | None:
    """When a fault began, if a clock says it within minutes; a line that lies somewhere in an hour says nothing."""
    time = fault.first.time
    return time if time is not None and time.hi - time.lo <= TOLD_WITHIN else None


def named(fault: Fault, name: str, pack: Pack) -> bool:
    """Does a rule file's name (rule, signature or @group) reach this fault?"""
    if fault.rule.rule not in pack.reached(name):
        return False
    return name.startswith("@") or name == fault.rule.rule or any(s.signature.id == name for s in fault.signals)


def related(cause: Fault, effect: Fault, where: str) -> bool:
    """The spatial relation between two faults. What a line does not say cannot hold, except for the whole job."""
    if where in ("same_job", "anywhere"):
        return True
    if where == "same_device":
        return bool(cause.devices & effect.devices)
    if where == "same_node":
        return bool(cause.nodes & effect.nodes)
    if where == "same_rank":
        return bool(cause.ranks & effect.ranks)
    if where == "same_stream":
        return bool({s.stream for s in cause.signals} & {s.stream for s in effect.signals})
    if where == "link_peer":
        peers = {s.peer for s in cause.signals if s.peer}
        return bool(peers & (effect.nodes | {d for _, d in effect.devices}))
    return False


def near(cause: Fault, effect: Fault, within: float | None) -> bool:
    """Do the two begin within so many seconds of one another? Unknown times do not count against it."""
    if within is None or cause.first.time is None or effect.first.time is None:
        return True
    gaps = [
        max(e.time.lo - c.time.hi, c.time.lo - e.time.hi, 0.0)
        for c in (cause.first, cause.signals[-1])
        for e in (effect.first, effect.signals[-1])
        if c.time and e.time
    ]
    return min(gaps) <= within


def certainly_before(a: Fault, b: Fault, lag: float = 0.0) -> bool:
    return order(a.first, b.first, lag) < 0


def certainly_after(a: Fault, b: Fault, lag: float = 0.0) -> bool:
    return order(a.first, b.first, lag) > 0


def ending_of(fault: Fault, index: Index) -> Signal | None:
    """The signal that ended a lasting state (link up again, server OK) after the state was last logged, if any."""
    last = fault.signals[-1]
    clears = last.signature.model.clears
    if not clears:
        return None
    for other in index.reached(fault, clears, "same_job"):
        for ending in other.signals:
            same_node = ending.node == last.node or ending.node is None or last.node is None
            same_device = not ending.device or not last.device or ending.device == last.device
            same_peer = not ending.peer or not last.peer or ending.peer == last.peer
            if same_node and same_device and same_peer and order(last, ending) < 0:
                return ending
    return None
