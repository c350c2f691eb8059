"""Everything the engine saw in a bundle: signals with their times, who sat where, and the signals made from others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from rules import collectives, facts, patterns
from rules.clocks import StreamClock, reference, set_times
from rules.collectives import Watchdogs
from rules.facts import Topology
from rules.pack import Pack, Signature
from rules.progress import Progress, last_progress
from rules.scan import Database, Hit, database_for
from rules.schema import KIND_OF_SOURCE
from rules.signals import Collector, Interval, Signal, matches
from telemetry.bundle import Bundle, Stream
from telemetry.formats.prefix import Stamp
from telemetry.formats.records import Record, records

OWN_PATTERNS: Final = {**facts.PATTERNS, **collectives.PATTERNS}
# A job whose last step was counted this shortly before its end was still at work.
AT_WORK: Final = 600.0
AT_WORK_SHARE: Final = 0.1


@dataclass(slots=True)
class Observation:
    signals: list[Signal]
    topology: Topology
    clocks: dict[str, StreamClock]
    progress: Progress | None
    terminal_state: str
    cancelled_by: str


class Scanner:
    """The databases of one pack: one for each kind of stream, the pack's patterns first, the engine's own after."""

    def __init__(self, pack: Pack) -> None:
        self.pack = pack
        self._databases: dict[str, tuple[Database, tuple[Signature, ...], tuple[str, ...]]] = {}

    def patterns_of(self, kind: str) -> tuple[str, ...]:
        """What is looked for in a kind of stream, as the scan takes it (no group names)."""
        return self._for(kind)[0].expressions

    def _for(self, kind: str) -> tuple[Database, tuple[Signature, ...], tuple[str, ...]]:
        if kind not in self._databases:
            signatures = self.pack.scanned(kind)
            own = tuple(name for name, (of, _) in OWN_PATTERNS.items() if of == kind)
            texts = [s.model.pattern for s in signatures] + [OWN_PATTERNS[name][1] for name in own]
            self._databases[kind] = (database_for(texts), signatures, own)
        return self._databases[kind]

    def read(self, stream: Stream, collector: Collector, watchdogs: Watchdogs) -> None:
        kind = KIND_OF_SOURCE[stream.source]
        database, signatures, own = self._for(kind)
        structured = records(stream)
        if structured is not None:
            for record in structured:
                self._record(record, stream, database, signatures, collector)
            return
        for hit in database.hits(stream):
            for number in hit.numbers:
                if number >= len(signatures):
                    _learn(own[number - len(signatures)], hit, stream, collector, watchdogs)
            meant = [signatures[n] for n in sorted(hit.numbers) if n < len(signatures)]
            if meant:
                collector.take(hit, meant, stream)

    @staticmethod
    def _record(
        record: Record, stream: Stream, database: Database, signatures: tuple[Signature, ...], collector: Collector
    ) -> None:
        pod = record.fields.get("pod") or (record.fields.get("name") if record.text.startswith("pod ") else None)
        if pod and record.node:
            collector.topology.node_of_pod.setdefault(pod, record.node)
        numbers = [n for n in database.hits_in(record.text.encode()) if n < len(signatures)]
        if not numbers:
            return
        zone: Literal["local", "utc"] = "local" if record.local else "utc"
        stamp = Stamp(record.time, record.precision, zone, True) if record.time is not None else None
        meant = [signatures[n] for n in numbers]
        collector.take_record(record.text, meant, stream, record.line, record.offset, stamp, record.node)


def _learn(name: str, hit: Hit, stream: Stream, collector: Collector, watchdogs: Watchdogs) -> None:
    if name == "nccl_init":
        got = patterns.named_groups(facts.NCCL_FIELDS, hit.text)
        if got:
            device = int(got["device"]) if got.get("device") else None
            collector.topology.learn_nccl(got["host"], int(got["rank"]), got["bus"], device)
    else:
        rank = collector.prefix(hit.text).rank
        watchdogs.learn(name, hit.text.decode("utf-8", "replace"), rank, stream.path, hit.line, hit.offset)


def observe(bundle: Bundle, pack: Pack, scanner: Scanner) -> Observation:
    """Scan every stream (scheduler first: it tells who sat where), give times, and add the derived signals."""
    topology = Topology(bundle.job)
    collector = Collector(topology, reference(bundle.job))
    watchdogs = Watchdogs()
    rank = {"scheduler": 0, "applog": 1}
    for stream in sorted(bundle.streams, key=lambda s: (rank.get(s.source, 2), s.path)):
        scanner.read(stream, collector, watchdogs)
    _number_gpus(collector.signals, topology)
    clocks = set_times(collector.signals, bundle.job)
    progress = last_progress(bundle, clocks, collector.prefix)
    state, by = _ending(bundle, collector.signals)
    made = _Maker(bundle, pack, topology, collector.signals)
    made.collectives(watchdogs)
    made.ending(state, by)
    made.progress(progress)
    return Observation(collector.signals, topology, clocks, progress, state, by)


def _number_gpus(signals: list[Signal], topology: Topology) -> None:
    """Eight PCI addresses of one node seen in kernel lines: their order is nvidia-smi's numbering."""
    by_node: dict[str, set[str]] = {}
    for signal in signals:
        if signal.node and signal.device and signal.layer in ("gpu", "fabric") and facts.pci_address(signal.device):
            by_node.setdefault(signal.node, set()).add(signal.device)
    for node, addresses in by_node.items():
        known = {address for (at, address) in topology.gpu_number if at == node}
        if not known and len(addresses) == 8:
            topology.numbers_by_order(node, sorted(addresses))
    for signal in signals:
        if signal.rank is None:
            signal.rank = topology.rank_on(signal.node, signal.device)


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


def _ending(bundle: Bundle, signals: list[Signal]) -> tuple[str, str]:
    """The job's terminal state, and for a cancelled one who did it as far as accounting tells."""
    state = terminal_state(bundle.job.state)
    by = "unknown"
    for stream in bundle.streams:
        if stream.source != "scheduler":
            continue
        for record in records(stream) or ():
            if record.text.startswith("sacct ") and record.fields.get("step") == "-":
                who = record.fields.get("by", "-")
                if who != "-":
                    by = "admin" if who in ("0", "root") else "own_user"
                if state == "unknown":
                    state = terminal_state(record.fields.get("state"))
    return state, by


class _Maker:
    """Adds the signals that no single line shows, for each rule that asks for them."""

    def __init__(self, bundle: Bundle, pack: Pack, topology: Topology, signals: list[Signal]) -> None:
        self.bundle, self.pack, self.topology, self.signals = bundle, pack, topology, signals

    def _add(
        self,
        name: str,
        fields: dict[str, str],
        at: tuple[str, int, int, str],
        time: Interval | None,
        node: str | None = None,
        rank: int | None = None,
    ) -> None:
        stream, line, offset, text = at
        source = stream.split("/", 1)[0]
        for signature in self.pack.derived(name):
            if matches(signature.model.when, fields, self.bundle.job):
                signal = Signal(
                    signature, stream, source, line, offset, text, node, rank, None, None, None, fields, None,
                    last_line=line,
                )  # fmt: skip
                signal.time = signal.last = time
                self.signals.append(signal)

    def collectives(self, watchdogs: Watchdogs) -> None:
        world = None
        job = self.bundle.job
        if job.ranks_per_node and job.nodes:
            world = job.ranks_per_node * len(job.nodes)
        times = {(s.stream, s.line): s.time for s in self.signals if s.time}
        for finding in watchdogs.findings(self.topology, world):
            at = finding.at
            only = finding.fields.get("rank")
            rank = int(only) if only else None
            node = self.topology.rank_node(rank)
            self._add(
                finding.name, finding.fields, (at.stream, at.line, at.offset, at.text),
                times.get((at.stream, at.line)), node, rank,
            )  # fmt: skip

    def _end(self) -> Interval | None:
        ended = self.bundle.job.ended
        return Interval(ended.timestamp(), ended.timestamp() + 1.0) if ended else None

    def _said_state(self) -> tuple[str, int, int, str]:
        """The scheduler record that tells the job's end, or the job context itself."""
        for stream in self.bundle.streams:
            if stream.source == "scheduler":
                for record in records(stream) or ():
                    if record.text.startswith("sacct "):
                        return stream.path, record.line, record.offset, record.text
        return "scheduler/job", 1, 0, f"job state={self.bundle.job.state or 'unknown'}"

    def ending(self, state: str, by: str) -> None:
        fields = {"state": state, "by": by, "exit": self.bundle.job.exit_code or "-"}
        self._add("job_state", fields, self._said_state(), self._end())

    def progress(self, progress: Progress | None) -> None:
        if progress is None:
            return
        silent = progress.silent
        fields = {"silent": "-" if silent is None else f"{max(silent, 0):.0f}", "text": progress.text}
        at = (progress.stream, progress.line, progress.offset, progress.text)
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
        # No clock in the output: then nothing but the ending itself may follow the last step.
        return progress.lines_after <= 25
    lasted = (job.ended - job.started).total_seconds() if job.ended and job.started else 0.0
    return progress.silent <= max(AT_WORK, AT_WORK_SHARE * lasted)
