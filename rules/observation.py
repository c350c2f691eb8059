"""Everything the engine saw in a bundle: signals with their times, who sat where, and the signals made from others."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Final, Literal

from rules import collectives, facts, patterns
from rules.clocks import StreamClock, reference, set_times
from rules.collectives import Watchdogs
from rules.derived import Accounting, Derived
from rules.facts import Topology
from rules.pack import Pack, Signature
from rules.progress import Progress, Tail, last_progress
from rules.scan import Database, Hit, database_for
from rules.schema import KIND_OF_SOURCE
from rules.signals import Collector, Signal
from rules.spans import Covered, Span, breaks_off, covered, widen, wrong_clocks
from telemetry.bundle import Bundle, Stream
from telemetry.formats.prefix import Stamp
from telemetry.formats.records import Record, records

OWN_PATTERNS: Final = {**facts.PATTERNS, **collectives.PATTERNS}


@dataclass(slots=True)
class Observation:
    signals: list[Signal]
    topology: Topology
    clocks: dict[str, StreamClock]
    progress: Progress | None
    terminal_state: str
    cancelled_by: str
    spans: dict[str, Covered] = field(default_factory=dict)


@dataclass(slots=True)
class Reading:
    """What is gathered while one bundle's streams are read."""

    collector: Collector
    accounting: Accounting
    watchdogs: Watchdogs = field(default_factory=Watchdogs)
    tails: list[Tail] = field(default_factory=list)
    spans: dict[str, Span] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)


class Scanner:
    """The databases of one pack: one for each kind of stream, the pack's patterns first, the engine's own after."""

    def __init__(self, pack: Pack) -> None:
        self.pack = pack
        self._databases: dict[str, tuple[Database, tuple[Signature, ...], tuple[str, ...]]] = {}

    def patterns_of(self, kind: str) -> tuple[str, ...]:
        """What is looked for in a kind of stream, as the scan takes it (no group names)."""
        return self._for(kind)[0].expressions

    def database(self, kind: str) -> Database:
        return self._for(kind)[0]

    def _for(self, kind: str) -> tuple[Database, tuple[Signature, ...], tuple[str, ...]]:
        if kind not in self._databases:
            signatures = self.pack.scanned(kind)
            own = tuple(name for name, (of, _) in OWN_PATTERNS.items() if of == kind)
            texts = [s.model.pattern for s in signatures] + [OWN_PATTERNS[name][1] for name in own]
            self._databases[kind] = (database_for(texts), signatures, own)
        return self._databases[kind]

    def read(self, stream: Stream, into: Reading) -> None:
        kind = KIND_OF_SOURCE[stream.source]
        database, signatures, own = self._for(kind)
        structured = records(stream)
        if structured is not None:
            for record in structured:
                into.accounting.learn(record, stream.path)
                self._record(record, stream, database, signatures, into.collector)
            return
        tail = Tail(stream.path)
        for block in stream.blocks(count_lines=False, hashing=True):
            for hit in database.hits(block):
                for number in hit.numbers:
                    if number >= len(signatures):
                        _learn(own[number - len(signatures)], hit, stream, into)
                meant = [signatures[n] for n in sorted(hit.numbers) if n < len(signatures)]
                if meant:
                    into.collector.take(hit, meant, stream)
            if kind == "applog":
                tail.keep(block)
            elif stream.source == "syslog":
                if span := widen(into.spans.get(stream.path), block, into.collector):
                    into.spans[stream.path] = span
                elif breaks_off(block):
                    into.broken.add(stream.path)
        if tail.data:
            into.tails.append(tail)

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
        collector.take_record(record.text, meant, stream, record.offset, stamp, record.node)


def _learn(name: str, hit: Hit, stream: Stream, into: Reading) -> None:
    if name == "nccl_init":
        got = patterns.named_groups(facts.NCCL_FIELDS, hit.text)
        if got:
            device = int(got["device"]) if got.get("device") else None
            into.collector.topology.learn_nccl(got["host"], int(got["rank"]), got["bus"], device)
    elif name == "slurmd_launch":
        got = patterns.named_groups(facts.LAUNCHED_JOB, hit.text)
        stamp = into.collector.prefix(hit.text).time
        if got and stamp and got["job"] == into.collector.topology.job.id:
            into.collector.topology.launches.append((stream.path, stamp))
    else:
        rank = into.collector.prefix(hit.text).rank
        into.watchdogs.learn(name, hit.text.decode("utf-8", "replace"), rank, stream.path, hit.offset)


def observe(bundle: Bundle, pack: Pack, scanner: Scanner) -> Observation:
    """Scan every stream (scheduler first: it tells who sat where), give times, and add the derived signals."""
    topology = Topology(bundle.job)
    topology.logged = {
        topology.node(s.node) or s.node for s in bundle.streams if s.source == "syslog" and s.node and s.size
    }
    collector = Collector(topology, reference(bundle.job))
    reading = Reading(collector, Accounting(bundle.job))
    rank = {"scheduler": 0, "applog": 1}
    for stream in sorted(bundle.streams, key=lambda s: (rank.get(s.source, 2), s.path)):
        scanner.read(stream, reading)
    _number_gpus(collector.signals, topology)
    clocks = set_times(collector.signals, topology.launches, bundle.job, partial(wrong_clocks, reading.spans))
    progress = last_progress(reading.tails, bundle.job, clocks, collector.prefix)
    made = Derived(bundle, pack, topology, collector.signals)
    made.collectives(reading.watchdogs)
    made.ending(reading.accounting)
    made.progress(progress)
    spans = covered(reading.spans, bundle.streams, clocks, bundle.job, reading.broken)
    return Observation(
        collector.signals, topology, clocks, progress, reading.accounting.state, reading.accounting.by, spans
    )


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
