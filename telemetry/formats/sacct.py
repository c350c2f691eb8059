"""Slurm accounting rows from `sacct` text (-P, --parsable, any delimiter, or the default columns).

What the rows mean, and their traps (a code over 128 shown less 128, an OOM that only the step row shows, a job
COMPLETED with failed steps), is told at https://slurm.schedmd.com/sacct.html and was checked on Slurm 22.05.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations_with_replacement

from telemetry.formats.hostlist import expand
from telemetry.formats.times import Moment, moment

STATES = frozenset(
    {
        *("BOOT_FAIL", "CANCELLED", "COMPLETED", "COMPLETING", "CONFIGURING", "DEADLINE", "FAILED", "LAUNCH_FAILED"),
        *("NODE_FAIL", "OUT_OF_MEMORY", "PENDING", "PREEMPTED", "REQUEUED", "REQUEUE_HOLD", "RESIZING", "REVOKED"),
        *("RUNNING", "SPECIAL_EXIT", "STOPPED", "SUSPENDED", "TIMEOUT"),
    }
)
# Columns that users fill: a delimiter inside them is not escaped.
_FREE = ("jobname", "comment", "submitline", "admincomment", "systemcomment", "workdir", "container", "extra")
_JOB_ID = re.compile(r"(\d+(?:_(?:\d+|\[[^\]]{1,200}\]))?(?:\+\d+)?)(?:\.(\w+))?")
_SHAPES = {
    "state": re.compile(r"(?:" + "|".join(sorted(STATES)) + r")(?: by \d+)?\+?"),
    "exitcode": re.compile(r"(?:\d+:\d+)?"),
    "derivedexitcode": re.compile(r"(?:\d+:\d+)?"),
    "start": re.compile(r"(?:\d[\dT:.-]*|Unknown|None|)"),
    "end": re.compile(r"(?:\d[\dT:.-]*|Unknown|None|)"),
    "submit": re.compile(r"(?:\d[\dT:.-]*|Unknown|None|)"),
    "elapsed": re.compile(r"(?:[\d:.-]+|)"),
    "nnodes": re.compile(r"\d*K?"),
    "ntasks": re.compile(r"\d*K?"),
    "jobidraw": re.compile(r"\d+(?:\.\w+)?"),
    "alloctres": re.compile(r"(?:[\w/:]+=[^,]*(?:,[\w/:]+=[^,]*)*)?"),
    "user": re.compile(r"\S*"),
    "partition": re.compile(r"[\w,.-]*"),
    "nodelist": re.compile(r"(?:None assigned|[\w.,\[\]-]*)"),
}
_SIZES = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3, "T": 1024**4, "P": 1024**5}
_WAYS_LIMIT = 500
_JOIN_LIMIT = 5


@dataclass(frozen=True, slots=True)
class SacctRow:
    """One row: a job (step None) or a step ('batch', 'extern', 'interactive' or a number as text).

    job_id as shown (10_3, 20+1), raw_id as the database has it, None when not asked for. state is the bare word; by is
    who cancelled, or None: a uid in the text form, a name in JSON. exit and derived are "code:signal" as shown, None
    when empty.
    elapsed, limit: seconds (limit None for UNLIMITED or not known). maxrss: bytes. values: the row as printed, by
    column name in lower case. line, offset: where the row starts in the text.
    """

    line: int
    offset: int
    job_id: str
    step: str | None
    state: str
    by: str | None = None
    raw_id: str | None = None
    name: str = ""
    user: str | None = None
    uid: str | None = None
    cluster: str | None = None
    exit: str | None = None
    derived: str | None = None
    nodelist: str = ""
    nodes: tuple[str, ...] = ()
    submit: Moment | None = None
    start: Moment | None = None
    end: Moment | None = None
    elapsed: int | None = None
    limit: int | None = None
    maxrss: int | None = None
    reqmem: str | None = None
    reason: str | None = None
    values: Mapping[str, str] = field(default_factory=dict)

    @property
    def by_owner(self) -> bool | None:
        """Whether the job's own user cancelled it; None when it was not cancelled or that cannot be told."""
        if self.by is None:
            return None
        if self.by in (self.user, self.uid):
            return True
        if self.by in ("0", "root"):
            return False
        known = self.uid if self.by.isdigit() else self.user
        return False if known else None


def parse_text(
    data: bytes, delimiter: str | None = None, problems: list[tuple[int, str]] | None = None
) -> list[SacctRow]:
    """All rows, in the order printed. What cannot be read is left out and told in `problems` as (line, sentence)."""
    said = problems if problems is not None else []
    lines = _Lines(data)
    header = _header(lines, delimiter, said)
    if header is None:
        return []
    names, split = header
    rows: list[SacctRow] = []
    once: dict[str, str] = {}  # most cells stand in many rows; each text is kept once
    for number, offset, text in _whole_rows(lines, names, split, said):
        cells = [once.setdefault(cell, cell) for cell in _cells(split(text), names)]
        row = _row(number, offset, dict(zip(names, cells, strict=False)), said)
        if row:
            rows.append(row)
    return rows


def looks_like_sacct(head: bytes) -> bool:
    """Whether the start of a file is a sacct table with a header."""
    lines = head.lstrip(b"\xef\xbb\xbf").split(b"\n", 40)
    return any(b"JobID" in line and b"State" in line for line in lines[:40])


def seconds(text: str) -> int | None:
    """`[days-]hours:minutes:seconds[.fraction]` in whole seconds, None for UNLIMITED, Partition_Limit and the like."""
    found = re.fullmatch(r"(?:(\d{1,6})-)?(?:(\d{1,6}):)?(\d{1,6}):(\d{1,3})(?:\.\d+)?", text.strip())
    if not found:
        return None
    days, hours, minutes, rest = (int(part or 0) for part in found.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + rest


def size(text: str) -> int | None:
    """`3948K`, `1.5G`, `0` in bytes (units of 1024, as Slurm counts)."""
    found = re.fullmatch(r"(\d{1,18}(?:\.\d{1,9})?)([KMGTP]?)[nc]?", text.strip())
    return int(float(found[1]) * _SIZES[found[2]]) if found else None


class _Lines:
    """Lines with their number and byte offset; a cursor that can be put one line on."""

    def __init__(self, data: bytes) -> None:
        self.items: list[tuple[int, int, str]] = []
        offset = 0
        for number, raw in enumerate(data.split(b"\n"), 1):
            text = raw.removesuffix(b"\r").decode("utf-8", "replace")
            self.items.append((number, offset, text.removeprefix("\ufeff") if number == 1 else text))
            offset += len(raw) + 1
        self.at = 0


class _Fixed:
    """Splits the default output by the widths of its line of dashes."""

    def __init__(self, dashes: str) -> None:
        self.spans = [found.span() for found in re.finditer(r"-+", dashes)]

    def __call__(self, text: str) -> list[str]:
        return [text[start:end].strip() for start, end in self.spans]


class _Delimited:
    def __init__(self, delimiter: str) -> None:
        self.delimiter = delimiter

    def __call__(self, text: str) -> list[str]:
        return text.split(self.delimiter)


def _header(
    lines: _Lines, delimiter: str | None, said: list[tuple[int, str]]
) -> tuple[list[str], _Fixed | _Delimited] | None:
    for at, (number, _, text) in enumerate(lines.items):
        if text.startswith(("sacct: error:", "slurm_", "sacct: fatal:")):
            said.append((number, f"sacct failed: {text[:200]}"))
            continue
        if not text.strip():
            continue
        lines.at = at + 1
        following = lines.items[at + 1][2] if at + 1 < len(lines.items) else ""
        if re.fullmatch(r"[ -]*-{2,}[ -]*", following):
            fixed = _Fixed(following)
            lines.at = at + 2
            return [name.lower() for name in fixed(text)], fixed
        if "JobID" not in text:
            lines.at = at
            return _headerless(text, delimiter, number, said)
        sign = delimiter or _delimiter(text)
        names = [name.strip().lower() for name in text.split(sign)]
        return names, _Delimited(sign)
    return None


def _delimiter(header: str) -> str:
    rest = re.sub(r"[A-Za-z0-9_%]+", " ", header).split(" ")
    signs = [sign for sign in rest if sign]
    return max(set(signs), key=lambda sign: (signs.count(sign), sign)) if signs else "|"


def _headerless(
    text: str, delimiter: str | None, number: int, said: list[tuple[int, str]]
) -> tuple[list[str], _Delimited] | None:
    """Without a header only columns that can be told by their shape are used."""
    sign = delimiter or ("\x1f" if "\x1f" in text else "|")
    cells = text.split(sign)
    if len(cells) < 2 or not _JOB_ID.fullmatch(cells[0].strip()):
        said.append((number, "There is no sacct header and the first row cannot be understood without one."))
        return None
    said.append((number, "There is no sacct header; columns were told by their shape."))
    names = ["jobid"]
    for at, cell in enumerate(cells[1:], 1):
        fits = [name for name in ("state", "exitcode") if name not in names and cell and _SHAPES[name].fullmatch(cell)]
        names.append(fits[0] if fits else f"column{at}")
    return (names, _Delimited(sign)) if "state" in names else None


def _whole_rows(
    lines: _Lines, names: list[str], split: _Fixed | _Delimited, said: list[tuple[int, str]]
) -> Iterator[tuple[int, int, str]]:
    """Rows, with those put together again that a newline in a job's name or comment broke."""
    items = lines.items
    at = lines.at
    while at < len(items):
        number, offset, text = items[at]
        at += 1
        if not text.strip():
            continue
        joined = 0
        while isinstance(split, _Delimited) and len(split(text)) < len(names) and joined < _JOIN_LIMIT:
            following = items[at][2] if at < len(items) else ""
            if not following.strip() or _JOB_ID.fullmatch(split(following)[0].strip()):
                break
            text += " " + following
            at += 1
            joined += 1
        if isinstance(split, _Delimited) and len(split(text)) < len(names):
            said.append((number, "The row is cut: it has fewer columns than the header."))
        yield number, offset, text


def _cells(cells: list[str], names: list[str]) -> list[str]:
    """Cells for the columns when a free-text column holds the delimiter: the split whose other cells look right."""
    extra = len(cells) - len(names)
    if extra == 1 and cells[-1] == "":
        return cells[:-1]
    if extra <= 0:
        return cells
    free = [at for at, name in enumerate(names) if name in _FREE]
    best, best_score = cells[: len(names)], -1
    for tried, ways in enumerate(combinations_with_replacement(free, extra)):
        if tried >= _WAYS_LIMIT:
            break
        out: list[str] = []
        at = 0
        for column in range(len(names)):
            width = 1 + ways.count(column)
            out.append("|".join(cells[at : at + width]))
            at += width
        score = sum(
            1 for name, cell in zip(names, out, strict=True) if name in _SHAPES and _SHAPES[name].fullmatch(cell)
        )
        if score > best_score:
            best, best_score = out, score
    return best


def _state(word: str) -> str | None:
    """The state; the default output cuts long ones (OUT_OF_ME+)."""
    word = word.upper().replace(" ", "_")
    if word.endswith("+"):
        return next((state for state in sorted(STATES) if state.startswith(word[:-1])), None)
    return word if word in STATES else None


def _row(number: int, offset: int, values: dict[str, str], said: list[tuple[int, str]]) -> SacctRow | None:
    shown = values.get("jobid") or values.get("jobidraw") or ""
    found = _JOB_ID.fullmatch(shown.strip())
    word, _, by = values.get("state", "").strip().partition(" by ")
    state = _state(word)
    if not found or state is None:
        said.append((number, f"The row {shown[:40]!r} has no job id or no known state; it was left out."))
        return None
    raw = values.get("jobidraw", "").split(".")[0] or None
    nodelist = values.get("nodelist", "").strip()
    try:
        nodes = tuple(expand(nodelist))
    except ValueError as error:
        said.append((number, f"{error}."))
        nodes = ()
    limit = seconds(values.get("timelimit", ""))
    if limit is None and values.get("timelimitraw", "").isdigit():
        limit = int(values["timelimitraw"]) * 60
    elapsed = seconds(values.get("elapsed", ""))
    if elapsed is None and values.get("elapsedraw", "").isdigit():
        elapsed = int(values["elapsedraw"])
    return SacctRow(
        line=number,
        offset=offset,
        job_id=found[1],
        step=found[2],
        state=state,
        by=by.strip() or None,
        raw_id=raw,
        name=values.get("jobname", ""),
        user=values.get("user") or None,
        uid=values.get("uid") or None,
        cluster=values.get("cluster") or None,
        exit=values.get("exitcode") or None,
        derived=values.get("derivedexitcode") or None,
        nodelist="" if nodelist == "None assigned" else nodelist,
        nodes=nodes,
        submit=moment(values.get("submit")),
        start=moment(values.get("start")),
        end=moment(values.get("end")),
        elapsed=elapsed,
        limit=limit,
        maxrss=size(values.get("maxrss", "")),
        reqmem=values.get("reqmem") or None,
        reason=values.get("reason") or None,
        values=values,
    )
