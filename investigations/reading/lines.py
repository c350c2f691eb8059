"""Log lines that are safe to look at: hostile characters are shown, never obeyed.

A log can hold terminal escapes, control characters, marks that turn the direction of text, and HTML. Pages escape HTML
themselves; this module cuts a line into pieces so that all the rest stands as a small sign with its name.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from investigations.reading import hits

# An escape sequence as a terminal would take it: ESC (also drawn as its picture), `[`, parameters, one last letter.
_ESCAPE = r"[\x1b\u241b]\[[0-9;?]{0,32}[ -/]{0,4}[@-~]"
_CONTROL = r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2400-\u2421\u2028\u2029\ufffd]"
_UNSEEN = r"[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
_ODD = re.compile(f"({_ESCAPE}|{_CONTROL}|{_UNSEEN})")
_RECORD = 600  # characters of a record's raw line, once it is told how it was read


@dataclass(frozen=True, slots=True)
class Piece:
    """`odd` pieces are signs for what cannot be printed; `name` says what it is. `hit` marks what the rule found.

    `stands_for` is the number of characters of the line, where the sign has another length.
    """

    text: str
    odd: bool = False
    name: str = ""
    hit: bool = False
    stands_for: int = 0

    @property
    def width(self) -> int:
        return self.stands_for or len(self.text)


@dataclass(frozen=True, slots=True)
class ReadableLine:
    number: int
    pieces: tuple[Piece, ...]
    cut: bool
    evidence: tuple[Any, ...]
    anchor: bool
    first: bool
    read_as: str = ""


def readable(window: Any, evidence: Mapping[str, Mapping[str, Any]], blamed: bool = True) -> tuple[ReadableLine, ...]:
    """The lines of a log window, cut into pieces. `evidence`: the verdict's items by their id.
    `blamed`: whether its causes are the fault, and not candidates for it.

    A line of a record (an object of JSON, a row of a table) is read as another text, which then stands in `read_as`.
    """
    shown = []
    for line in window.lines:
        marks = line.evidence
        parts = pieces(line.text)
        read_as = ""
        if marks:
            items = [evidence[mark.evidence_id] for mark in marks if mark.evidence_id in evidence]
            found = [span for item in items if (span := hits.span(item["signature"], line.text))]
            if not found and window.stream.endswith(".json"):
                read_as = next((item["text"] for item in items if item["text"] not in line.text), "")
                parts = pieces(line.text[:_RECORD]) if read_as else parts
            else:
                found = found or [(_message_start(line.text), len(line.text))]
                parts = _with_hit(parts, min(start for start, _ in found), max(end for _, end in found))
        shown.append(
            ReadableLine(
                number=line.number,
                pieces=parts,
                cut=line.cut or bool(read_as and len(line.text) > _RECORD),
                evidence=tuple(marks),
                anchor=line.anchor,
                first=blamed and any(mark.role == "cause" for mark in marks),
                read_as=read_as,
            )
        )
    return tuple(shown)


def pieces(text: str) -> tuple[Piece, ...]:
    """`text` in pieces; joined, their texts say the same, with signs in place of what cannot be seen."""
    found = []
    for number, part in enumerate(_ODD.split(text)):
        if part:
            found.append(_odd(part) if number % 2 else Piece(part))
    return tuple(found)


def _odd(part: str) -> Piece:
    if len(part) > 1:
        return Piece("\N{SYMBOL FOR ESCAPE}" + part[1:], odd=True, name="terminal escape", stands_for=len(part))
    code = ord(part)
    if code < 0x20:
        return Piece(chr(0x2400 + code), odd=True, name=f"control character {code:02X}")
    if code == 0x7F:
        return Piece("\N{SYMBOL FOR DELETE}", odd=True, name="control character 7F")
    if 0x2400 <= code <= 0x2421:
        return Piece(part, odd=True, name="control character")
    if code == 0xFFFD:
        return Piece(part, odd=True, name="bytes that are not UTF-8")
    name = unicodedata.name(part, f"control character {code:02X}").lower()
    return Piece(f"U+{code:04X}", odd=True, name=name, stands_for=1)


def _message_start(text: str) -> int:
    """Where the message begins after time, host and program, so that the mark covers what was said."""
    from telemetry.formats.prefix import parse_prefix

    raw = text.encode("utf-8", "replace")
    try:
        body = parse_prefix(raw).body
    except (ValueError, IndexError):
        return 0
    return len(raw[:body].decode("utf-8", "replace"))


def _with_hit(parts: tuple[Piece, ...], start: int, end: int) -> tuple[Piece, ...]:
    """The pieces with the characters from `start` to `end` of the line marked. Signs are never marked."""
    marked: list[Piece] = []
    place = 0
    for part in parts:
        length = part.width
        if part.odd:
            marked.append(part)
        else:
            left, right = (min(max(edge - place, 0), length) for edge in (start, end))
            cuts = ((part.text[:left], False), (part.text[left:right], True), (part.text[right:], False))
            marked += [Piece(text, hit=hit) for text, hit in cuts if text]
        place += length
    return tuple(marked)
