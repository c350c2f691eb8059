"""Cutting a node's log to the time of the job, when its lines say when they were written.

A log of a node runs for weeks; the job's share is what is collected. Pieces that lie wholly outside are left out after
a look at two of their lines, so gigabytes pass quickly; only pieces on the edge are looked at line by line.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from telemetry.formats.prefix import parse_prefix
from telemetry.formats.stamps import resolve

_PIECE = 64 * 1024
_LOOK_AT = 20  # lines without a time before a piece counts as one without times
_LINE_HEAD = 256  # a time stands at the start of its line
_TAIL_BYTES = 1024 * 1024

Interval = tuple[float, float]


class WindowCut:
    """Keeps what was written between `start` and `end` (epoch seconds).

    zone: IANA zone of stamps that carry none; without it they may stand for a day's worth of moments, and a line is
    kept when one of them is in the window.
    Lines without a time go with the line before them. A log without times is kept whole: nothing says what to cut.
    After use: `first` and `last` are the earliest and latest time seen (epoch seconds), `dropped` the bytes left out,
    `tail` the last of them.
    """

    def __init__(self, start: float, end: float, zone: str | None) -> None:
        self.start = start
        self.end = end
        self.first: float | None = None
        self.last: float | None = None
        self.dropped = 0
        self.kept_timed = False
        self._zone = zone
        self._middle = (start + end) / 2
        self._keeping = True
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0

    @property
    def saw_times(self) -> bool:
        return self.first is not None

    @property
    def tail(self) -> bytes:
        """The last whole lines that were left out, a MiB at most."""
        joined = b"".join(self._tail)
        if len(joined) <= _TAIL_BYTES:
            return joined
        cut = joined[-_TAIL_BYTES:]
        return cut[cut.find(b"\n") + 1 :]

    def cut(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """The share of pieces (each of whole lines) that lies in the window."""
        for large in pieces:
            for piece in _smaller(large):
                if kept := self._judge(piece):
                    yield kept

    def _judge(self, piece: bytes) -> bytes:
        first, last = self._time_from(piece), self._time_from(piece, backwards=True)
        if first is None or last is None:
            if self._keeping:
                return piece
            self._drop(piece)
            return b""
        verdicts = {self._inside(first), self._inside(last)}
        if verdicts == {0} and self._keeping:
            self.kept_timed = True
            return piece
        if len(verdicts) == 1 and 0 not in verdicts and not self._keeping:
            self._drop(piece)
            return b""
        return self._line_by_line(piece)

    def _line_by_line(self, piece: bytes) -> bytes:
        kept: list[bytes] = []
        for line in _lines(piece):
            moment = self._time_of(line)
            if moment is not None:
                self._keeping = self._inside(moment) == 0
                self.kept_timed = self.kept_timed or self._keeping
            if self._keeping:
                kept.append(line)
            else:
                self._drop(line)
        return b"".join(kept)

    def _inside(self, moment: Interval) -> int:
        """-1 before the window, 0 at least partly in it, 1 after it."""
        return -1 if moment[1] < self.start else 1 if moment[0] > self.end else 0

    def _time_from(self, piece: bytes, backwards: bool = False) -> Interval | None:
        at = len(piece) if backwards else 0
        for _ in range(_LOOK_AT):
            if backwards:
                begin = piece.rfind(b"\n", 0, max(0, at - 1)) + 1
                line, at = piece[begin : begin + _LINE_HEAD], begin
            else:
                line, at = piece[at : at + _LINE_HEAD], piece.find(b"\n", at) + 1
            moment = self._time_of(line)
            if moment is not None or at == 0 or at == len(piece):
                return moment
        return None

    def _time_of(self, line: bytes) -> Interval | None:
        stamp = parse_prefix(line[:_LINE_HEAD], near=self._middle).time
        moment = None if stamp is None else resolve(stamp, self._zone)
        if moment is not None:
            self.first = moment[0] if self.first is None else min(self.first, moment[0])
            self.last = moment[1] if self.last is None else max(self.last, moment[1])
        return moment

    def _drop(self, piece: bytes) -> None:
        self.dropped += len(piece)
        self._tail.append(piece)
        self._tail_bytes += len(piece)
        while self._tail_bytes - len(self._tail[0]) >= _TAIL_BYTES:
            self._tail_bytes -= len(self._tail.popleft())


def _smaller(piece: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(piece):
        end = piece.rfind(b"\n", at, at + _PIECE) + 1 or piece.find(b"\n", at + _PIECE) + 1 or len(piece)
        yield piece[at:end]
        at = end


def _lines(piece: bytes) -> Iterator[bytes]:
    """Lines ended by newlines alone, as a lone carriage return is part of a progress bar."""
    at = 0
    while at < len(piece):
        end = piece.find(b"\n", at) + 1 or len(piece)
        yield piece[at:end]
        at = end
