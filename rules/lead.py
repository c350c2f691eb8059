"""The lead: how long the first fault came before the first symptom that the job itself printed.

Only a lead that the clocks prove is a number. Outputs without times (NCCL before 2.26 prints none) often hold the
earliest symptom; then the lead is unknown, and the verdict says between which times the line was printed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rules.clocks import iso, order
from rules.faults import Fault
from rules.judgement import Judgement
from rules.signals import Signal

# Layers in which a person first sees that a job is in trouble.
VISIBLE: Final = ("communication", "application")


@dataclass(frozen=True, slots=True)
class Lead:
    """seconds: None when no clock proves it. fault: the first visible symptom; None when the job printed none."""

    seconds: float | None = None
    fault: Fault | None = None

    def between(self) -> tuple[str, str] | None:
        """The times (UTC, to the second) between which an untimed first symptom was printed."""
        if self.fault is None or self.seconds is not None or self.fault.first.time is None:
            return None
        low, high = (iso(float(int(edge))) for edge in self.fault.first.time)
        return (low[11:19], high[11:19]) if low and high else None


def _place(signal: Signal) -> tuple[bool, float, str, int]:
    return (signal.time is None, signal.time.lo if signal.time else 0.0, signal.stream, signal.offset)


def lead_of(judgement: Judgement) -> Lead:
    if not judgement.winners:
        return Lead()
    root = judgement.winners[0]
    printed = [f for f in judgement.symptoms if f.scope == "inside" and f.rule.layer in VISIBLE]
    printed = [f for f in printed if order(f.first, root.first) >= 0]
    timed = sorted((f for f in printed if f.first.own_clock and f.first.time), key=lambda f: _place(f.first))
    untimed = sorted((f for f in printed if f not in timed), key=lambda f: (f.first.stream, f.first.offset))
    maybe_earlier = [f for f in untimed if not timed or order(timed[0].first, f.first) >= 0]
    if maybe_earlier:
        return Lead(None, maybe_earlier[0])
    if not timed or root.first.time is None or timed[0].first.time is None:
        return Lead()
    if order(root.first, timed[0].first) >= 0:
        return Lead(None, timed[0])
    return Lead(round(timed[0].first.time.lo - root.first.time.lo, 6), timed[0])
