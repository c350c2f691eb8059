"""One file of a bundle, read as blocks of whole lines in bounded memory."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from telemetry.decoding import ReadError, open_decoded
from telemetry.lines import Line, LineIndex, read_lines
from telemetry.problems import Problem

BLOCK = 16 * 1024 * 1024
_SMALL = 64 * 1024


# Control characters that text has: tab, line ends, form feed, backspace, escape (colours), bell.
_TEXT_CONTROLS = frozenset(b"\t\n\r\f\b\x1b\x07")
_NO_TEXT = bytes(byte for byte in range(32) if byte not in _TEXT_CONTROLS)
_BINARY_SHARE = 0.02


def _looks_binary(data: bytearray, length: int) -> bool:
    """More than one byte in fifty is a control character that no text has."""
    head = bytes(data[:length])
    return len(head) - len(head.translate(None, _NO_TEXT)) > length * _BINARY_SHARE


@dataclass(slots=True)
class Block:
    """Whole lines of a stream: the bytes data[0:length]. `data` is reused for the next block, so keep copies.

    offset: of data[0] in the decoded stream. line: 1-based number of the first line, 0 when lines were not counted.
    cut: the block ends inside a line longer than a block, whose rest was left out.
    """

    data: bytearray
    length: int
    offset: int
    line: int
    cut: bool = False

    @property
    def view(self) -> memoryview:
        """The valid bytes without a copy."""
        return memoryview(self.data)[: self.length]


class Stream:
    """One file of one source. Opening and reading never raise: what goes wrong is put into `problems`.

    path: posix path in the bundle. node: the node whose log it is, None when it is not one node's or not known.
    size: bytes as stored (compressed, if it is compressed). Offsets and line numbers are those of the decoded text:
    decompressed, UTF-16 as UTF-8.
    """

    __slots__ = ("_digest", "_index", "_lock", "_problems", "file", "node", "path", "size", "source")

    def __init__(self, source: str, path: str, file: Path, size: int, node: str | None = None) -> None:
        self.source = source
        self.path = path
        self.file = file
        self.size = size
        self.node = node
        self._problems: dict[Problem, None] = {}
        self._index: LineIndex | None = None
        self._digest: bytes | None = None
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"Stream({self.path!r}, {self.size} bytes)"

    def __reduce__(self) -> tuple[type[Stream], tuple[str, str, Path, int, str | None]]:
        return (Stream, (self.source, self.path, self.file, self.size, self.node))

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What went wrong so far, each once, sorted."""
        return tuple(sorted(self._problems))

    def report(self, what: str, where: str = "", remedy: str = "") -> None:
        """Note a problem of this stream; the same problem is kept once."""
        self._problems[Problem(self.path, what, where, remedy)] = None

    def blocks(self, size: int = BLOCK, *, count_lines: bool = True, hashing: bool = False) -> Iterator[Block]:
        """Blocks of whole lines, at most `size` bytes each, in one reused buffer.

        The last block may lack a final newline. Counting newlines costs about 0.3 s a GiB; without it Block.line is
        0 and `line_at` or `line_numbers` finds numbers afterwards. `hashing` takes the file's digest on the way when it
        is stored as it is read, which spares sha256() a second reading. A line longer than `size` is cut: its first
        bytes come as a block with `cut` set, the rest is passed over (and counted), and `problems` says so.
        """
        if size < 2:
            raise ValueError("a block needs room for two bytes")
        try:
            reader = open_decoded(self.file)
        except (OSError, ReadError) as error:
            self._unreadable(error, "from the start")
            return
        buffer = bytearray(size if reader.packed or self.size >= size else max(self.size + 1, 2))
        room = len(buffer)
        offset, line, held, skipping = 0, 1 if count_lines else 0, 0, False
        digest = hashlib.sha256() if hashing and not reader.packed and self._digest is None else None
        with reader, memoryview(buffer) as view:
            while True:
                try:
                    got = reader.readinto(view[held:])
                except (OSError, ReadError) as error:
                    self._unreadable(error, f"at byte {offset + held}")
                    got, digest = 0, None
                if digest is not None:
                    if got:
                        digest.update(view[held : held + got])
                    else:
                        self._digest, digest = digest.digest(), None
                end = held + got
                if end == 0:
                    return
                if skipping:
                    at = buffer.find(b"\n", 0, end)
                    if got == 0:
                        return
                    if at < 0:
                        offset += end
                        continue
                    skipping = False
                    offset += at + 1
                    line += count_lines
                    held = end - at - 1
                    buffer[:held] = buffer[at + 1 : end]
                    continue
                if got and end < room:
                    held = end
                    continue
                cut = buffer.rfind(b"\n", 0, end) + 1
                too_long = bool(got) and cut == 0
                if cut == 0 or not got:
                    cut = end
                if too_long:
                    self.report(
                        f"A line is longer than {size} bytes; only its start was read",
                        f"byte {offset}",
                        "Look at the file: it may be binary, or written without line ends.",
                    )
                    skipping = True
                if not offset and _looks_binary(buffer, min(cut, _SMALL)):
                    self.report(
                        "The file looks binary, not like a log; what reads as text in it was still looked at",
                        "from the start",
                        "Check that the right file was collected.",
                    )
                yield Block(buffer, cut, offset, line, too_long)
                if count_lines:
                    line += buffer.count(b"\n", 0, cut)
                offset += cut
                held = end - cut
                if held:
                    buffer[:held] = buffer[cut:end]
                if not got:
                    return

    def lines(self, start_line: int, count: int, near: tuple[int, int] | None = None) -> list[Line]:
        """Up to `count` lines from number `start_line` (1-based) on; fewer at the end of the stream.

        near: (line, offset) of a known line start at or before `start_line`, which spares looking for the place.
        """
        if start_line < 1 or count < 1:
            return []
        found: list[Line] = []
        try:
            if near and 1 <= near[0] <= start_line:
                number, offset, whole = near[0], near[1], True
            else:
                offset, newlines = self._lines_index().near_line(start_line)
                # A place of the index is mostly inside a line, whose rest comes first.
                number, whole = newlines + 1, offset == 0
            with open_decoded(self.file) as reader:
                reader.skip(offset)
                for line in read_lines(reader, number, offset):
                    if line.number >= start_line and (whole or line.number > number):
                        found.append(line)
                        if len(found) >= count:
                            break
        except (OSError, ReadError) as error:
            self._unreadable(error, f"near line {start_line}")
        return found

    def line_at(self, offset: int) -> int:
        """The 1-based number of the line that holds the byte at `offset` of the decoded stream."""
        try:
            return self._lines_index().line_at(offset)
        except (OSError, ReadError) as error:
            self._unreadable(error, f"before byte {offset}")
            return 1

    def line_numbers(self, offsets: Iterable[int]) -> list[int]:
        """line_at for many offsets, in the order given; the stream is counted through once."""
        wanted = list(offsets)
        try:
            known = self._lines_index().lines_at(sorted(set(wanted)))
        except (OSError, ReadError) as error:
            self._unreadable(error, "while its lines were counted")
            known = {}
        return [known.get(offset, 1) for offset in wanted]

    def read(self, limit: int) -> bytes | None:
        """The whole decoded stream, or None when it is longer than `limit` bytes or cannot be read."""
        if self.size > limit:
            return None
        parts: list[bytes] = []
        total = 0
        try:
            with open_decoded(self.file) as reader:
                chunk = bytearray(_SMALL * 4)
                while got := reader.readinto(chunk):
                    total += got
                    if total > limit:
                        return None
                    parts.append(bytes(chunk[:got]))
        except (OSError, ReadError) as error:
            self._unreadable(error, f"at byte {total}")
            if not parts:
                return None
        return b"".join(parts)

    def sha256(self) -> bytes:
        """Digest of the file as stored; kept after the first call. An unreadable file has the digest of nothing."""
        with self._lock:
            if self._digest is None:
                digest = hashlib.sha256()
                try:
                    with open(self.file, "rb", buffering=0) as file:
                        digest = hashlib.file_digest(file, "sha256")
                except OSError as error:
                    self._unreadable(error, "from the start")
                self._digest = digest.digest()
            return self._digest

    def _unreadable(self, error: Exception, where: str) -> None:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        self.report(f"Could not be read: {reason}", where, "Check the file and its permissions, or collect it again.")

    def _lines_index(self) -> LineIndex:
        with self._lock:
            if self._index is None:
                self._index = LineIndex(lambda: open_decoded(self.file))
            return self._index
