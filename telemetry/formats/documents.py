"""JSON files: one document, several one after another, or a list that was cut in the middle."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

_LISTS = re.compile(r'"(?:items|jobs|result)"\s*:\s*\[')
_KIND = re.compile(r'"kind"\s*:\s*"(\w{1,80}List)"')
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
    kind = _KIND.search(text, 0, found.start())
    # Members of a typed list do not say their kind: the head of the list does.
    whole: dict[str, Any] = {name: members, **({"kind": kind[1], "apiVersion": "v1"} if kind else {})}
    if name == "result":
        whole = {"status": "success", "data": {"resultType": "matrix", "result": members}}
    return Documents((whole,), text, f"The JSON is cut; the first {len(members)} entries were read ({first}).")


class Cursor:
    """Finds where parts of a document stand in its text, going forward only."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._start = 0
        self._counted = 0
        self._place = (1, 0)

    def find(self, part: str) -> tuple[int, int]:
        """(line number, byte offset of that line) of the next place of `part`; the last place when there is none."""
        seen = self._text.find(part, self._at)
        if seen < 0:
            return self._place
        # From where counting stopped, not from the line's start: a file of many megabytes may be one line.
        newlines = self._text.count("\n", self._counted, seen)
        self._counted = seen
        if newlines:
            start = self._text.rfind("\n", 0, seen) + 1
            line, offset = self._place
            self._place = (line + newlines, offset + len(self._text[self._start : start].encode("utf-8", "replace")))
            self._start = start
        self._at = seen + 1
        return self._place

    def has(self, part: str) -> bool:
        """Whether `part` comes from here on."""
        return self._text.find(part, self._at) >= 0


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
