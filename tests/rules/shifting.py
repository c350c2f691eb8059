"""A copy of a bundle in which one node's clock is wrong: the stamps of its own streams are moved, nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from telemetry.bundle import open_bundle

_MONTH: Final = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
# Each form as it is written, and how to read and write it again. Some year must stand in for the one that is not told.
_ISO: Final = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?=\D|$)")
_DMESG: Final = re.compile(rf"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?:{_MONTH}) [ \d]\d \d\d:\d\d:\d\d \d{{4}}")
_FABRIC: Final = re.compile(rf"(?:{_MONTH}) \d\d \d{{4}} \d\d:\d\d:\d\d")
_SYSLOG: Final = re.compile(rf"^(?:{_MONTH}) [ \d]\d \d\d:\d\d:\d\d(?= )")
_GLOG: Final = re.compile(r"(?<=[IWEF])\d{4} \d\d:\d\d:\d\d(?=\.\d)")


class Shifted(NamedTuple):
    moved: int
    left: int


def _moved(text: str, form: str, by: timedelta, year: int | None) -> str:
    told = text if year is None else f"{year} {text}"
    moment = datetime.strptime(told, form if year is None else f"%Y {form}").replace(tzinfo=UTC) + by
    return moment.strftime(form)


def _iso(text: str, by: timedelta) -> str:
    return _moved(text, f"%Y-%m-%d{text[10]}%H:%M:%S", by, None)


def _padded(moment: str) -> str:
    """syslog writes the day with a space, not with a nought."""
    return moment[:4] + (" " + moment[5] if moment[4] == "0" else moment[4:6]) + moment[6:]


def shifted_line(line: str, by: timedelta, year: int) -> str | None:
    """The line as a clock that is off by so much would have stamped it; None when it bears no stamp that is known."""
    forms: tuple[tuple[re.Pattern[str], Callable[[str], str]], ...] = (
        (_DMESG, lambda t: _moved(t, "%a %b %d %H:%M:%S %Y", by, None)),
        (_FABRIC, lambda t: _moved(t, "%b %d %Y %H:%M:%S", by, None)),
        (_SYSLOG, lambda t: _padded(_moved(t, "%b %d %H:%M:%S", by, year))),
        (_ISO, lambda t: _iso(t, by)),
        (_GLOG, lambda t: _moved(t, "%m%d %H:%M:%S", by, year)),
    )
    head, rest = line[:160], line[160:]
    for pattern, write in forms:
        if pattern.search(head):
            return pattern.sub(lambda found, write=write: write(found[0]), head) + rest  # type: ignore[misc]
    return None


def shift_node(bundle: Path, node: str, seconds: float) -> Shifted:
    """Move the stamps of one node's own streams in place; how many lines were moved, and how many bear no stamp."""
    moved = left = 0
    by = timedelta(seconds=seconds)
    opened = open_bundle(bundle)
    ended = opened.job.ended or opened.job.started
    year = ended.year if ended else 2026
    for stream in opened.streams:
        if stream.node != node or stream.source not in ("syslog", "fabric", "applog"):
            continue
        file = bundle / stream.path
        lines = file.read_text(errors="surrogateescape").split("\n")
        for number, line in enumerate(lines):
            if not line:
                continue
            changed = shifted_line(line, by, year)
            moved, left = (moved + 1, left) if changed is not None else (moved, left + 1)
            lines[number] = changed if changed is not None else line
        file.write_text("\n".join(lines), errors="surrogateescape")
    return Shifted(moved, left)


def nodes_with_streams(bundle: Path) -> list[str]:
    opened = open_bundle(bundle)
    own = {s.node for s in opened.streams if s.node and s.source in ("syslog", "fabric", "applog")}
    return sorted(own)
