"""What one step has used of its limits, and the progress it tells from that."""

from __future__ import annotations

import time
from collections.abc import Callable

from connectors.contract import Context, Progress
from connectors.errors import TimedOut

_EVERY_SECONDS = 0.5
_LOOK_SECONDS = 0.2  # between two looks at whether the run was cancelled, which may ask a database


class Meter:
    """Counts lines and bytes of a step, holds its deadline and passes progress on, twice a second at most."""

    def __init__(self, context: Context, total: int | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.lines = 0
        self.bytes = 0
        self.done = 0
        self.total = total
        self._context = context
        self._clock = clock
        self._deadline = clock() + context.limits.seconds
        self._told = float("-inf")
        self._looked = float("-inf")

    @property
    def seconds_left(self) -> float:
        return max(0.0, self._deadline - self._clock())

    def check(self, where: str) -> None:
        """Raises Cancelled when the run was stopped and TimedOut when the step's time is over."""
        now = self._clock()
        if now - self._looked >= _LOOK_SECONDS:
            self._looked = now
            self._context.check_cancelled()
        if now >= self._deadline:
            raise TimedOut(
                f"The step used up its {self._context.limits.seconds:g} seconds",
                where,
                "Allow it more time, or collect less: fewer files or a shorter window.",
            )

    def room(self, targets_left: int = 1) -> int:
        """Bytes that the next target may write: its fair share, so that one noisy node cannot cost the others."""
        limits = self._context.limits
        if not self.lines_left:
            return 0
        share = max(0, limits.bytes - self.bytes) // max(1, targets_left)
        return min(limits.stream_bytes, share)

    @property
    def lines_left(self) -> int:
        return max(0, self._context.limits.lines - self.lines)

    def wrote(self, lines: int, size: int, what: str) -> None:
        self.lines += lines
        self.bytes += size
        self.tell(what)

    def finished(self, what: str) -> None:
        """One more target is done."""
        self.done += 1
        self.tell(what, now=self.done == self.total)

    def tell(self, what: str, now: bool = False) -> None:
        if now or self._clock() - self._told >= _EVERY_SECONDS:
            self._told = self._clock()
            self._context.progress(Progress(self.lines, self.bytes, self.done, self.total, what))
