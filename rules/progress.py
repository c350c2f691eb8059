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
from rules.signals import Interval
from telemetry.formats.prefix import Prefix
from telemetry.job import JobContext
from telemetry.streams import Block

TAIL: Final = 256 * 1024
TAIL_LINES: Final = 400
# Step counters as the common trainers, solvers and bars print them.
_PROGRESS: Final = (
    r"(?i)(?:\b(?:iteration|iter|step|epoch|batch|global_step|timestep|time step|samples|consumed)s?\b"
    r"[\"' ]{0,2}[:=#\[( ] ?\d)|\d{1,3}%\|[^|]{0,60}\| ?\d+/|\b\d+/\d+ \[\d+:\d+"
    r"|\b(?:task|item|chunk|file|frame|sample|job|tile|shard)s? \d+ (?:done|finished|completed|processed)\b"
    r"|(?:it/s|s/it|samples/s|tokens/s|TFLOPs?)\b|\bloss[\"' ]{0,2}[:=] ?\d"
)
_TROUBLE: Final = r"(?i)error|exception|traceback|timed? ?out|abort|cancelled|killed"


# tqdm's bar: "42%|####  | 420/1000 [1:02:03<1:25:00, 8.9s/it]": time since its loop began.
_BAR = r"\[(?:(?P<hours>\d{1,3}):)?(?P<minutes>\d{1,2}):(?P<seconds>\d\d)<"


def _by_bar(text: bytes, job: JobContext) -> Interval | None:
    """When a progress bar was drawn, from the time that it counts: no earlier than that long after the job's start."""
    got = patterns.named_groups(_BAR, text)
    if got is None or job.started is None or job.ended is None:
        return None
    counted = int(got.get("hours", "0")) * 3600 + int(got["minutes"]) * 60 + int(got["seconds"])
    return Interval(job.started.timestamp() + counted, job.ended.timestamp())


@dataclass(slots=True)
class Tail:
    """The last bytes of an output, kept while it is scanned."""

    stream: str
    data: bytes = b""
    offset: int = 0

    def keep(self, block: Block) -> None:
        """Take the end of the next block; what is no longer the end is dropped."""
        start = max(0, block.length - TAIL)
        room = TAIL - (block.length - start)
        older = self.data[-room:] if room else b""
        self.data = older + bytes(block.data[start : block.length])
        self.offset = block.offset + start - len(older)

    def lines(self) -> list[tuple[int, bytes]]:
        """The last lines, the last first, as (offset, text)."""
        rows = self.data.split(b"\n")
        found = []
        end = self.offset + len(self.data)
        for row in reversed(rows):
            found.append((end - len(row), row))
            end -= len(row) + 1
        return [(offset, row) for offset, row in found[: TAIL_LINES + 1] if row]


@dataclass(frozen=True, slots=True)
class Progress:
    """The last line of an output that counts progress.

    silent: seconds from it to the job's end; at: epoch seconds; both None when the line has no time. lines_after: how
    many lines of the output follow it.
    """

    stream: str
    offset: int
    text: str
    silent: float | None
    lines_after: int
    at: float | None = None


def last_progress(
    tails: list[Tail], job: JobContext, clocks: dict[str, StreamClock], prefix: Callable[[bytes], Prefix]
) -> Progress | None:
    """The latest sign of progress in any of the job's outputs; None when there is none to be seen."""
    found = [p for tail in tails if (p := _of_tail(tail, job, clocks.get(tail.stream, StreamClock()), prefix))]
    return min(found, key=lambda p: (p.silent is None, p.silent or 0.0, p.stream), default=None)


def _of_tail(tail: Tail, job: JobContext, clock: StreamClock, prefix: Callable[[bytes], Prefix]) -> Progress | None:
    _, end = window(job)
    for quiet, (offset, row) in enumerate(tail.lines()):
        text = row[:4000]
        if patterns.compiled(_PROGRESS).search(text) and not patterns.compiled(_TROUBLE).search(text):
            at = read(prefix(text).time, clock, job) or _by_bar(text, job)
            silent = end - at.lo if at and end is not None else None
            shown = text.decode("utf-8", "replace")[:300]
            return Progress(tail.stream, offset, shown, silent, quiet, at.lo if at else None)
    return None
