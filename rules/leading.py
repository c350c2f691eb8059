"""Where a pattern should begin for a scan: at the first literal, not at what any line could begin with.

``[\\w.-]+:\\d+:\\d+ \\[\\d+\\] .*NET/IB`` makes a scanner start an automaton in nearly every line of a log in which all
lines begin so; ``NET/IB`` costs next to nothing. What is dropped in front only makes the scan find more lines, never
fewer, and the hit line is held to the whole pattern afterwards.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

# Fewer literal characters than ENOUGH are found in too many lines to begin with; RARE ones in few.
ENOUGH: Final = 4
RARE: Final = 8
_QUANTIFIER = re.compile(r"(?:[*+?]|\{\d+(?:,\d*)?\})\??")
_SIMPLE_ESCAPES: Final = frozenset("dDsSwWbBAzZQE0123456789xpP")
_FLAGS = re.compile(r"^\(\?[ims]+\)")


class _Token(NamedTuple):
    text: str
    literal: bool
    group: bool


def _group_end(pattern: str, start: int) -> int:
    """The index behind the bracket that closes the group which opens at ``start``."""
    depth, i = 0, start
    while i < len(pattern):
        char = pattern[i]
        if char == "\\":
            i += 2
            continue
        if char == "[":
            i = _class_end(pattern, i)
            continue
        depth += (char == "(") - (char == ")")
        i += 1
        if depth == 0:
            return i
    return len(pattern)


def _class_end(pattern: str, start: int) -> int:
    i = start + 1
    if pattern[i : i + 1] == "^":
        i += 1
    if pattern[i : i + 1] == "]":
        i += 1
    while i < len(pattern) and pattern[i] != "]":
        i += 2 if pattern[i] == "\\" else 1
    return i + 1


def _tokens(pattern: str) -> list[_Token] | None:
    """The items of one branch; None when it has alternatives at its top level."""
    tokens = []
    i = 0
    while i < len(pattern):
        start, char = i, pattern[i]
        literal = group = False
        if char == "|":
            return None
        if char == "\\":
            i += 2
            literal = pattern[start + 1 : i] not in _SIMPLE_ESCAPES
            if not literal and pattern[start + 1 : i] in ("x", "p", "P"):
                return None  # an escape of more characters: leave such a pattern as it is
        elif char == "[":
            i = _class_end(pattern, i)
        elif char == "(":
            i = _group_end(pattern, i)
            group = True
        else:
            i += 1
            literal = char not in ".^$"
        found = _QUANTIFIER.match(pattern, i)
        if found:
            i = found.end()
            literal = group = False
        tokens.append(_Token(pattern[start:i], literal, group))
    return tokens


def _branches(body: str) -> list[str]:
    """The alternatives of a group's inside."""
    parts, start, i = [], 0, 0
    while i < len(body):
        char = body[i]
        if char == "\\":
            i += 2
        elif char == "[":
            i = _class_end(body, i)
        elif char == "(":
            i = _group_end(body, i)
        else:
            if char == "|":
                parts.append(body[start:i])
                start = i + 1
            i += 1
    return [*parts, body[start:]]


def _inside(group: str) -> tuple[str, str] | None:
    """(opening, inside) of a group that neither names nor negates anything."""
    for opening in ("(?:", "(?i:", "("):
        if group.startswith(opening) and not (opening == "(" and group.startswith("(?")):
            return opening, group[len(opening) : -1]
    return None


def from_literal(pattern: str) -> str:
    """The same pattern without what stands before its first telling literal, in each of its branches."""
    flags = _FLAGS.match(pattern)
    if flags:
        return flags[0] + from_literal(pattern[flags.end() :])
    tokens = _tokens(pattern)
    if tokens is None:
        branches = _branches(pattern)
        return "|".join(from_literal(b) for b in branches) if len(branches) > 1 else pattern
    if len(tokens) == 1 and tokens[0].group:
        inside = _inside(tokens[0].text)
        if inside:
            return inside[0] + "|".join(from_literal(b) for b in _branches(inside[1])) + ")"
    runs = _runs(tokens)
    best = next((r for r in runs if r[1] >= RARE), None) or max(runs, key=lambda r: r[1], default=(0, 0))
    return "".join(t.text for t in tokens[best[0] :]) if best[1] >= ENOUGH else pattern


def _runs(tokens: list[_Token]) -> list[tuple[int, int]]:
    """(where it begins, how long it is) of every run of literal characters."""
    runs: list[tuple[int, int]] = []
    length = 0
    for number, token in enumerate([*tokens, _Token("", False, False)]):
        if token.literal:
            length += 1
        else:
            if length:
                runs.append((number - length, length))
            length = 0
    return runs
