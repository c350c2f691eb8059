"""How much of a source was collected, and what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

Status = Literal["complete", "partial", "empty", "failed", "not_configured", "not_collected"]
STATUSES: tuple[str, ...] = get_args(Status)
Window = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Coverage:
    """What was asked of one source (or of one target of it) and what came.

    status: complete | partial | empty (asked, nothing there) | failed | not_configured | not_collected.
    reason: a word that says why it is not complete: truncated, denied, unreachable, timeout, unsupported, window_cut,
    nodes_missing, ...; detail: a sentence. nodes_missing: nodes of the job of which nothing came.
    target: the node or file that the report is about, None for the whole source.
    asked, covered: (start, end) in epoch seconds. lines, bytes: as stored. request: what was asked, without secrets.
    """

    source: str
    status: Status
    reason: str | None = None
    detail: str = ""
    nodes_missing: tuple[str, ...] = ()
    target: str | None = None
    asked: Window | None = None
    covered: Window | None = None
    lines: int = 0
    bytes: int = 0
    request: str | None = None

    def as_dict(self) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            out[field.name] = list(value) if isinstance(value, tuple) else value
        return out

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Coverage:
        """Read what as_dict wrote. Raises ValueError for an unknown status or a missing source."""
        status = found.get("status")
        if status not in STATUSES or not isinstance(found.get("source"), str):
            raise ValueError(f"coverage needs a source and a status of {', '.join(STATUSES)}, not {status!r}")
        missing = found.get("nodes_missing") or ()
        return cls(
            source=found["source"],
            status=status,
            reason=found.get("reason"),
            detail=str(found.get("detail") or ""),
            nodes_missing=tuple(str(node) for node in missing) if isinstance(missing, (list, tuple)) else (),
            target=found.get("target"),
            asked=_window(found.get("asked")),
            covered=_window(found.get("covered")),
            lines=int(found.get("lines") or 0),
            bytes=int(found.get("bytes") or 0),
            request=found.get("request"),
        )


def merge(source: str, reports: Iterable[Coverage]) -> Coverage:
    """One report for a source from the reports on its targets; `not_collected` when there are none."""
    parts = [part for part in reports if part.source == source]
    if not parts:
        return Coverage(source, "not_collected", detail="Nothing was collected from this source.")
    if len(parts) == 1 and parts[0].target is None:
        return parts[0]
    words = {part.status for part in parts}
    good = words & {"complete", "partial"}
    if words == {"empty"}:
        status: Status = "empty"
    elif not good and words & {"failed"}:
        status = "failed"
    elif not good:
        status = "empty" if "empty" in words else parts[0].status
    else:
        status = "partial" if words & {"partial", "failed"} else "complete"
    worst = next((part for word in ("failed", "partial", "empty") for part in parts if part.status == word), parts[0])
    details = [f"{part.target}: {part.detail}" if part.target else part.detail for part in parts if part.detail]
    missing = dict.fromkeys(node for part in parts for node in part.nodes_missing)
    return Coverage(
        source,
        status,
        reason=None if status == "complete" else worst.reason,
        detail=" ".join(details[:5]) + (f" And {len(details) - 5} more." if len(details) > 5 else ""),
        nodes_missing=tuple(missing),
        asked=_hull(part.asked for part in parts),
        covered=_hull(part.covered for part in parts),
        lines=sum(part.lines for part in parts),
        bytes=sum(part.bytes for part in parts),
        request=next((part.request for part in parts if part.request), None),
    )


def _window(value: Any) -> Window | None:
    if isinstance(value, (list, tuple)) and len(value) == 2:
        return (float(value[0]), float(value[1]))
    return None


def _hull(windows: Iterable[Window | None]) -> Window | None:
    known = [window for window in windows if window]
    return (min(w[0] for w in known), max(w[1] for w in known)) if known else None
