"""The job that a bundle is about: who, where, when and how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from telemetry.formats.hostlist import expand

_TEXT = ("cluster", "id", "scheduler", "user", "state", "exit_code", "timezone", "array_task")
_TIME = ("submitted", "started", "ended")
_WHOLE = ("ranks_per_node", "gpus_per_node", "het_component")
_PLAIN = (str, int, float, datetime)
_NOTHING = {"", "~", "null", "none", "unknown", "n/a"}


@dataclass(frozen=True, slots=True)
class JobContext:
    """What is known of the job before any log is read; None or () is "not known".

    Times are aware and in UTC. `exit_code` is Slurm's `code:signal`. `nodes` are in the scheduler's order, so that
    node_of_rank holds. `timezone` is the IANA zone in which the cluster prints times that carry no zone.
    `attempt` counts requeues from 1.
    """

    cluster: str | None = None
    id: str | None = None
    scheduler: str | None = None
    user: str | None = None
    submitted: datetime | None = None
    started: datetime | None = None
    ended: datetime | None = None
    state: str | None = None
    exit_code: str | None = None
    nodes: tuple[str, ...] = ()
    ranks_per_node: int | None = None
    gpus_per_node: int | None = None
    timezone: str | None = None
    array_task: str | None = None
    het_component: int | None = None
    attempt: int = 1

    def node_of_rank(self, rank: int) -> str | None:
        """The node of a global rank under block distribution, or None when the layout is not known."""
        if not self.ranks_per_node or rank < 0:
            return None
        at = rank // self.ranks_per_node
        return self.nodes[at] if at < len(self.nodes) else None

    @classmethod
    def from_dict(cls, found: Mapping[str, Any], complaints: list[str] | None = None) -> JobContext:
        """Read a job from YAML or JSON values. Unknown keys are left out; a value that cannot be read becomes
        None and a sentence in `complaints`."""
        said = complaints if complaints is not None else []
        # Nested values are never turned into text: a few aliases in a YAML file can stand for gigabytes of it.
        found = {key: value for key, value in found.items() if key == "nodes" or isinstance(value, _PLAIN)}
        values: dict[str, Any] = {}
        for name in _TEXT:
            values[name] = _text(found.get(name))
        for name in _TIME:
            values[name] = _moment(name, found.get(name), said)
        for name in (*_WHOLE, "attempt"):
            values[name] = _whole(name, found.get(name), said)
        values["attempt"] = values["attempt"] or 1
        values["nodes"] = _nodes(found.get("nodes"), said)
        if values["state"]:
            values["state"] = values["state"].split(" by ")[0].strip().upper().replace(" ", "_")
        if values["timezone"]:
            try:
                ZoneInfo(values["timezone"])
            except (ValueError, OSError, KeyError):
                said.append(f"job.timezone {values['timezone']!r} is not an IANA zone; it is ignored.")
                values["timezone"] = None
        return cls(**values)

    def as_dict(self) -> dict[str, Any]:
        """JSON values, every key present; times as ISO 8601 with Z. from_dict reads it back."""
        out: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, datetime):
                value = value.astimezone(UTC).isoformat().replace("+00:00", "Z")
            out[field.name] = list(value) if isinstance(value, tuple) else value
        return out

    def filled_from(self, other: JobContext) -> JobContext:
        """This job, with what it does not know taken from `other`."""
        gaps = {
            field.name: getattr(other, field.name)
            for field in fields(self)
            if field.name != "attempt" and getattr(self, field.name) in (None, ())
        }
        return replace(self, **gaps)


def _text(value: Any) -> str | None:
    if value is None:
        return None
    text = str(value).strip()
    return None if text.lower() in _NOTHING and text.lower() != "none" else text or None


def _whole(name: str, value: Any, said: list[str]) -> int | None:
    if value is None or str(value).strip().lower() in _NOTHING:
        return None
    try:
        number = int(str(value).strip())
    except ValueError:
        said.append(f"job.{name} {str(value)[:60]!r} is not a whole number; it is ignored.")
        return None
    return number if number >= 0 else None


def _moment(name: str, value: Any, said: list[str]) -> datetime | None:
    if value is None or str(value).strip().lower() in _NOTHING:
        return None
    text = str(value).strip()
    try:
        if isinstance(value, datetime):
            moment = value
        elif text.replace(".", "", 1).isdigit() and len(text) >= 9:
            moment = datetime.fromtimestamp(float(text), UTC)
        else:
            moment = datetime.fromisoformat(text)
    except (ValueError, OverflowError, OSError):
        said.append(f"job.{name} {text[:60]!r} is not an ISO 8601 time; it is ignored.")
        return None
    # Times of a bundle are UTC by definition when they show no zone.
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _nodes(value: Any, said: list[str]) -> tuple[str, ...]:
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, (list, tuple)):
        return ()
    nodes: list[str] = []
    for item in value:
        if not isinstance(item, (str, int)):
            said.append("job.nodes holds something that is not a name; it is ignored.")
            continue
        try:
            nodes += expand(str(item))
        except ValueError as error:
            said.append(f"job.nodes: {error}")
    return tuple(dict.fromkeys(nodes))
