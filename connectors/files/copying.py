"""Copying one log, with its rotated files, into one stream of a bundle."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field

from connectors.errors import Cancelled, ConnectorError, TimedOut, mapped
from connectors.files.allowed import AllowedRoots
from connectors.files.reading import can_jump, read_chunks, read_ends, whole_lines
from connectors.files.window import WindowCut
from connectors.meter import Meter
from telemetry.coverage import Coverage, Status
from telemetry.writer import BundleWriter, StreamWriter


@dataclass(frozen=True, slots=True)
class Log:
    """One log to copy: its files from the oldest to the newest, and the stream that they become."""

    source: str
    name: str
    paths: tuple[str, ...]
    node: str | None = None


@dataclass(slots=True)
class Copied:
    """What came of a log. `shortfalls` are (reason, sentence) for everything that did not come."""

    log: Log
    lines: int = 0
    bytes: int = 0
    opened: int = 0
    shortfalls: list[tuple[str, str]] = field(default_factory=list)
    asked: tuple[float, float] | None = None
    covered: tuple[float, float] | None = None

    def coverage(self) -> Coverage:
        """This log's part of the report. A node whose log could not be read counts among the missing."""
        status: Status = "complete"
        if not self.opened:
            status = "failed"
        elif self.shortfalls:
            status = "partial"
        elif not self.bytes:
            status = "empty"
        detail = " ".join(sentence for _, sentence in self.shortfalls)
        if status == "empty" and not detail:
            detail = "The file is there and empty."
        paths = self.log.paths
        return Coverage(
            source=self.log.source,
            status=status,
            reason=self.shortfalls[0][0] if self.shortfalls else None,
            detail=detail,
            nodes_missing=(self.log.node,) if self.log.node and not self.opened else (),
            target=self.log.node or self.log.name,
            asked=self.asked,
            covered=self.covered,
            lines=self.lines,
            bytes=self.bytes,
            request=" ".join(paths[:5]) + (f" and {len(paths) - 5} more" if len(paths) > 5 else ""),
        )


class LogCopy:
    """The work on one log: `run()` writes its stream, `room` bytes at most, cut to `window` when there is one."""

    def __init__(
        self, log: Log, roots: AllowedRoots, writer: BundleWriter, meter: Meter, room: int, window: WindowCut | None
    ) -> None:
        self._log = log
        self._roots = roots
        self._writer = writer
        self._meter = meter
        self._room = room
        self._window = window
        self._copied = Copied(log, asked=(window.start, window.end) if window else None)
        self._full = False
        self._open_line = False
        self._read = 0

    def run(self) -> Copied:
        """A file that cannot be read is reported, and the others still come. Raises Cancelled, and an error only of
        the bundle's own storage."""
        copied = self._copied
        with ExitStack() as stack:
            out: StreamWriter | None = None
            for path in self._log.paths:
                try:
                    self._meter.check(path)
                    descriptor = self._roots.open_file(path)
                except Cancelled:
                    raise
                except ConnectorError as error:
                    copied.shortfalls.append((error.reason, str(error)))
                    continue
                copied.opened += 1
                try:
                    if out is None:
                        out = stack.enter_context(
                            self._writer.stream(self._log.source, self._log.name, target=self._log.node)
                        )
                    if self._open_line:  # a rotated file that was cut inside a line
                        self._store(out, b"\n", path)
                    self._copy_file(out, descriptor, path)
                finally:
                    os.close(descriptor)
                if self._full:
                    break
            if out is not None and self._window is not None:
                self._tell_window(out, self._window)
        if out is not None:
            copied.lines, copied.bytes = out.lines, out.bytes
        return copied

    def _copy_file(self, out: StreamWriter, descriptor: int, path: str) -> None:
        try:
            for piece in self._pieces(descriptor, path):
                self._meter.check(path)
                if not self._store(out, piece, path):
                    return
        except Cancelled:
            raise
        except ConnectorError as error:
            self._copied.shortfalls.append((error.reason, str(error)))
            self._full = isinstance(error, TimedOut)

    def _pieces(self, descriptor: int, path: str) -> Iterator[bytes]:
        with mapped(path):
            size = os.fstat(descriptor).st_size
        if self._window is not None:
            yield from self._window.cut(self._watched(whole_lines(read_chunks(descriptor, path)), path))
        elif size > self._room and len(self._log.paths) == 1 and can_jump(descriptor, path):
            self._copied.shortfalls.append(
                (
                    "truncated",
                    f"{path} has {size:,} bytes; its first {self._room // 4:,} and its last "
                    f"{self._room - self._room // 4:,} were kept.",
                )
            )
            yield from read_ends(descriptor, size, self._room, path)
        else:
            yield from read_chunks(descriptor, path)

    def _watched(self, pieces: Iterator[bytes], path: str) -> Iterator[bytes]:
        """Pieces that are read, though perhaps not kept: they too cost time."""
        for piece in pieces:
            self._meter.check(path)
            yield piece

    def _store(self, out: StreamWriter, piece: bytes, path: str) -> bool:
        """Write what there is room for; whether there is room for more."""
        if not piece:
            return True
        copied = self._copied
        left = self._room - self._read
        if len(piece) > left:
            piece = piece[: piece.rfind(b"\n", 0, left) + 1]
            self._full = True
            copied.shortfalls.append(
                ("truncated", f"Only {self._read + len(piece):,} bytes were kept; what follows in {path} was not.")
            )
        if piece:
            out.write(piece)
            self._open_line = not piece.endswith(b"\n")
            self._read += len(piece)
            self._meter.wrote(piece.count(b"\n"), len(piece), path)
            if not self._meter.lines_left and not self._full:
                self._full = True
                copied.shortfalls.append(
                    ("truncated", f"The limit of lines was reached; the rest of {path} was not kept.")
                )
        return not self._full

    def _tell_window(self, out: StreamWriter, window: WindowCut) -> None:
        copied = self._copied
        if window.first is None or window.last is None:
            return
        if window.kept_timed:
            copied.covered = (max(window.first, window.start), min(window.last, window.end))
        elif window.dropped:
            # Perhaps the log is old, perhaps its clock is wrong: the last of it can tell, silence cannot.
            self._store(out, window.tail, self._log.paths[-1])
            copied.covered = (window.first, window.last)
            copied.shortfalls.append(
                (
                    "window_cut",
                    f"No line of {self._log.paths[-1]} is from the time of the job, so the clock may be wrong or the "
                    "log may have stopped; its last lines were kept.",
                )
            )
