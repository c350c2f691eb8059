"""manifest.json: what was asked for, what came, and what did not. Written by BundleWriter, read by open_bundle."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from telemetry.coverage import Coverage
from telemetry.job import JobContext

SCHEMA = "first-fault/bundle/1"
FILE = "manifest.json"
_SIZE_LIMIT = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class StreamEntry:
    """One stored stream. target: what it was asked of (a node, a pod, a query); redactions: count per kind.

    status: complete | partial (writing was broken off, the start is kept).
    """

    path: str
    source: str
    target: str | None = None
    status: str = "complete"
    lines: int = 0
    bytes: int = 0
    redactions: Mapping[str, int] = field(default_factory=dict)
    detail: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "source": self.source,
            "target": self.target,
            "status": self.status,
            "lines": self.lines,
            "bytes": self.bytes,
            "redactions": dict(sorted(self.redactions.items())),
            "detail": self.detail,
        }

    @classmethod
    def from_dict(cls, item: Mapping[str, Any]) -> StreamEntry:
        """Read what as_dict wrote; only `path` must be there."""
        redactions = item.get("redactions")
        return cls(
            path=item["path"],
            source=str(item.get("source") or item["path"].split("/")[0]),
            target=item.get("target"),
            status=str(item.get("status") or "complete"),
            lines=int(item.get("lines") or 0),
            bytes=int(item.get("bytes") or 0),
            redactions=redactions if isinstance(redactions, dict) else {},
            detail=str(item.get("detail") or ""),
        )


@dataclass(frozen=True, slots=True)
class Manifest:
    """The manifest of a collected bundle. Times of day do not stand in it but in `coverage` windows (epoch seconds)."""

    job: JobContext
    coverage: tuple[Coverage, ...] = ()
    streams: tuple[StreamEntry, ...] = ()
    collected_by: str = ""
    collected_at: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "collected_by": self.collected_by,
            "collected_at": self.collected_at,
            "job": self.job.as_dict(),
            "coverage": [report.as_dict() for report in self.coverage],
            "streams": [entry.as_dict() for entry in self.streams],
        }


def load(root: Path, complaints: list[str]) -> Manifest | None:
    """The manifest of a bundle folder, None when there is none or it cannot be read (then `complaints` says why)."""
    path = root / FILE
    if not path.is_file():
        return None
    try:
        if path.stat().st_size > _SIZE_LIMIT:
            complaints.append(f"It is longer than {_SIZE_LIMIT} bytes.")
            return None
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        complaints.append(f"It cannot be read: {error}.")
        return None
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        complaints.append(f"It does not say schema {SCHEMA!r}.")
        return None
    job = found.get("job")
    return Manifest(
        job=JobContext.from_dict(job if isinstance(job, dict) else {}, complaints),
        coverage=tuple(_reports(found.get("coverage"), complaints)),
        streams=tuple(_entries(found.get("streams"))),
        collected_by=str(found.get("collected_by") or ""),
        collected_at=str(found.get("collected_at") or ""),
    )


def _reports(found: Any, complaints: list[str]) -> list[Coverage]:
    reports: list[Coverage] = []
    for item in found if isinstance(found, list) else []:
        try:
            reports.append(Coverage.from_dict(item if isinstance(item, dict) else {}))
        except (ValueError, TypeError) as error:
            complaints.append(f"{error}.")
    return reports


def _entries(found: Any) -> list[StreamEntry]:
    entries: list[StreamEntry] = []
    for item in found if isinstance(found, list) else []:
        if not isinstance(item, dict) or not isinstance(item.get("path"), str):
            continue
        entries.append(StreamEntry.from_dict(item))
    return entries
