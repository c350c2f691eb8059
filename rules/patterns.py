"""Patterns of rule files: kept linear, kept on one line, and made fit for a scan of whole blocks.

Hyperscan scans a block of many lines at once, so a class such as ``[^,]`` or ``\\s`` could run over a line's end.
``for_scan`` rewrites those so that no pattern can, and takes group names out. ``fault_in`` says why a pattern
cannot be used. RE2 is the judge of syntax: what it refuses (look-around, back-references) has no linear time.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

import re2

from rules.leading import from_literal

_NAMED_GROUP = re.compile(r"\(\?P?<[A-Za-z_]\w*>")
# What each of these matches beside a newline, as the inside of a character class.
_NEWLINE_FREE = {"s": r"[ \t\r\f\x0b]", "D": r"[^0-9\n]", "W": r"[^0-9A-Za-z_\n]"}
# A wide repeat that something must follow, in the same branch or behind the brackets that close it.
_WIDE_REPEAT = re.compile(r"\{(\d+),(\d+)\}\??(?=\)*[^)|?*+{])")
_WIDE: Final = 16
_OPEN_END = re.compile(r"(?:\*|\+|\{\d+,\})\??$")


def _options() -> re2.Options:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    return options


@cache
def compiled(pattern: str) -> re2._Regexp:
    """RE2 over bytes; raises ``re2.error`` for what has no linear time."""
    return re2.compile(pattern.encode("utf-8"), options=_options())


def named_groups(pattern: str, text: bytes) -> dict[str, str] | None:
    """The named groups of the first match in a line, as text; None when there is no match."""
    found = compiled(pattern).search(text)
    return groups_of(found) if found else None


def groups_of(found: re2._Match) -> dict[str, str]:
    """RE2 over bytes names its groups in bytes too."""
    got = found.groupdict()
    return {_text(name): _text(value) for name, value in got.items() if value is not None}


def _text(value: bytes | str) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def for_scan(pattern: str) -> str:
    """The pattern as Hyperscan and ``rg`` are given it: no group names, and nothing that can match a newline."""
    text = _NAMED_GROUP.sub("(", pattern)
    out: list[str] = []
    i, in_class = 0, False
    while i < len(text):
        char = text[i]
        if char == "\\" and i + 1 < len(text):
            follow = text[i + 1]
            if in_class:
                out.append(r" \t\r\f\x0b" if follow == "s" else char + follow)
            else:
                out.append(_NEWLINE_FREE.get(follow, char + follow))
            i += 2
            continue
        if in_class:
            in_class = char != "]"
            out.append(char)
        elif char == "[":
            in_class = True
            out.append(char)
            if text[i + 1 : i + 2] == "^":
                out.append("^\\n")
                i += 1
            if text[i + 1 : i + 2] == "]":  # a literal ] stands first in its class
                out.append("\\]")
                i += 1
        else:
            out.append(char)
        i += 1
    return from_literal(_WIDE_REPEAT.sub(_unbounded, "".join(out)))


def _unbounded(repeat: re.Match[str]) -> str:
    """``.{0,200}`` inside a pattern becomes ``.*``: a counted repeat costs Hyperscan a state for each count, and the
    line's end bounds it anyway. RE2 holds the hit line to the exact count afterwards."""
    low, high = int(repeat[1]), int(repeat[2])
    if high < _WIDE:
        return repeat[0]
    return {0: "*", 1: "+"}.get(low, f"{{{low},}}")


def fault_in(pattern: str) -> str | None:
    """Why a scan cannot use this pattern, as a sentence with the remedy; None when it can."""
    try:
        regex = compiled(pattern)
    except re2.error as error:
        reason = error.args[0] if error.args else error
        reason = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else reason
        return f"RE2 refuses it ({reason}); look-around and back-references have no linear time"
    if regex.search(b""):
        return "it matches an empty line; begin with a literal"
    body = re.sub(r"\)+$", "", _NAMED_GROUP.sub("(", pattern))
    if _OPEN_END.search(body) and not re.search(r"\\(?:\*|\+)$", body):
        return "it ends open (*, + or {n,} last); finish with a literal or a bounded repeat such as {1,5}"
    if "\\n" in pattern or "(?s" in pattern:
        return "it can cross lines; one pattern sees one line"
    return None
