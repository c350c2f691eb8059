"""Putting reports together, so that there is one for each target."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from telemetry.coverage import Coverage, merge


def one_for_each_target(reports: Iterable[Coverage]) -> tuple[Coverage, ...]:
    """Two logs of one node are one report. A node is missing only when nothing of it came."""
    groups: dict[str | None, list[Coverage]] = {}
    for report in reports:
        groups.setdefault(report.target, []).append(report)
    return tuple(_together(target, parts) for target, parts in groups.items())


def _together(target: str | None, parts: list[Coverage]) -> Coverage:
    if len(parts) == 1:
        return parts[0]
    whole = merge(parts[0].source, [replace(part, target=None) for part in parts])
    came = any(part.status in {"complete", "partial"} and not part.nodes_missing for part in parts)
    missing = () if target is not None and came else whole.nodes_missing
    return replace(whole, target=target, nodes_missing=missing)
