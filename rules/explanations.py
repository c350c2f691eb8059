"""What explains what: edges from a fault to its effects, between instances, never between kinds.

An edge needs a rule that names it, the place that the rule asks for, and a time that does not contradict it: an
effect that certainly began before its cause is not explained by it. Where both directions are possible and time does
not decide, neither explains the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rules.clocks import order
from rules.faults import Fault, certainly_after, certainly_before, named, near, related
from rules.pack import Pack
from rules.schema import Explains

# What any fault that ends a process does to the rest of a job: peers lose it, collectives wait for it, the launcher
# and the scheduler tear the job down. Outputs are flushed late, hence the lag.
USUAL: Final = Explains(
    effects=("@peer_loss", "@collective_wait", "@rank_abort", "@teardown", "@job_end"), where="same_job", lag=5.0
)


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
    taking = [f for f in faults if f.rule.standing != "context"]
    found = [e for a in taking for b in taking if a is not b and (e := _edge(a, b, pack))]
    return _one_way(found)


def _edge(cause: Fault, effect: Fault, pack: Pack) -> Edge | None:
    if cause.rule is effect.rule and cause.rule.standing == "symptom":
        return None
    for explains in cause.rule.explains:
        if _holds(explains, cause, effect, pack):
            return _made(cause, effect, explains.where, usual=False)
    ends_jobs = cause.may_decide and cause.rule.fatal and cause.scope != "after"
    own_cause = effect.may_decide and effect.rule.standing == "self_standing"
    if ends_jobs and not own_cause and _holds(USUAL, cause, effect, pack):
        return _made(cause, effect, USUAL.where, usual=True)
    return None


def _made(cause: Fault, effect: Fault, relation: str, *, usual: bool) -> Edge:
    return Edge(cause, effect, cause.rule.rule, relation, certainly_before(cause, effect), usual)


def _holds(explains: Explains, cause: Fault, effect: Fault, pack: Pack) -> bool:
    if not any(named(effect, name, pack) for name in explains.effects):
        return False
    if not related(cause, effect, explains.where):
        return False
    if certainly_after(cause, effect, explains.lag):
        return False
    if explains.within is None or cause.first.time is None:
        return True
    # The cause may have been logged again and again: its latest word before the effect counts.
    return near(cause, effect, explains.within)


def _one_way(found: list[Edge]) -> list[Edge]:
    """Of two edges that point at each other keep the one that time, or a named rule, proves; else none."""
    kept = []
    both = {(id(e.cause), id(e.effect)): e for e in found}
    for edge in found:
        back = both.get((id(edge.effect), id(edge.cause)))
        if back is None or edge.certain or (not back.certain and back.usual and not edge.usual):
            kept.append(edge)
    return kept


@dataclass(frozen=True, slots=True)
class Overruled:
    fault: Fault
    by: Fault
    why: str


def overruled(faults: list[Fault], pack: Pack) -> list[Overruled]:
    """Causes that another fault's rule sets aside, with its reason."""
    found = []
    for fault in faults:
        if not fault.may_decide:
            continue
        for other in faults:
            if other is fault or not other.may_decide or other.scope not in ("inside", "before"):
                continue
            for clause in other.rule.overrules:
                if (
                    any(named(fault, name, pack) for name in clause.rules)
                    and related(other, fault, clause.where)
                    and near(other, fault, clause.within)
                    and not _long_before(fault, other, clause.within)
                ):
                    found.append(Overruled(fault, other, clause.why))
                    break
            else:
                continue
            break
    return found


def _long_before(fault: Fault, other: Fault, within: float | None) -> bool:
    """Did the overruled fault certainly begin earlier than the rule's window allows?"""
    return within is not None and order(fault.first, other.first) < 0 and not near(other, fault, within)
