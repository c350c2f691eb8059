"""The scan: every stream as bytes, in blocks, through one Hyperscan database per kind of stream.

A line is looked at in Python only when a pattern hit it. Databases are kept serialised under the digest of their
patterns, Hyperscan's version and the CPU's features, in the user's cache folder (``FIRST_FAULT_CACHE`` or
``$XDG_CACHE_HOME/first-fault``); where nothing can be written they are compiled anew. Only the vectored loops of
this CPU may run a database, hence the features in its name.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import hyperscan

from rules import patterns
from telemetry.streams import Block

# What is kept of a hit line: enough for every field, bounded for a line of 50 MB.
LINE_WINDOW = 16 * 1024


@dataclass(slots=True)
class Hit:
    """A line that some patterns matched. ``data[start:end]`` is the line while the hit is being handled.

    ``cut``: the log ends in it, without a line end.
    """

    numbers: list[int]
    data: bytearray | bytes
    start: int
    end: int
    text: bytes
    offset: int
    cut: bool = False


def cache_folder() -> Path:
    chosen = os.environ.get("FIRST_FAULT_CACHE")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "first-fault"


@cache
def _cpu_features() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(errors="replace")
    except OSError:
        return "unknown"
    line = next((row for row in text.splitlines() if row.startswith(("flags", "Features"))), "")
    return " ".join(sorted(line.partition(":")[2].split()))


class Database:
    """The patterns of one kind of stream, compiled. ``expressions`` are as ``patterns.for_scan`` gives them."""

    def __init__(self, expressions: Sequence[str], cache_in: Path | None = None) -> None:
        self.expressions = tuple(expressions)
        self._database = self._load(cache_in) if expressions else None

    def _name(self) -> str:
        digest = hashlib.sha256("\0".join(self.expressions).encode())
        digest.update(f"\0{version('hyperscan')}\0{_cpu_features()}".encode())
        return digest.hexdigest()

    def _load(self, cache_in: Path | None) -> hyperscan.Database:
        folder = cache_in or cache_folder()
        file = folder / f"{self._name()}.hsdb"
        kept = _read_checked(file)
        if kept is not None:
            try:
                database = hyperscan.loadb(kept, hyperscan.HS_MODE_BLOCK)
                database.scratch = hyperscan.Scratch(database)
                return database
            except hyperscan.HyperscanError:
                pass  # written by another build: compile it anew
        database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
        database.compile(
            expressions=[e.encode() for e in self.expressions],
            ids=list(range(len(self.expressions))),
            elements=len(self.expressions),
            flags=[hyperscan.HS_FLAG_MULTILINE] * len(self.expressions),
        )
        _write_checked(file, hyperscan.dumpb(database))
        return database

    def hits(self, block: Block) -> Iterator[Hit]:
        """Every distinct line of a block that matches, in order, with the numbers of the patterns that matched it.

        Lines are known by their offset; counting lines in all that is read would cost more than the scan.
        """
        if self._database is not None:
            found = _matches(self._database, block.data, block.length)
            yield from _by_line(found, block.data, block.length, block.offset)

    def hits_in(self, text: bytes) -> list[int]:
        """The numbers of the patterns that match one line."""
        if self._database is None or not text:
            return []
        return sorted({number for _, number in _matches(self._database, text, len(text))})


def _matches(database: hyperscan.Database, data: bytearray | bytes, length: int) -> list[tuple[int, int]]:
    """(end, pattern number) of every match in a block, in order."""
    found: list[tuple[int, int]] = []

    def note(number: int, _start: int, to: int, _flags: int, _context: object) -> None:
        found.append((to, number))

    # The binding takes any buffer, whatever its stub says; a view spares the copy of 16 MiB.
    view: Any = memoryview(data)[:length]
    try:
        database.scan(view, match_event_handler=note)
    finally:
        view.release()
    found.sort()
    return found


def _by_line(found: list[tuple[int, int]], data: bytearray | bytes, length: int, offset: int) -> Iterator[Hit]:
    hit: Hit | None = None
    for to, number in found:
        at = max(to - 1, 0)
        if hit is not None and at < hit.end:
            if number not in hit.numbers:
                hit.numbers.append(number)
            continue
        if hit is not None:
            yield hit
        start = data.rfind(b"\n", 0, at) + 1
        newline = data.find(b"\n", at, length)
        end = length if newline < 0 else newline
        window = start if to - start <= LINE_WINDOW else to - LINE_WINDOW // 2
        text = bytes(data[window : min(end, window + LINE_WINDOW)]).rstrip(b"\r")
        hit = Hit([number], data, start, end, text, offset + start, newline < 0)
    if hit is not None:
        yield hit


def _read_checked(file: Path) -> bytes | None:
    """A cached database, when it is whole: 32 bytes of SHA-256, then the data."""
    try:
        raw = file.read_bytes()
    except OSError:
        return None
    return raw[32:] if hashlib.sha256(raw[32:]).digest() == raw[:32] else None


def _write_checked(file: Path, data: bytes) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as part:
            part.write(hashlib.sha256(data).digest() + data)
        os.replace(part.name, file)
    except OSError:
        return  # a read-only home only costs the time to compile


def database_for(expressions: Sequence[str], cache_in: Path | None = None) -> Database:
    return Database([patterns.for_scan(e) for e in expressions], cache_in)
