"""Collective forensics: from what each rank's watchdog said, which ranks disagree and which rank never spoke.

c10d's watchdog prints, for each rank that timed out, the sequence number of the collective, its operation and its
sizes (torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp, PyTorch 1.13 to 2.9). Ranks of one process group that wait
in the same sequence number must be in the same operation with the same sizes; a rank that is missing among them is
the one the others waited for.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from rules.facts import Topology

# What the scan looks for, and how the fields are then read from the line (both bounded, linear).
WORK: Final = r"WorkNCCL\(SeqNum=\d{1,20}, OpType=[A-Z_]{2,40}, NumelIn="
FAILED_AT: Final = r"detected by watchdog at work(?: sequence id)?: \d{1,20}[, ]"
PATTERNS: Final = {"c10d_work": ("applog", WORK), "c10d_failed_at": ("applog", FAILED_AT)}

_WORK = re.compile(r"WorkNCCL\(SeqNum=(\d+), OpType=([A-Z_]+), NumelIn=(\d+), NumelOut=(\d+), Timeout\(ms\)=(\d+)\)")
_FAILED_AT = re.compile(r"detected by watchdog at work(?: sequence id)?: (\d+)")
_COMPLETED = re.compile(r"last completed (?:NCCL )?work: (\d+)")
_RANK = re.compile(r"Rank (\d+)\]")
_GROUP = re.compile(r"PG (?:ID )?(\d+)(?: PG GUID ([^ ()]{1,60}))?")
# Operations whose sizes may differ between ranks by design.
_UNEQUAL: Final = frozenset(("GATHER", "SCATTER", "ALLTOALL", "ALLTOALL_BASE", "SEND", "RECV", "COALESCED", "UNKNOWN"))
_SYMMETRIC: Final = frozenset(("ALLREDUCE", "ALLGATHER", "_ALLGATHER_BASE", "_REDUCE_SCATTER_BASE", "REDUCE_SCATTER"))
_ENOUGH: Final = 50_000


class Wait(NamedTuple):
    """One rank's word on the collective in which it waited in vain, and the line that says so."""

    rank: int
    group: str | None
    sequence: int
    operation: str
    numel_in: int
    numel_out: int
    stream: str
    offset: int
    text: str


class Finding(NamedTuple):
    """A derived signal: its name, its fields, and the wait whose line stands for it."""

    name: str
    fields: dict[str, str]
    at: Wait


@dataclass(slots=True)
class Watchdogs:
    waits: dict[tuple[int, int], Wait] = field(default_factory=dict)
    groups: dict[tuple[int, int], str] = field(default_factory=dict)
    completed: dict[tuple[str, int], int] = field(default_factory=dict)

    def learn(self, name: str, text: str, rank: int | None, stream: str, offset: int) -> None:
        said = _RANK.search(text)
        rank = int(said[1]) if said else rank
        if rank is None or len(self.waits) > _ENOUGH:
            return
        group = _GROUP.search(text)
        if name == "c10d_failed_at":
            found = _FAILED_AT.search(text)
            if found and group:
                self.groups.setdefault((rank, int(found[1])), group[2] or group[1])
                done = _COMPLETED.search(text)
                if done:
                    self.completed.setdefault((group[2] or group[1], rank), int(done[1]))
            return
        work = _WORK.search(text)
        if work:
            sequence = int(work[1])
            known = (group[2] or group[1]) if group else None
            wait = Wait(rank, known, sequence, work[2], int(work[3]), int(work[4]), stream, offset, text)
            self.waits.setdefault((rank, sequence), wait)

    def _by_group(self) -> dict[str, list[Wait]]:
        by_group: dict[str, list[Wait]] = defaultdict(list)
        for (rank, sequence), wait in sorted(self.waits.items()):
            by_group[wait.group or self.groups.get((rank, sequence)) or "-"].append(wait)
        return by_group

    def findings(self, topology: Topology, world: int | None) -> list[Finding]:
        found: list[Finding] = []
        for group, waits in sorted(self._by_group().items()):
            found += _mismatches(group, waits) or self._overtaken(group, waits)
            found += _absent(group, waits, world)
        return found

    def _overtaken(self, group: str, waits: list[Wait]) -> list[Finding]:
        """A rank still waits in a symmetric operation that another completed, and one more after it.

        The other cannot have completed the next one with a partner that never left this, so the two ranks' numbers do
        not mean the same collectives. One step apart proves nothing: a broken link can do that.
        """
        for wait in sorted(waits, key=lambda w: (w.sequence, w.rank)):
            ahead = [rank for (of, rank), done in self.completed.items() if of == group and done >= wait.sequence + 2]
            if ahead and wait.operation in _SYMMETRIC:
                fields = {
                    "seq": str(wait.sequence),
                    "group": group,
                    "ranks": _listed(sorted({wait.rank, *ahead})),
                    "operations": wait.operation,
                    "sure": "yes" if group != "-" else "no",
                }
                return [Finding("collective_mismatch", fields, wait)]
        return []


def _shape(wait: Wait) -> tuple[str, int, int]:
    if wait.operation in _UNEQUAL:
        return (wait.operation, 0, 0)
    return (wait.operation, wait.numel_in, wait.numel_out)


def _mismatches(group: str, waits: list[Wait]) -> list[Finding]:
    """Ranks of one group in the same sequence number, but in different operations or sizes."""
    at_sequence: dict[int, list[Wait]] = defaultdict(list)
    for wait in waits:
        at_sequence[wait.sequence].append(wait)
    for sequence, members in sorted(at_sequence.items()):
        shapes = sorted({_shape(w) for w in members})
        if len(shapes) > 1:
            fields = {
                "seq": str(sequence),
                "group": group,
                "ranks": _listed(sorted(w.rank for w in members)),
                "operations": " / ".join(f"{op} {size_in}" for op, size_in, _ in shapes[:4]),
                "sure": "yes" if group != "-" else "no",
            }
            return [Finding("collective_mismatch", fields, members[0])]
    return []


def _absent(group: str, waits: list[Wait], world: int | None) -> list[Finding]:
    """Ranks of the whole world that never reported the time-out that the others share.

    Only for the default group (its members are all ranks); of other groups the members are not known here.
    """
    if world is None or world < 2 or group not in ("-", "0", "default_pg"):
        return []
    first = min(w.sequence for w in waits)
    here = {w.rank for w in waits if w.sequence == first}
    absent = sorted(set(range(world)) - {w.rank for w in waits})
    if not absent or len(here) < max(2, world // 2) or len(absent) > max(1, world // 4):
        return []
    fields = {
        "seq": str(first),
        "group": group,
        "absent": _listed(absent),
        "waiting": str(len(here)),
        "world": str(world),
    }
    if len(absent) == 1:
        fields["rank"] = str(absent[0])
    return [Finding("collective_absent_rank", fields, next(w for w in waits if w.sequence == first))]


def _listed(ranks: list[int]) -> str:
    """``0-3,7``: ranks as a person would write them."""
    parts: list[str] = []
    start = previous = ranks[0]
    for rank in [*ranks[1:], -1]:
        if rank == previous + 1:
            previous = rank
            continue
        parts.append(str(start) if start == previous else f"{start}-{previous}")
        start = previous = rank
    return ",".join(parts)
