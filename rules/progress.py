"""Did the job still make progress when it ended? Read from the last lines of what it printed.

A time limit that ends a job which still counts steps is the limit's doing; one that ends a silent job ended a hang.
Only each output's tail is read: progress lines are too many to be signals.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from rules import patterns
from rules.clocks import StreamClock, read, window
from telemetry.bundle import Bundle, Stream
from telemetry.formats.prefix import Prefix

TAIL_LINES: Final = 400
# Step counters as the common trainers, solvers and bars print them.
_PROGRESS: Final = (
    r"(?i)(?:\b(?:iteration|iter|step|epoch|batch|global_step|timestep|time step|samples|consumed)s?\b"
    r"[\"' ]{0,2}[:=#\[( ] ?\d)|\d{1,3}%\|[^|]{0,60}\| ?\d+/|\b\d+/\d+ \[\d+:\d+"
    r"|(?:it/s|s/it|samples/s|tokens/s|TFLOPs?)\b|\bloss[\"' ]{0,2}[:=] ?\d"
)
_TROUBLE: Final = r"(?i)error|exception|traceback|timed? ?out|abort|cancelled|killed"


@dataclass(frozen=True, slots=True)
class Progress:
    """The last line of an output that counts progress; ``silent`` is seconds from it to the job's end, if known."""

    stream: str
    line: int
    offset: int
    text: str
    silent: float | None
    lines_after: int
    at: float | None = None


def _tail(stream: Stream) -> list[tuple[int, int, bytes]]:
    """The last lines of a stream as (line number, offset, text)."""
    kept: list[tuple[int, int, bytes]] = []
    for block in stream.blocks():
        data = bytes(block.data[max(0, block.length - 256 * 1024) : block.length])
        cut = block.length - len(data)
        first = block.line + (block.data.count(b"\n", 0, cut) if cut else 0)
        offset = block.offset + cut
        rows = data.split(b"\n")
        if rows and not rows[-1]:
            rows.pop()
        here = []
        for number, row in enumerate(rows):
            here.append((first + number, offset, row))
            offset += len(row) + 1
        kept = (kept + here)[-TAIL_LINES:]
    return kept


def last_progress(bundle: Bundle, clocks: dict[str, StreamClock], prefix: Callable[[bytes], Prefix]) -> Progress | None:
    """The latest sign of progress in any of the job's outputs; None when there is none to be seen."""
    found = [p for s in bundle.streams if s.source == "applog" and (p := _of_stream(s, bundle, clocks, prefix))]
    return min(found, key=lambda p: (p.silent is None, p.silent or 0.0, p.stream), default=None)


def _of_stream(
    stream: Stream, bundle: Bundle, clocks: dict[str, StreamClock], prefix: Callable[[bytes], Prefix]
) -> Progress | None:
    rows = _tail(stream)
    clock = clocks.get(stream.path, StreamClock())
    _, end = window(bundle.job)
    for quiet, (line, offset, row) in enumerate(reversed(rows)):
        text = row[:4000]
        if patterns.compiled(_PROGRESS).search(text) and not patterns.compiled(_TROUBLE).search(text):
            stamp = prefix(text).time
            at = read(stamp, clock, bundle.job)
            silent = end - at.hi if at and end is not None else None
            shown = text.decode("utf-8", "replace")[:300]
            return Progress(stream.path, line, offset, shown, silent, quiet, at.lo if at else None)
    return None
