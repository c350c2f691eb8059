"""Which logs there are for a job: the patterns of one source, filled in and looked up."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from connectors.errors import Cancelled, ConnectorError
from connectors.files.allowed import AllowedRoots
from connectors.files.copying import Log
from connectors.files.placeholders import values_of
from connectors.files.search import FileSearch, Found, in_order
from connectors.files.settings import LogPattern
from connectors.meter import Meter
from telemetry.coverage import Coverage
from telemetry.job import JobContext

_PACKED = (".gz", ".xz", ".zst", ".bz2")
_NAMED = 8  # missing ranks that a sentence lists


@dataclass(frozen=True, slots=True)
class Target:
    """A log that exists; `cut` when only the job's time of it is wanted."""

    log: Log
    cut: bool


@dataclass(slots=True)
class Targets:
    """Logs to copy, and reports on what was not there or could not be looked for."""

    targets: list[Target] = field(default_factory=list)
    shortfalls: list[Coverage] = field(default_factory=list)


@dataclass(slots=True)
class _Search:
    """What the patterns of a source gave so far."""

    groups: list[tuple[LogPattern, str | None, str, tuple[str, ...]]] = field(default_factory=list)
    with_node: set[str] = field(default_factory=set)
    failed: dict[str, ConnectorError] = field(default_factory=dict)
    """By node, or by path where there is no node."""


def targets_of(
    source: str, patterns: Sequence[LogPattern], job: JobContext, roots: AllowedRoots, meter: Meter
) -> Targets:
    """Look the files up. Raises Cancelled and TimedOut; anything else becomes a report and the rest goes on."""
    result = Targets()
    search = _Search()
    files = FileSearch(roots)
    per_node = False
    values = values_of(job)
    for pattern in patterns:
        names = pattern.template.names
        lacking = sorted(names - values.keys() - {"node", "rank"})
        if lacking or ("node" in names and not job.nodes):
            what = f"{{{lacking[0]}}}" if lacking else "nodes"
            detail = f"The job's {what} is not known, so {pattern.path} cannot be looked up."
            result.shortfalls.append(
                Coverage(source, "failed", "unsupported", detail, target=pattern.path, request=pattern.path)
            )
            continue
        per_node = per_node or "node" in names
        missing_ranks: list[int] = []
        for node, filled in _fillings(pattern, values, job):
            meter.check(pattern.path)
            found = _look_up(pattern, node, filled, files, search)
            if not found and "rank" in filled:
                missing_ranks.append(int(filled["rank"]))
            for name, paths in in_order([each.path for each in found]):
                search.groups.append((pattern, node, name, paths))
            if found and node:
                search.with_node.add(node)
        if missing_ranks:
            result.shortfalls.append(_missing_ranks(source, pattern, missing_ranks))
    result.targets = _named(source, search)
    result.shortfalls += _missing_nodes(source, job, search) if per_node else []
    result.shortfalls += [
        Coverage(
            source, "failed", error.reason, str(error), nodes_missing=(name,) if name in job.nodes else (), target=name
        )
        for name, error in search.failed.items()
    ]
    if files.errors:
        sentences = " ".join(str(error) for error in files.errors[:3])
        where = files.errors[0].where
        result.shortfalls.append(Coverage(source, "partial", files.errors[0].reason, sentences, target=where))
    if not result.targets and not result.shortfalls:
        asked = ", ".join(pattern.path for pattern in patterns)
        detail = "No file of this job is there."
        result.shortfalls.append(Coverage(source, "empty", "not_found", detail, request=asked))
    return result


def _fillings(
    pattern: LogPattern, values: dict[str, str], job: JobContext
) -> Iterator[tuple[str | None, dict[str, str]]]:
    """(node, values) for each file that the pattern should lead to; ranks only where their number is known."""
    names = pattern.template.names
    if "node" in names:
        for node in job.nodes:
            yield node, {**values, "node": node}
    elif "rank" in names and job.ranks_per_node and job.nodes:
        for rank in range(job.ranks_per_node * len(job.nodes)):
            yield None, {**values, "rank": str(rank)}
    else:
        yield None, values


def _look_up(
    pattern: LogPattern, node: str | None, filled: dict[str, str], files: FileSearch, search: _Search
) -> list[Found]:
    try:
        return files.find(pattern.template, filled, pattern.is_rotated)
    except Cancelled:
        raise
    except ConnectorError as error:
        search.failed.setdefault(node or pattern.path, error)
        return []


def _named(source: str, search: _Search) -> list[Target]:
    """Streams get the shortest names that tell them apart: the node, or the end of the path."""
    taken: Counter[str] = Counter()
    plain = {name: _plain_name(name, 1) for _, node, name, _ in search.groups if not node}
    depth = 1
    while len(set(plain.values())) < len(plain) and depth < 6:
        depth += 1
        plain = {name: _plain_name(name, depth) for name in plain}
    targets = []
    seen: set[tuple[str, ...]] = set()
    for pattern, node, name, paths in search.groups:
        if paths in seen:  # two patterns that meet in one file
            continue
        seen.add(paths)
        if node is None:
            stream = plain[name]
        elif source in {"syslog", "fabric"} and not taken[f"{node}.log"]:
            stream = f"{node}.log"
        else:
            base = _plain_name(name, 1)
            stream = base if node in base else f"{node}.{base}"
        taken[stream] += 1
        if taken[stream] > 1:
            root, ending = os.path.splitext(stream)
            stream = f"{root}.{taken[stream]}{ending}"
        targets.append(Target(Log(source, stream, paths, node), pattern.is_cut))
    return targets


def _plain_name(path: str, depth: int) -> str:
    name = "_".join(path.split("/")[-depth:])
    for ending in _PACKED:
        name = name.removesuffix(ending)
    return name


def _missing_nodes(source: str, job: JobContext, search: _Search) -> list[Coverage]:
    missing = tuple(node for node in job.nodes if node not in search.with_node and node not in search.failed)
    if not missing:
        return []
    detail = f"There is no file of {len(missing)} of the job's {len(job.nodes)} nodes."
    status = "partial" if search.with_node else "empty"
    return [Coverage(source, status, "nodes_missing", detail, nodes_missing=missing)]  # type: ignore[arg-type]


def _missing_ranks(source: str, pattern: LogPattern, ranks: list[int]) -> Coverage:
    listed = ", ".join(str(rank) for rank in ranks[:_NAMED]) + (" ..." if len(ranks) > _NAMED else "")
    detail = f"There is no file of {len(ranks)} rank{'s' if len(ranks) > 1 else ''}: {listed}."
    return Coverage(source, "partial", "not_found", detail, target=pattern.path, request=pattern.path)
