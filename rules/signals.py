"""Hits become signals: what a line means, where it stands, which node, rank and device it speaks of, and when.

Equal signals are folded, with first, last and count, as they come: a line a second for a week is one signal, not
600,000. A pause of more than ``PAUSE`` seconds begins a new one, so that yesterday's fault and today's stay apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from rules import patterns
from rules.facts import Topology, pci_address, short_name
from rules.pack import Signature
from rules.scan import Hit
from rules.schema import Layer, RuleModel
from telemetry.bundle import Stream
from telemetry.formats.prefix import Prefix, Stamp, parse_prefix
from telemetry.job import JobContext

PAUSE: Final = 900.0
# Beyond this many full looks at one signature in one stream, further lines are only counted: by then the nodes,
# ranks and devices that it speaks of are known, and a hostile log cannot make the engine slow.
FULL_LOOKS: Final = 20_000
# Context is shown, never weighed: a corrected error a minute needs no thousand looks.
CONTEXT_LOOKS: Final = 40
NEIGHBOURS: Final = 60
_TEXT_KEPT: Final = 2000


class Interval(NamedTuple):
    """Seconds since the epoch, UTC: the true time is not before ``lo`` and not after ``hi``."""

    lo: float
    hi: float

    def widened(self, by: float) -> Interval:
        return Interval(self.lo - by, self.hi + by)


@dataclass(slots=True, eq=False)
class Signal:
    signature: Signature
    stream: str
    source: str
    offset: int
    text: str
    node: str | None
    rank: int | None
    device: str | None
    link: str | None
    peer: str | None
    fields: dict[str, str]
    stamp: Stamp | None
    before: Stamp | None = None
    after: Stamp | None = None
    count: int = 1
    last_stamp: Stamp | None = None
    time: Interval | None = None
    last: Interval | None = None
    logged: float | None = None
    own_clock: bool = True
    cut: bool = False  # the log breaks off in its line

    @property
    def rule(self) -> RuleModel:
        return self.signature.rule

    @property
    def layer(self) -> Layer:
        return self.signature.rule.layer


def matches(conditions: dict[str, tuple[str, ...]], fields: dict[str, str], job: JobContext | None = None) -> bool:
    """All named fields hold; each list is any-of."""
    return all(
        name in fields and any(_holds(fields[name], c, job) for c in any_of) for name, any_of in conditions.items()
    )


def _number(text: str) -> float | None:
    try:
        return float(int(text, 16)) if text.lower().startswith("0x") else float(text)
    except ValueError:
        return None


def _of_job(value: str, word: str, job: JobContext | None) -> bool:
    """``@job.id`` and ``@job.nodes``: is this the job's own id, or one of its nodes?"""
    if job is None:
        return True  # examples of a rule are tried without a job
    if word == "id":
        return job.id is None or value.split("_")[0].split("+")[0] == job.id.split("_")[0].split("+")[0]
    return not job.nodes or short_name(value) in {short_name(node) for node in job.nodes}


def _holds(value: str, condition: str, job: JobContext | None = None) -> bool:
    if condition.startswith(("@job.", "!@job.")):
        negated, word = condition.startswith("!"), condition.rsplit(".", 1)[1]
        return job is None or _of_job(value, word, job) != negated
    if condition.startswith("~"):
        return patterns.compiled(condition[1:]).search(value.encode()) is not None
    for sign in ("<=", ">=", "!=", "<", ">"):
        if condition.startswith(sign):
            wanted = condition[len(sign) :].strip()
            left, right = _number(value), _number(wanted)
            if left is None or right is None:
                return sign == "!=" and value != wanted
            return {
                "<=": left <= right,
                ">=": left >= right,
                "!=": left != right,
                "<": left < right,
                ">": left > right,
            }[sign]
    if value == condition:
        return True
    left, right = _number(value), _number(condition)
    return left is not None and left == right


def read_fields(
    signature: Signature,
    text: bytes,
    above: Callable[[str], dict[str, str]] | None = None,
    job: JobContext | None = None,
) -> dict[str, str] | None:
    """The fields of one line, or None when the line is not this signature's after all.

    ``above`` finds the nearest earlier line that a signature's ``header`` matches, and gives its fields.
    """
    model = signature.model
    found = patterns.compiled(model.pattern).search(text)
    if found is None or (model.unless and patterns.compiled(model.unless).search(text)):
        return None
    if model.only and not patterns.compiled(model.only).search(text):
        return None
    fields = patterns.groups_of(found)
    for extract in model.extract:
        more = patterns.compiled(extract).search(text)
        if more:
            fields = {**patterns.groups_of(more), **fields}
    if model.header and above is not None:
        fields = {**above(model.header), **fields}
    for name, decode in model.decode.items():
        number = _number(fields.get(decode.field, ""))
        if number is not None:
            high, low = max(decode.bits), min(decode.bits)
            fields[name] = str(int(number) >> low & ((1 << (high - low + 1)) - 1))
    return fields if matches(model.when, fields, job) else None


@dataclass(slots=True)
class _Place:
    node: str | None
    rank: int | None
    device: str | None
    link: str | None
    peer: str | None


def _stem(path: str) -> str:
    return path.rsplit("/", 1)[-1].rsplit(".", 1)[0]


def _first(fields: dict[str, str], *names: str | None) -> str | None:
    return next((fields[n] for n in names if n and n in fields and fields[n] not in ("", "-")), None)


def _place(signature: Signature, fields: dict[str, str], prefix: Prefix, stream: Stream, where: Topology) -> _Place:
    named = signature.model.place
    device = _first(fields, named.device, "pci", "gpu", "device", "hca")
    if device is not None:
        device = pci_address(device) or device
    rank_text = _first(fields, named.rank, "rank")
    rank = int(rank_text) if rank_text and rank_text.isdigit() else prefix.rank
    if "(?P<node>" in (signature.model.header or "") and "node" not in fields:
        # Whose line it is stood above it, and that part of the log is gone.
        return _Place(None, rank, device, _first(fields, named.link, "link"), _first(fields, named.peer, "peer"))
    host = _first(fields, named.node, "node") or where.pod_node(
        _first(fields, "pod") or prefix.container or _stem(stream.path)
    )
    if host is None and stream.source in ("syslog", "fabric"):
        # A stream of one node is that node's, whatever name a shipper wrote into its lines.
        host = stream.node or prefix.host
    host = host or where.job_node(prefix.host) or where.rank_node(rank) or where.rank_node(prefix.task)
    host = host or prefix.host or stream.node
    if host is None and len(where.job.nodes) == 1:
        host = where.job.nodes[0]
    node = where.node(host)
    if rank is None:
        rank = where.rank_on(node, device)
    return _Place(node, rank, device, _first(fields, named.link, "link"), _first(fields, named.peer, "peer"))


@dataclass(slots=True)
class Collector:
    """Gathers the signals of a bundle, stream by stream."""

    topology: Topology
    near: float | None
    signals: list[Signal] = field(default_factory=list)
    _open: dict[tuple[object, ...], Signal] = field(default_factory=dict)
    _looks: dict[tuple[int, str], int] = field(default_factory=dict)
    _newest: dict[tuple[int, str], Signal] = field(default_factory=dict)

    def prefix(self, text: bytes) -> Prefix:
        """Who says the line, and when; stamps without year or date are put next to the job's end."""
        return parse_prefix(text, near=self.near, hosts=self.topology.job.nodes)

    def take(self, hit: Hit, signatures: list[Signature], stream: Stream) -> None:
        """One hit line of a plain text stream."""
        counted = self._only_count(hit, signatures, stream)
        if len(counted) == len(signatures):
            return
        prefix = self.prefix(hit.text)
        around: tuple[Stamp | None, Stamp | None] | None = None
        for signature, fields in self._meant(signatures, hit.text, lambda header: _header_above(hit, header)):
            if hit.cut:
                # A value that reaches to where the log is cut may be the half of one.
                fields = {k: v for k, v in fields.items() if not hit.text.endswith(v.encode())}
            place = _place(signature, fields, prefix, stream, self.topology)
            if prefix.time is None and around is None:
                around = self._neighbours(hit)
            self._fold(signature, fields, place, stream, hit.offset, hit.text, prefix.time, around, hit.cut)

    def take_record(
        self,
        text: str,
        signatures: list[Signature],
        stream: Stream,
        offset: int,
        stamp: Stamp | None,
        node: str | None,
    ) -> None:
        """One record of a structured stream (sacct, Kubernetes, Prometheus) in its canonical words."""
        raw = text.encode()
        prefix = Prefix(time=stamp, host=node)
        for signature, fields in self._meant(signatures, raw, None):
            place = _place(signature, fields, prefix, stream, self.topology)
            self._fold(signature, fields, place, stream, offset, raw, stamp, None)

    def _only_count(self, hit: Hit, signatures: list[Signature], stream: Stream) -> list[Signature]:
        counted = []
        for signature in signatures:
            key = (signature.number, stream.path)
            looks = self._looks.get(key, 0) + 1
            self._looks[key] = looks
            newest = self._newest.get(key)
            enough = CONTEXT_LOOKS if signature.rule.standing == "context" else FULL_LOOKS
            if looks > enough and newest is not None:
                newest.count += 1
                counted.append(signature)
        return counted

    def _meant(
        self, signatures: list[Signature], text: bytes, above: Callable[[str], dict[str, str]] | None
    ) -> list[tuple[Signature, dict[str, str]]]:
        job = self.topology.job
        found = [(s, fields) for s in signatures if (fields := read_fields(s, text, above, job)) is not None]
        if any(not s.model.generic for s, _ in found):
            found = [(s, fields) for s, fields in found if not s.model.generic]
        return found

    def _neighbours(self, hit: Hit) -> tuple[Stamp | None, Stamp | None]:
        """The nearest stamped lines above and below a line that has no time of its own."""
        before = after = None
        end = hit.start
        for _ in range(NEIGHBOURS):
            if end <= 0:
                break
            start = hit.data.rfind(b"\n", 0, end - 1) + 1
            before = self.prefix(bytes(hit.data[start : min(end, start + 400)])).time
            if before:
                break
            end = start
        start = hit.end + 1
        for _ in range(NEIGHBOURS):
            end = hit.data.find(b"\n", start)
            if end < 0:
                break
            after = self.prefix(bytes(hit.data[start : min(end, start + 400)])).time
            if after:
                break
            start = end + 1
        return before, after

    def _fold(
        self,
        signature: Signature,
        fields: dict[str, str],
        place: _Place,
        stream: Stream,
        offset: int,
        text: bytes,
        stamp: Stamp | None,
        around: tuple[Stamp | None, Stamp | None] | None,
        cut: bool = False,
    ) -> None:
        decoded = tuple(fields.get(name) for name in (*signature.model.decode, *signature.model.when))
        key = (signature.number, stream.path, place.node, place.rank, place.device, place.link, place.peer, decoded)
        kept = self._open.get(key)
        if kept is not None and _together(kept.last_stamp or kept.stamp, stamp):
            kept.count += 1
            kept.last_stamp = stamp or kept.last_stamp
            return
        before, after = around or (None, None)
        shown = text[:_TEXT_KEPT].decode("utf-8", "replace")
        signal = Signal(
            signature, stream.path, stream.source, offset, shown, place.node, place.rank, place.device,
            place.link, place.peer, fields, stamp, before, after, last_stamp=stamp, cut=cut,
        )  # fmt: skip
        self._open[key] = signal
        self._newest[(signature.number, stream.path)] = signal
        self.signals.append(signal)


def _header_above(hit: Hit, header: str) -> dict[str, str]:
    """Fields of the nearest earlier line that says whose the following lines are (``Errors for 0x.. "spine-2"``)."""
    pattern = patterns.compiled(header)
    end = hit.start
    floor = max(0, end - 64 * 1024)
    for _ in range(200):
        if end <= floor:
            break
        start = max(hit.data.rfind(b"\n", 0, end - 1) + 1, floor)
        found = pattern.search(bytes(hit.data[start : min(end, start + 2000)]))
        if found:
            return patterns.groups_of(found)
        end = start
    return {}


def _together(earlier: Stamp | None, later: Stamp | None) -> bool:
    if earlier is None or later is None or earlier.zone != later.zone:
        return True
    return later.seconds - earlier.seconds <= PAUSE
