"""Single lines of a stream by number, for the log viewer: a sparse index makes a deep line as near as the first."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from telemetry.decoding import Reader

LINE_LIMIT = 64 * 1024
_STEP = 4 * 1024 * 1024
_CHUNK = 64 * 1024


@dataclass(frozen=True, slots=True)
class Line:
    """One line without its line end, at most LINE_LIMIT bytes; `cut` when it was longer.

    number is 1-based, offset is that of its first byte in the decoded stream.
    """

    number: int
    offset: int
    text: bytes
    cut: bool = False


class LineIndex:
    """How many newlines stand before every 4 MiB of a decoded stream; grows only as far as it is asked."""

    def __init__(self, opened: Callable[[], Reader]) -> None:
        self._opened = opened
        self._before = [0]
        self._done = False

    def near_line(self, line: int) -> tuple[int, int]:
        """(offset, newlines before it) of a place at or before the start of that line."""
        # Line n starts behind newline n-1, so the place must have fewer newlines before it than that.
        self._grow(lambda: self._before[-1] >= line - 1)
        at = max(bisect_left(self._before, line - 1) - 1, 0)
        return at * _STEP, self._before[at]

    def near_offset(self, offset: int) -> tuple[int, int]:
        """(offset, newlines before it) of a place at or before that byte."""
        self._grow(lambda: (len(self._before) - 1) * _STEP >= offset)
        at = min(offset // _STEP, len(self._before) - 1)
        return at * _STEP, self._before[at]

    def line_at(self, offset: int) -> int:
        """The number of the line that holds that byte."""
        start, newlines = self.near_offset(offset)
        left = offset - start
        with self._opened() as reader:
            reader.skip(start)
            chunk = bytearray(min(_STEP, left) or 1)
            while left > 0 and (got := reader.readinto(memoryview(chunk)[: min(len(chunk), left)])):
                newlines += chunk.count(b"\n", 0, got)
                left -= got
        return newlines + 1

    def lines_at(self, offsets: list[int]) -> dict[int, int]:
        """line_at for offsets in ascending order, in one reading up to the last of them."""
        found: dict[int, int] = {}
        with self._opened() as reader:
            at = newlines = 0
            chunk = bytearray(_STEP)
            got = held = 0  # the chunk holds the bytes from held to held + got
            for offset in offsets:
                while offset > held + got:
                    newlines += chunk.count(b"\n", at - held, got)
                    held += got
                    at = held
                    got = reader.readinto(chunk)
                    if not got:
                        break
                newlines += chunk.count(b"\n", at - held, min(offset - held, got))
                at = min(offset, held + got)
                found[offset] = newlines + 1
        return found

    def _grow(self, enough: Callable[[], bool]) -> None:
        if self._done or enough():
            return
        with self._opened() as reader:
            reader.skip((len(self._before) - 1) * _STEP)
            chunk = bytearray(_STEP)
            while not enough():
                got = reader.readinto(chunk)
                if got < _STEP:
                    self._done = True
                    return
                self._before.append(self._before[-1] + chunk.count(b"\n", 0, got))


def read_lines(reader: Reader, number: int, offset: int) -> Iterator[Line]:
    """The lines from where `reader` stands, which is the start of line `number` at byte `offset`."""
    pending = bytearray()
    length = 0
    chunk = bytearray(_CHUNK)
    while got := reader.readinto(chunk):
        at = 0
        while True:
            end = chunk.find(b"\n", at, got)
            stop = end if end >= 0 else got
            pending += chunk[at : min(stop, at + LINE_LIMIT - len(pending))]
            length += stop - at
            if end < 0:
                break
            yield Line(number, offset, bytes(pending).removesuffix(b"\r"), length > LINE_LIMIT)
            number, offset, length, at = number + 1, offset + length + 1, 0, end + 1
            pending.clear()
    if length:
        yield Line(number, offset, bytes(pending).removesuffix(b"\r"), length > LINE_LIMIT)
