"""Which faults may be the answer: the job's own, not over or outlived, not overruled, and explained by no other.

What is set aside is kept with its reason, for the verdict says what it ruled out and why.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rules.clocks import order
from rules.explanations import Edge, edges, overruled
from rules.faults import Fault, Index, ending_of
from rules.pack import Pack

# Progress for this many seconds after a fault: the job outlived it.
OUTLIVED: Final = 600.0


@dataclass(frozen=True, slots=True)
class Rejection:
    fault: Fault
    why: str
    rule: str
    by_time: bool = False


class Sieve:
    """Sifts a job's faults. ``progress_at``: epoch seconds of the last sign of progress, None when none is known."""

    def __init__(self, faults: list[Fault], pack: Pack, progress_at: float | None) -> None:
        self.faults, self.pack, self.progress_at = faults, pack, progress_at
        self.index = Index(faults, pack)
        self.edges = edges([f for f in faults if f.scope != "after"], pack)
        self.rejected: list[Rejection] = []
        self.gone: set[int] = set()

    def roots(self) -> list[Fault]:
        """The faults with a cause that nothing sets aside and that no other of them explains."""
        candidates = self._in_scope([f for f in self.faults if f.may_decide])
        return self._unexplained(self._not_overruled(candidates))

    def reject(self, fault: Fault, why: str, rule: str | None = None, *, by_time: bool = False) -> None:
        self.rejected.append(Rejection(fault, why, rule or fault.rule.rule, by_time))

    def _in_scope(self, candidates: list[Fault]) -> list[Fault]:
        """Sets aside what was not the job's. A fault that only explains one set aside is looked at again."""
        kept = candidates
        while True:
            self.gone = {id(r.fault) for r in self.rejected}
            why = {id(f): self._out_of_scope(f) for f in kept}
            for fault in kept:
                if reason := why[id(fault)]:
                    self.reject(fault, reason, by_time=fault.scope != "elsewhere")
            if not any(why.values()):
                return kept
            kept = [f for f in kept if not why[id(f)]]

    def _out_of_scope(self, fault: Fault) -> str | None:
        explicit = [
            e
            for e in self.edges
            if e.cause is fault and e.effect.scope == "inside" and not e.usual and id(e.effect) not in self.gone
        ]
        if fault.scope == "after":
            return "It was logged after the job had ended."
        if fault.scope == "before":
            left_behind = self._left_behind(fault)
            if not left_behind and not fault.lasts:
                return "It happened before the job started and left no state that the job met."
            again = any(f.rule is fault.rule and f.scope == "inside" and f.node == fault.node for f in self.faults)
            if not explicit and not again and not left_behind:
                return "It happened before the job started, and nothing inside the job's time shows it still in force."
        if ending := ending_of(fault, self.index):
            explicit = [e for e in explicit if order(ending, e.effect.first) > 0]
            if not explicit:
                return f"It was over again ({ending.stream} says so) before anything that it could explain."
        if past := self.outlived(fault, explicit):
            return past
        if fault.scope == "elsewhere" and not (fault.rule.outside and explicit):
            return "It was not on one of the job's machines."
        if not fault.rule.fatal and not explicit:
            return "It does not stop a job by itself, and nothing that followed is its effect."
        return None

    def _left_behind(self, fault: Fault) -> bool:
        """Did a fault before the job cause another there whose state the job met?"""
        named = [e for e in self.edges if not e.usual]
        states = {
            id(e.effect) for e in named if e.cause is fault and e.effect.scope == "before" and e.effect.lasts
        } - self.gone
        return any(
            id(e.cause) in states and e.effect.scope == "inside" and id(e.effect) not in self.gone for e in named
        )

    def outlived(self, fault: Fault, explicit: list[Edge]) -> str | None:
        """A job that went on making progress long after a fault was not stopped by it, unless an effect came later."""
        last = fault.signals[-1].last
        if last is None or self.progress_at is None or self.progress_at - last.hi < OUTLIVED:
            return None
        if any(
            e.effect.start() is not None and (e.effect.start() or 0.0) >= self.progress_at - OUTLIVED for e in explicit
        ):
            return None
        return f"The job went on making progress for {(self.progress_at - last.hi) / 60:.0f} minutes after it."

    def _not_overruled(self, candidates: list[Fault]) -> list[Fault]:
        gone = {id(o.fault): o for o in overruled(candidates, self.pack)}
        # Two that set each other aside would leave none: then neither does.
        mutual = {k for k, o in gone.items() if id(o.by) in gone and gone[id(o.by)].by is o.fault}
        effects = {(id(e.cause), id(e.effect)) for e in self.edges}
        for key, o in gone.items():
            # What the one that overrules it also caused is its symptom, not a rival that was ruled out.
            if key not in mutual and (id(o.by), key) not in effects:
                self.reject(o.fault, o.why, o.by.rule.rule)
        return [f for f in candidates if id(f) not in gone or id(f) in mutual]

    def _unexplained(self, candidates: list[Fault]) -> list[Fault]:
        """Candidates that no other candidate explains; members of a circle all stay."""
        allowed = set(map(id, candidates))
        causes_of: dict[int, list[Edge]] = {}
        for edge in self.edges:
            if id(edge.cause) in allowed and id(edge.effect) in allowed:
                causes_of.setdefault(id(edge.effect), []).append(edge)
        roots = []
        for fault in candidates:
            others = [e for e in causes_of.get(id(fault), ()) if not self._reaches(fault, e.cause, causes_of)]
            if not others:
                roots.append(fault)
        return roots

    @staticmethod
    def _reaches(start: Fault, goal: Fault, causes_of: dict[int, list[Edge]]) -> bool:
        """Does ``start`` in turn (through any steps) explain ``goal``? Then the two stand in a circle."""
        waiting, been = [goal], set()
        while waiting:
            at = waiting.pop()
            if at is start:
                return True
            if id(at) not in been:
                been.add(id(at))
                waiting += [e.cause for e in causes_of.get(id(at), ())]
        return False
