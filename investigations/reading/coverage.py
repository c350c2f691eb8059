"""What the verdict could see: a matrix of sources and nodes, and each gap in words."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from investigations.reading import words

WIDE = 32  # nodes; above it a column for each would not fit, and the matrix names only nodes with a gap
GLYPHS = {
    "complete": "complete",
    "partial": "partial",
    "empty": "empty",
    "failed": "missing",
    "not_configured": "none",
    "not_collected": "none",
}


@dataclass(frozen=True, slots=True)
class Cell:
    glyph: str
    word: str

    @property
    def bad(self) -> bool:
        return self.glyph in ("partial", "missing")


@dataclass(frozen=True, slots=True)
class SourceRow:
    source: str
    word: str
    status: str
    status_word: str
    cells: tuple[Cell, ...]
    total: str


@dataclass(frozen=True, slots=True)
class Gap:
    """`where` and what happened, the causes that the gap could have shown, whether they could change the answer."""

    where: str
    detail: str
    could_have_shown: tuple[str, ...]
    could_change: bool


@dataclass(frozen=True, slots=True)
class Matrix:
    """`nodes` are the columns: (prefix shared by all, own end of the name)."""

    nodes: tuple[tuple[str, str], ...]
    rows: tuple[SourceRow, ...]
    gaps: tuple[Gap, ...]
    hidden_nodes: int


def matrix(verdict: Mapping[str, Any]) -> Matrix:
    every = list(verdict["job"]["nodes"])
    columns = every
    if len(every) > WIDE:
        odd = {node for part in verdict["coverage"] for node in part["nodes_missing"]}
        columns = [node for node in every if node in odd][:WIDE]
    prefix = _prefix(columns)
    return Matrix(
        nodes=tuple((prefix, node[len(prefix) :] or node) for node in columns),
        rows=tuple(_row(part, columns, len(every)) for part in verdict["coverage"]),
        gaps=tuple(_gap(part) for part in verdict["coverage"] if part["status"] != "complete"),
        hidden_nodes=len(every) - len(columns),
    )


def _row(part: Mapping[str, Any], columns: list[str], total: int) -> SourceRow:
    status = part["status"]
    missing = set(part["nodes_missing"])
    cells = []
    for node in columns:
        if node in missing:
            cells.append(Cell("missing", "missing"))
        elif missing and status == "partial":
            cells.append(Cell("complete", "complete"))
        else:
            cells.append(Cell(GLYPHS.get(status, "none"), words.STATUSES.get(status, status)))
    seen = total - len(missing)
    whole = status == "complete" or (status == "partial" and missing)
    return SourceRow(
        source=part["source"],
        word=words.SOURCE_WORDS.get(part["source"], part["source"]),
        status=status,
        status_word=words.STATUSES.get(status, status),
        cells=tuple(cells),
        total=f"{seen} of {total}" if whole and total else words.STATUSES.get(status, status),
    )


def _gap(part: Mapping[str, Any]) -> Gap:
    missing = part["nodes_missing"]
    source = words.SOURCE_WORDS.get(part["source"], part["source"]).capitalize()
    where = f"{source} {words.STATUSES.get(part['status'], part['status'])}"
    if missing:
        named = ", ".join(missing[:4]) + (f" and {len(missing) - 4} more" if len(missing) > 4 else "")
        where = f"{source} of {named} missing"
    return Gap(
        where=where,
        detail=part["detail"] or "",
        could_have_shown=tuple(part["could_have_shown"]),
        could_change=bool(part["could_change_answer"]),
    )


def _prefix(names: list[str]) -> str:
    """The shared beginning of the names, cut before the digits in which they differ."""
    if len(names) < 2:
        return ""
    low, high = min(names), max(names)
    length = next((n for n, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), min(len(low), len(high)))
    return low[:length].rstrip("0123456789")
