"""Answers that stand only because a clock says so.

A fault that was set aside for its time alone (before the job, after its end, later than the answer) and that, by its
rule, causes the very thing on which the answer rests, at the same place, leaves two readings: the two have nothing to
do with each other, or one of their clocks is wrong. Where both were stamped by one clock there is no doubt.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from rules.explanations import USUAL
from rules.faults import Fault, Index
from rules.pack import Pack

# Clocks are off by drift (seconds to minutes), by a zone (hours), by a day at most; further apart is another story.
DOUBTED: Final = 90_000.0
_HOSTS: Final = ("syslog", "fabric")


def one_clock(a: Fault, b: Fault) -> bool:
    """Were both faults stamped by the same clock, so that their order is beyond doubt?"""
    first, second = a.first, b.first
    if first.stream == second.stream:
        return True
    same_node = first.node is not None and first.node == second.node
    return same_node and first.source in _HOSTS and second.source in _HOSTS


def doubted_by(winners: list[Fault], aside: Iterable[Fault], pack: Pack) -> list[Fault]:
    """Of the faults that only their time set aside, those that would explain a winner if a clock were wrong."""
    causes = {w.rule.cause for w in winners}
    index = Index(winners, pack)
    return [
        fault
        for fault in aside
        if fault.rule.cause not in causes
        and fault.scope != "elsewhere"
        and any(_close(fault, w) and not one_clock(fault, w) for w in _explained(fault, index))
    ]


def _explained(fault: Fault, index: Index) -> Iterator[Fault]:
    """Winners that the fault's rule names as its effects on its own node, whatever the times."""
    usual = [USUAL] if fault.rule.fatal else []
    for explains in [*fault.rule.explains, *usual]:
        for name in explains.effects:
            for effect in index.reached(fault, name, explains.where):
                if fault.nodes & effect.nodes:
                    yield effect


def _close(a: Fault, b: Fault) -> bool:
    if a.first.time is None or b.first.time is None:
        return True
    return max(a.first.time.lo - b.first.time.hi, b.first.time.lo - a.first.time.hi) <= DOUBTED
