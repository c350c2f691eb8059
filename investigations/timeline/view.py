"""What a person looks at: which span, which clock, which window, what is unfolded."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from investigations.reading import times

SPANS = ("fault", "story", "job")
CLOCKS = ("logged", "corrected")
NARROW = 600  # px; below it no text stands inside the plot


@dataclass(frozen=True, slots=True)
class View:
    """`start` and `end` are places on the span's own axis (see axis.py), None for the whole span.

    `since` and `until` are the same as times (seconds since 1970 UTC), as somebody typed them; they win.
    `toggled` names the nodes whose lane is not in its usual state: a culprit that was folded, another that was opened,
    and `*` for the folded rest.
    """

    span: str = "story"
    clock: str = "logged"
    start: float | None = None
    end: float | None = None
    since: float | None = None
    until: float | None = None
    width: int = 1000
    toggled: frozenset[str] = frozenset()

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> "View":
        """Reads a page's query; what makes no sense falls back to the whole story."""
        start, end = _number(query.get("start")), _number(query.get("end"))
        if start is None or end is None or end - start <= 0:
            start = end = None
        since, until = times.seconds(query.get("since")), times.seconds(query.get("until"))
        if since is None or until is None or until <= since:
            since = until = None
        width = _number(query.get("width")) or 1000
        return cls(
            span=query["span"] if query.get("span") in SPANS else "story",
            clock=query["clock"] if query.get("clock") in CLOCKS else "logged",
            start=start,
            end=end,
            since=since,
            until=until,
            width=int(min(max(width, 200), 4000)),
            toggled=frozenset(name for name in query.get("toggled", "")[:4000].split(",") if name),
        )

    @property
    def narrow(self) -> bool:
        return self.width < NARROW


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) else None
