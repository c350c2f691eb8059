"""JSON files: one document, several one after another, or a list that was cut in the middle."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

_LISTS = re.compile(r'"(?:items|jobs|result)"\s*:\s*\[')
_GAP = re.compile(r"[\s,]*")
_DOCUMENTS_LIMIT = 200_000


@dataclass(frozen=True, slots=True)
class Documents:
    """The values, in the file's order, and the file's text. problem: a sentence when not all could be read, else ""."""

    values: tuple[Any, ...]
    text: str
    problem: str = ""


def load_documents(data: bytes) -> Documents | None:
    """Read JSON from the whole file; None when it does not begin like JSON or nothing in it can be read.

    A cut list gives its whole members, wrapped as the list was: {"items": [...]}.
    """
    head = data[:64].lstrip(b"\xef\xbb\xbf \t\r\n")
    if not head.startswith((b"{", b"[")):
        return None
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    try:
        return Documents((json.loads(text),), text)
    except RecursionError:
        return None
    except ValueError as error:
        first = str(error)
    values, end = _one_after_another(text, _GAP.match(text).end())  # type: ignore[union-attr]
    if values and end >= len(text.rstrip()):
        return Documents(tuple(values), text)
    if values:
        return Documents(tuple(values), text, f"After {len(values)} whole JSON values it cannot be read ({first}).")
    found = _LISTS.search(text)
    members, _ = _one_after_another(text, found.end()) if found else ([], 0)
    if not found or not members:
        return None
    name = found[0].split('"')[1]
    whole: dict[str, Any] = {name: members}
    if name == "result":
        whole = {"status": "success", "data": {"resultType": "matrix", "result": members}}
    return Documents((whole,), text, f"The JSON is cut; the first {len(members)} entries were read ({first}).")


def line_of(text: str, at: int) -> tuple[int, int]:
    """(line number, byte offset of the line's start) of a character position."""
    start = text.rfind("\n", 0, at) + 1
    return text.count("\n", 0, at) + 1, len(text[:start].encode("utf-8", "replace"))


def _one_after_another(text: str, at: int) -> tuple[list[Any], int]:
    decoder = json.JSONDecoder()
    values: list[Any] = []
    while at < len(text) and len(values) < _DOCUMENTS_LIMIT:
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        values.append(value)
        at = _GAP.match(text, at).end()  # type: ignore[union-attr]
    return values, at
