"""Log lines that are safe to look at: hostile characters are shown, never obeyed.

A log can hold terminal escapes, control characters, marks that turn the direction of text, and HTML. Pages escape HTML
themselves; this module cuts a line into pieces so that all the rest stands as a small sign with its name.
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import Any

# An escape sequence as a terminal would take it: ESC (also drawn as its picture), `[`, parameters, one last letter.
_ESCAPE = r"[\x1b\u241b]\[[0-9;?]{0,32}[ -/]{0,4}[@-~]"
_CONTROL = r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2400-\u2421\u2028\u2029\ufffd]"
_UNSEEN = r"[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
_ODD = re.compile(f"({_ESCAPE}|{_CONTROL}|{_UNSEEN})")


@dataclass(frozen=True, slots=True)
class Piece:
    """`odd` pieces are signs for what cannot be printed; `name` says what it is. `hit` marks what the rule found."""

    text: str
    odd: bool = False
    name: str = ""
    hit: bool = False


@dataclass(frozen=True, slots=True)
class ReadableLine:
    number: int
    pieces: tuple[Piece, ...]
    cut: bool
    evidence: tuple[Any, ...]
    anchor: bool
    first: bool


def readable(window: Any) -> tuple[ReadableLine, ...]:
    """The lines of a log window, cut into pieces."""
    shown = []
    for line in window.lines:
        marks = line.evidence
        parts = pieces(line.text)
        if marks:
            parts = _with_hit(parts, _message_start(line.text))
        shown.append(
            ReadableLine(
                number=line.number,
                pieces=parts,
                cut=line.cut,
                evidence=tuple(marks),
                anchor=line.anchor,
                first=any(mark.role == "cause" for mark in marks),
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
        return Piece("\N{SYMBOL FOR ESCAPE}" + part[1:], odd=True, name="terminal escape")
    code = ord(part)
    if code < 0x20:
        return Piece(chr(0x2400 + code), odd=True, name=f"control character {code:02X}")
    if code == 0x7F:
        return Piece("\N{SYMBOL FOR DELETE}", odd=True, name="control character 7F")
    if 0x2400 <= code <= 0x2421:
        return Piece(part, odd=True, name="control character")
    if code == 0xFFFD:
        return Piece(part, odd=True, name="bytes that are not UTF-8")
    return Piece(f"U+{code:04X}", odd=True, name=unicodedata.name(part, f"control character {code:02X}").lower())


def _message_start(text: str) -> int:
    """Where the message begins after time, host and program, so that the mark covers what was said."""
    from telemetry.formats.prefix import parse_prefix

    raw = text.encode("utf-8", "replace")
    try:
        body = parse_prefix(raw).body
    except (ValueError, IndexError):
        return 0
    return len(raw[:body].decode("utf-8", "replace"))


def _with_hit(parts: tuple[Piece, ...], start: int) -> tuple[Piece, ...]:
    marked: list[Piece] = []
    place = 0
    for part in parts:
        end = place + len(part.text)
        if part.odd or end <= start:
            marked.append(part)
        elif place >= start:
            marked.append(Piece(part.text, hit=True))
        else:
            cut = start - place
            marked += [Piece(part.text[:cut]), Piece(part.text[cut:], hit=True)]
        place = end
    return tuple(marked)
