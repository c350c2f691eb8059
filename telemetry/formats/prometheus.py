"""Prometheus answers (/api/v1/query_range, resultType matrix) as series and as records.

Values are strings ("NaN", "+Inf", "1e+06"). A missing point is not 0: a scrape failed or the series ended.
DCGM_FI_DEV_XID_ERRORS is a gauge of the last Xid that stays for hours, so only its changes say anything.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from statistics import median_low
from typing import Any

from telemetry.formats.documents import Cursor, Documents
from telemetry.formats.record import Record, word, words

_NODE_LABELS = ("Hostname", "hostname", "nodename", "node", "host", "kubernetes_node", "exported_instance", "instance")
_DEVICE_LABELS = ("gpu", "device", "chip", "interface", "nvlink", "port")
# Quantities that move all the time: their changes are not events.
_MEASURED = ("TEMP", "UTIL", "POWER", "_CLOCK", "FB_", "temp_", "_bytes", "_seconds", "_watts", "_ratio", "MEMORY")
_EVENTS = ("THROTTLE", "VIOLATION", "boot_time", "_hours", "EVENT")
# Labels that come and go while the thing that is measured stays the same.
_PASSING = frozenset(
    {"hpc_job", "instance", "job", "pod", "namespace", "container", "service", "endpoint", "prometheus", "exported_pod"}
    | {"exported_namespace", "exported_container", "exported_job", "uid", "vgpu", "DCGM_FI_DRIVER_VERSION"}
)
_DISTINCT_LIMIT = 24
_CHANGES_LIMIT = 200


@dataclass(frozen=True, slots=True)
class Series:
    """One time series: labels (with __name__ where given) and (epoch seconds, value) points in order, NaN left out.

    at: which of the answer's series it is, from 0.
    """

    labels: dict[str, str]
    points: tuple[tuple[float, float], ...]
    at: int = 0

    @property
    def name(self) -> str:
        return self.labels.get("__name__", "-")

    @property
    def node(self) -> str | None:
        """The host, without the exporter's port. DCGM's `Hostname` goes before `instance`, which may be a pod's."""
        for label in _NODE_LABELS:
            value = self.labels.get(label)
            if value:
                head, _, port = value.rpartition(":")
                return head if port.isdigit() and head else value
        return None

    @property
    def device(self) -> str | None:
        return next((self.labels[label] for label in _DEVICE_LABELS if self.labels.get(label)), None)


def is_prometheus(found: Any) -> bool:
    """Whether a JSON value is an answer of the Prometheus query API."""
    return isinstance(found, dict) and "status" in found and ("data" in found or "errorType" in found)


def error_of(found: dict[str, Any]) -> str | None:
    """The error that the server answered with, None when it answered with data."""
    if found.get("status") != "error":
        return None
    return f"{found.get('errorType') or 'error'}: {found.get('error') or 'no message'}"


def matrix(found: Any) -> list[Series]:
    """The series of an answer; a vector's series have one point; scalar and string results have none."""
    data = found.get("data") if isinstance(found, dict) else None
    result = data.get("result") if isinstance(data, dict) else None
    series: list[Series] = []
    for at, item in enumerate(result if isinstance(result, list) else []):
        if not isinstance(item, dict):
            continue
        labels = item.get("metric")
        values = item.get("values")
        if values is None and "value" in item:
            values = [item["value"]]
        points = [point for pair in values if (point := _point(pair))] if isinstance(values, list) else []
        named = {str(key): str(value) for key, value in labels.items()} if isinstance(labels, dict) else {}
        series.append(Series(named, tuple(points), at))
    return series


def joined(found: list[Series]) -> list[Series]:
    """Series of the same thing put together: a job label that appears while a job runs, or a restarted exporter, makes
    two of one GPU. The labels are those of the part that was seen last."""
    parts: dict[tuple[object, ...], list[Series]] = {}
    for series in found:
        rest = tuple(sorted((k, v) for k, v in series.labels.items() if k not in _PASSING and k not in _NODE_LABELS))
        parts.setdefault((series.node, rest), []).append(series)
    return [same[0] if len(same) == 1 else _one(same) for same in parts.values()]


def _one(same: list[Series]) -> Series:
    points: dict[float, float] = {}
    for series in same:
        points.update(series.points)
    last = max(same, key=lambda series: series.points[-1][0] if series.points else 0.0)
    return Series(last.labels, tuple(sorted(points.items())), same[0].at)


def prometheus_records(documents: Documents) -> Iterator[Record]:
    """For every series one `metric` record (time: when its maximum was first seen), then its changes in time order.

    A change lies between two points: its record's time is that of the point before, its precision the distance.
    gap: seconds without points between two points, beyond the usual distance; ended_early: seconds by which the last
    point comes before the last of all series in the file.
    """
    cursor = Cursor(documents.text)
    for document in documents.values:
        all_series = matrix(document)
        last = max((series.points[-1][0] for series in all_series if series.points), default=0.0)
        places = [cursor.find('"metric"') for _ in all_series]
        for series in joined(all_series):
            if series.points:
                yield from _records(series, last, places[series.at])


def _records(series: Series, last: float, where: tuple[int, int]) -> Iterator[Record]:
    points = series.points
    top_time, top = max(points, key=lambda point: (point[1], -point[0]))
    steps = [later[0] - earlier[0] for earlier, later in pairwise(points)]
    step = median_low(steps) if steps else 0.0
    named = {"name": series.name, "node": series.node, "device": series.device}
    fields = {f"label_{key}": word(value) for key, value in sorted(series.labels.items()) if key != "__name__"}
    pairs = {
        **named,
        "first": _shown(points[0][1]),
        "last": _shown(points[-1][1]),
        "min": _shown(min(value for _, value in points)),
        "max": _shown(top),
        "points": len(points),
        "gap": _shown(max(max(steps, default=0.0) - step, 0.0)),
        "ended_early": _shown(max(last - points[-1][0], 0.0)),
    }
    more = {
        **fields,
        **{key: word(value) for key, value in pairs.items()},
        "first_seconds": _shown(points[0][0]),
        "last_seconds": _shown(points[-1][0]),
        "step": _shown(step),
    }
    yield Record(*where, top_time, 0.001, False, series.node, words("metric", pairs), more)
    if not _has_events(series):
        return
    told = 0
    for (before, old), (after, new) in pairwise(points):
        if old == new or told >= _CHANGES_LIMIT:
            continue
        told += 1
        change = {**named, "from": _shown(old), "to": _shown(new)}
        yield Record(
            *where,
            before,
            after - before,
            False,
            series.node,
            words("metric_change", change),
            {**fields, **{key: word(value) for key, value in change.items()}, "seen_seconds": _shown(after)},
        )


def _has_events(series: Series) -> bool:
    if any(part in series.name for part in _MEASURED) and not any(part in series.name for part in _EVENTS):
        return False
    return len({value for _, value in series.points}) <= _DISTINCT_LIMIT


def _point(pair: Any) -> tuple[float, float] | None:
    if not isinstance(pair, list) or len(pair) != 2:
        return None
    try:
        time, value = float(pair[0]), float(pair[1])
    except (TypeError, ValueError):
        return None
    return None if math.isnan(value) or not math.isfinite(time) else (time, value)


def _shown(value: float) -> str:
    if math.isfinite(value) and value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return "+Inf" if value == math.inf else "-Inf" if value == -math.inf else f"{value:.10g}"
