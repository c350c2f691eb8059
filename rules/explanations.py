"""What explains what: edges from a fault to its effects, between instances, never between kinds.

An edge needs a rule that names it, the place that the rule asks for, and a time that does not contradict it: an
effect that certainly began before its cause is not explained by it. Where both directions are possible and time does
not decide, neither explains the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rules.clocks import order
from rules.faults import Fault, Index, certainly_after, certainly_before, near
from rules.pack import Pack
from rules.schema import Explains

# What any fault that ends a process does to the rest of a job: peers lose it, collectives wait for it, the launcher
# and the scheduler tear the job down. Outputs are flushed late, hence the lag.
USUAL: Final = Explains(
    effects=("@peer_loss", "@collective_wait", "@rank_abort", "@teardown", "@job_end"), where="same_job", lag=5.0
)


# Of faults of one rule, so many of the first are asked what they explain all over the job; the others are asked
# about their own node only. A thousand nodes that wait in one collective need no million edges.
LEADING: Final = 16


@dataclass(frozen=True, slots=True)
class Edge:
    cause: Fault
    effect: Fault
    rule: str
    relation: str
    certain: bool
    usual: bool

    @property
    def gap(self) -> float | None:
        a, b = self.cause.first.time, self.effect.first.time
        return b.lo - a.lo if a and b else None


def edges(faults: list[Fault], pack: Pack) -> list[Edge]:
    """All edges between faults of the job; context takes no part."""
    index = Index([f for f in faults if f.rule.standing != "context"], pack)
    found: dict[tuple[int, int], Edge] = {}
    for members in index.by_rule.values():
        for number, cause in enumerate(members):
            for edge in _from(cause, index, wide=number < LEADING):
                found.setdefault((id(edge.cause), id(edge.effect)), edge)
    return _one_way(found)


def _from(cause: Fault, index: Index, *, wide: bool) -> Iterator[Edge]:
    """The edges that begin at one fault; ``wide``: also those that reach over the whole job."""
    for explains in cause.rule.explains:
        if wide or explains.where in ("same_node", "same_device"):
            for effect in _effects(explains, cause, index):
                yield _made(cause, effect, explains.where, usual=False)
    if wide and cause.may_decide and cause.rule.fatal and cause.scope != "after":
        for effect in _effects(USUAL, cause, index):
            if not (effect.may_decide and effect.rule.standing == "self_standing"):
                yield _made(cause, effect, USUAL.where, usual=True)


def _effects(explains: Explains, cause: Fault, index: Index) -> Iterator[Fault]:
    for name in explains.effects:
        for effect in index.reached(cause, name, explains.where):
            same_symptom = cause.rule is effect.rule and cause.rule.standing == "symptom"
            in_time = not certainly_after(cause, effect, explains.lag) and near(cause, effect, explains.within)
            # A catch-all gives way to what has a cause of its own, unless the clocks show that it came first.
            gives_way = cause.rule.fallback and effect.may_decide and name.startswith("@")
            if in_time and not same_symptom and not (gives_way and not certainly_before(cause, effect)):
                yield effect


def _made(cause: Fault, effect: Fault, relation: str, *, usual: bool) -> Edge:
    return Edge(cause, effect, cause.rule.rule, relation, certainly_before(cause, effect), usual)


def _one_way(found: dict[tuple[int, int], Edge]) -> list[Edge]:
    """Of two edges that point at each other keep the one that time, or a named rule, proves; else none."""
    kept = []
    for (cause, effect), edge in found.items():
        back = found.get((effect, cause))
        if back is None or edge.certain or (not back.certain and back.usual and not edge.usual):
            kept.append(edge)
    return kept


@dataclass(frozen=True, slots=True)
class Overruled:
    fault: Fault
    by: Fault
    why: str


def overruled(candidates: list[Fault], pack: Pack) -> list[Overruled]:
    """Causes that another fault's rule sets aside, each once, with the reason."""
    index = Index(candidates, pack)
    found: dict[int, Overruled] = {}
    for other in candidates:
        for clause in other.rule.overrules:
            for name in clause.rules:
                for fault in index.reached(other, name, clause.where):
                    late = near(other, fault, clause.within) and not _long_before(fault, other, clause.within)
                    if late and id(fault) not in found:
                        found[id(fault)] = Overruled(fault, other, clause.why)
    return [found[id(fault)] for fault in candidates if id(fault) in found]


def _long_before(fault: Fault, other: Fault, within: float | None) -> bool:
    """Did the overruled fault certainly begin earlier than the rule's window allows?"""
    return within is not None and order(fault.first, other.first) < 0 and not near(other, fault, within)
