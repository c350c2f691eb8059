"""Signals that no single line shows: how the job ended, was it at work, who was missing in a collective."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rules.collectives import Watchdogs
from rules.facts import Topology
from rules.pack import Pack
from rules.progress import Progress
from rules.signals import Interval, Signal, matches
from telemetry.bundle import Bundle
from telemetry.formats.record import Record
from telemetry.job import JobContext

# A job whose last step was counted this shortly before its end was still at work.
AT_WORK: Final = 600.0
AT_WORK_SHARE: Final = 0.1


_STATES: Final = {
    "completed": "completed",
    "complete": "completed",
    "succeeded": "completed",
    "failed": "failed",
    "error": "failed",
    "timeout": "timeout",
    "deadline": "deadline",
    "node_fail": "node_fail",
    "out_of_memory": "out_of_memory",
    "oom": "out_of_memory",
    "cancelled": "cancelled",
    "canceled": "cancelled",
    "preempted": "preempted",
    "evicted": "evicted",
    "boot_fail": "boot_fail",
    "running": "running",
    "pending": "unknown",
}


def terminal_state(state: str | None) -> str:
    """The scheduler's word for a job's end in the taxonomy's words."""
    word = (state or "").strip().lower().split(" ")[0].rstrip("+")
    return _STATES.get(word, "unknown")


@dataclass(slots=True)
class Accounting:
    """What the scheduler's own rows say of the job's end, learnt as they are read."""

    job: JobContext
    state: str = "unknown"
    by: str = "unknown"
    said: tuple[str, int, str] | None = None

    def __post_init__(self) -> None:
        self.state = terminal_state(self.job.state)

    def learn(self, record: Record, stream: str) -> None:
        """One record; rows of steps and of other jobs say nothing about who ended this one."""
        if not record.text.startswith("sacct ") or record.fields.get("step") != "-":
            return
        if (
            self.job.id
            and record.fields.get("job", self.job.id).split("_")[0].split("+")[0] != self.job.id.split("_")[0]
        ):
            return
        who = record.fields.get("by", "-")
        if who != "-":
            self.by = "admin" if who in ("0", "root") else "own_user"
        if self.state == "unknown":
            self.state = terminal_state(record.fields.get("state"))
        self.said = self.said or (stream, record.offset, record.text)


class Derived:
    """Adds the signals that no single line shows, for each rule that asks for them."""

    def __init__(self, bundle: Bundle, pack: Pack, topology: Topology, signals: list[Signal]) -> None:
        self.bundle, self.pack, self.topology, self.signals = bundle, pack, topology, signals

    def _add(
        self,
        name: str,
        fields: dict[str, str],
        at: tuple[str, int, str],
        time: Interval | None,
        node: str | None = None,
        rank: int | None = None,
    ) -> None:
        stream, offset, text = at
        source = stream.split("/", 1)[0]
        for signature in self.pack.derived(name):
            if matches(signature.model.when, fields, self.bundle.job):
                signal = Signal(
                    signature, stream, source, offset, text, node, rank, None, None, None, fields, None,
                )  # fmt: skip
                signal.time = signal.last = time
                self.signals.append(signal)

    def collectives(self, watchdogs: Watchdogs) -> None:
        world = None
        job = self.bundle.job
        if job.ranks_per_node and job.nodes:
            world = job.ranks_per_node * len(job.nodes)
        times = {(s.stream, s.offset): s.time for s in self.signals if s.time}
        for finding in watchdogs.findings(self.topology, world):
            at = finding.at
            only = finding.fields.get("rank")
            rank = int(only) if only else None
            node = self.topology.rank_node(rank)
            self._add(
                finding.name, finding.fields, (at.stream, at.offset, at.text),
                times.get((at.stream, at.offset)), node, rank,
            )  # fmt: skip

    def _end(self) -> Interval | None:
        ended = self.bundle.job.ended
        return Interval(ended.timestamp(), ended.timestamp() + 1.0) if ended else None

    def ending(self, told: Accounting) -> None:
        """The job's state as a signal, standing where the scheduler says it."""
        fields = {"state": told.state, "by": told.by, "exit": self.bundle.job.exit_code or "-"}
        nowhere = ("scheduler/job", 0, f"job state={self.bundle.job.state or 'unknown'}")
        self._add("job_state", fields, told.said or nowhere, self._end())

    def progress(self, progress: Progress | None) -> None:
        if progress is None:
            return
        silent = progress.silent
        fields = {"silent": "-" if silent is None else f"{max(silent, 0):.0f}", "text": progress.text}
        at = (progress.stream, progress.offset, progress.text)
        end = self._end()
        if at_work(self.bundle, progress):
            self._add("progress_until_end", fields, at, end)
        elif silent is not None and end:
            moment = end.lo - silent
            self._add("progress_stopped", fields, at, Interval(moment, moment + 1.0))


def at_work(bundle: Bundle, progress: Progress | None) -> bool:
    """Was the job still counting steps when it ended?"""
    if progress is None:
        return False
    job = bundle.job
    if progress.silent is None:
        return False  # a step without a time may have been counted hours before
    lasted = (job.ended - job.started).total_seconds() if job.ended and job.started else 0.0
    return progress.silent <= max(AT_WORK, AT_WORK_SHARE * lasted)
