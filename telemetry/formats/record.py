"""A record: one entry of structured telemetry as a line of text that patterns can match."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_SPACE = re.compile(r"\s+")
_WORD_LIMIT = 200
_MESSAGE_LIMIT = 2000


@dataclass(frozen=True, slots=True)
class Record:
    """text: `kind key=value ... message=rest of the line`, keys in a fixed order, `-` for what is absent.

    line, offset: where it stands in the stream (1-based, bytes). time: epoch seconds, or None; the true time is in
    [time, time + precision]; `local` says that it carries no zone and was taken as UTC. fields: more, for rules.
    """

    line: int
    offset: int
    time: float | None
    precision: float
    local: bool
    node: str | None
    text: str
    fields: Mapping[str, str] = field(default_factory=dict)


def word(value: object) -> str:
    """A value without spaces or `=`, so that a user's text cannot look like another key; `-` for nothing."""
    text = "" if value is None else str(value).strip()
    return _SPACE.sub("_", text[:_WORD_LIMIT]).replace("=", ":") or "-"


def message(value: object) -> str:
    """Free text on one line, for the end of a record; `-` for nothing."""
    text = "" if value is None else str(value)
    return _SPACE.sub(" ", text[:_MESSAGE_LIMIT]).strip() or "-"


def words(kind: str, pairs: Mapping[str, object], tail: tuple[str, object] | None = None) -> str:
    """The canonical text of a record."""
    parts = [kind, *(f"{key}={word(value)}" for key, value in pairs.items())]
    if tail:
        parts.append(f"{tail[0]}={message(tail[1])}")
    return " ".join(parts)
