"""What a verdict says of the beginning: a first fault at a time or within an interval, or candidates for it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from investigations.reading import times

VAGUE = 30.0  # seconds; a time less sure than this is told as its interval


@dataclass(frozen=True, slots=True)
class Beginning:
    """`kind`: known (at `start`), within (`start` to `end`), untimed, candidates (no one is the first fault), none.

    `evidence` names the line of the first fault, or every line on which a candidate rests. Seconds since 1970 UTC.
    """

    kind: str
    evidence: tuple[str, ...] = ()
    start: float | None = None
    end: float | None = None

    @property
    def fault(self) -> bool:
        return self.kind in ("known", "within", "untimed")


def beginning(verdict: Mapping[str, Any]) -> Beginning:
    """A fault only where the outcome is `attributed`: what ended a job without a failure is none."""
    causes = [item for item in verdict["evidence"] if item["role"] == "cause"]
    if verdict["outcome"] == "ambiguous":
        cited = {name for item in verdict["alternatives"] for name in item["evidence"]}
        return Beginning("candidates", tuple(item["id"] for item in causes if item["id"] in cited))
    if verdict["outcome"] != "attributed" or not causes:
        return Beginning("none")
    first = times.seconds(verdict["first_fault_at"])
    if first is None:
        item = causes[0]
        interval = interval_of(item)
        return Beginning("within", (item["id"],), *interval) if interval else Beginning("untimed", (item["id"],))
    item = min(causes, key=lambda item: abs((times.seconds(item["time"]) or 0.0) - first))
    error = verdict["first_fault_error"] or 0.0
    return Beginning("within" if error > VAGUE else "known", (item["id"],), first, first + error)


def interval_of(item: Mapping[str, Any]) -> tuple[float, float] | None:
    """Between which two times a piece of evidence lies. A stamp of a whole second reaches to its right alone."""
    at = times.seconds(item["time"])
    if at is None:
        return None
    error = max(item["time_error"] or 0.0, 0.0)
    return at - (0.0 if error == 1.0 else error), at + error
