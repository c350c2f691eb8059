"""Slurm's hostlist notation: `gpu-node-[05-08,11],x1`, also with several brackets: `r[1-2]n[01-04]`."""

from __future__ import annotations

import re
from collections.abc import Iterable

LIMIT = 100_000
_NONE = {"", "none assigned", "none", "(null)", "unknown"}
_RANGE = re.compile(r"(\d{1,12})(?:-(\d{1,12}))?")
_TAIL = re.compile(r"(.*?)(\d{1,12})([^\d]*)$", re.S)


def expand(text: str) -> list[str]:
    """All host names, in the order written. "None assigned" and "" give [].

    Raises ValueError for unbalanced brackets, a range that cannot be read, or more than LIMIT names.
    """
    if text.strip().lower() in _NONE:
        return []
    names: list[str] = []
    for part in _split(text):
        names += _expand_one(part.strip(), LIMIT - len(names))
    return names


def collapse(names: Iterable[str]) -> str:
    """The shortest usual writing of the names: sorted, ranges in one bracket, numbers keep their width."""
    groups: dict[tuple[str, str, int], set[int]] = {}
    plain: set[str] = set()
    for name in names:
        found = _TAIL.match(name)
        if not found:
            plain.add(name)
            continue
        head, digits, tail = found.groups()
        # 9 and 10 share a range as one width less than two digits; 09 and 10 as width two.
        width = len(digits) if digits.startswith("0") else 0
        groups.setdefault((head, tail, width), set()).add(int(digits))
    for head, tail, width in sorted(groups):
        numbers = groups.get((head, tail, 0)) if width else None
        if numbers:
            same = {number for number in numbers if len(str(number)) == width}
            groups[head, tail, width] |= same
            numbers -= same
    out = list(plain)
    for (head, tail, width), numbers in groups.items():
        if len(numbers) == 1:
            out.append(f"{head}{next(iter(numbers)):0{width or 1}d}{tail}")
        elif numbers:
            out.append(f"{head}[{_ranges(sorted(numbers), width or 1)}]{tail}")
    return ",".join(sorted(out))


def _ranges(numbers: list[int], width: int) -> str:
    parts: list[str] = []
    start = last = numbers[0]
    for number in [*numbers[1:], -2]:
        if number == last + 1:
            last = number
            continue
        parts.append(f"{start:0{width}d}" if start == last else f"{start:0{width}d}-{last:0{width}d}")
        start = last = number
    return ",".join(parts)


def _split(text: str) -> list[str]:
    parts: list[str] = []
    depth = start = 0
    for at, letter in enumerate(text):
        if letter == "[":
            depth += 1
        elif letter == "]":
            depth -= 1
        elif letter == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
        if depth not in (0, 1):
            raise ValueError(f"the brackets of the node list {text[:80]!r} do not match")
    if depth:
        raise ValueError(f"the node list {text[:80]!r} is cut inside a bracket")
    parts.append(text[start:])
    return [part for part in parts if part.strip()]


def _expand_one(part: str, room: int) -> list[str]:
    open_at = part.find("[")
    if open_at < 0:
        return [part]
    close_at = part.index("]", open_at)
    head, inside, rest = part[:open_at], part[open_at + 1 : close_at], part[close_at + 1 :]
    tails = _expand_one(rest, room)
    names: list[str] = []
    for piece in inside.split(","):
        found = _RANGE.fullmatch(piece.strip())
        if not found:
            raise ValueError(f"{piece[:40]!r} in the node list {part[:80]!r} is not a number or a range")
        low = int(found[1])
        high = int(found[2]) if found[2] else low
        if high < low or (high - low + 1) * len(tails) + len(names) > room:
            raise ValueError(f"the range {piece[:40]!r} in the node list {part[:80]!r} is reversed or too long")
        width = len(found[1])
        names += [f"{head}{number:0{width}d}{tail}" for number in range(low, high + 1) for tail in tails]
    return names
