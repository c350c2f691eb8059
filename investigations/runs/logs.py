"""The log viewer: a line of a stored stream with what stands around it, and the evidence marked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.http import Http404

from investigations.access import AnyUser, Permission, require
from investigations.audit.services import record_log_view
from investigations.runs.bundles import bundle_of
from investigations.runs.models import Evidence, Run
from telemetry.bundle import Bundle
from telemetry.lines import Line
from telemetry.streams import Stream

_MOST = 500
_LONGEST = 8_000  # characters of one line on the page
# Terminal escapes and NULs are shown, not obeyed.
_PICTURES = {code: 0x2400 + code for code in range(32) if code != 9} | {127: 0x2421}


@dataclass(frozen=True, slots=True)
class Mark:
    """A piece of evidence at a line."""

    evidence_id: str
    role: str
    title: str


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line. cut: the stored line is longer than what is shown. anchor: the line that was asked for."""

    number: int
    offset: int | None
    text: str
    cut: bool
    evidence: tuple[Mark, ...]
    anchor: bool


@dataclass(frozen=True, slots=True)
class LogHit:
    evidence_id: str
    role: str
    title: str
    line: int


@dataclass(frozen=True, slots=True)
class LogWindow:
    """Lines `first` to `last` of a stream. earlier and later are lines to ask for next, None at the stream's ends.

    hits are all of the verdict's evidence in the stream, by line. problem is {what, where, remedy} when the stream
    could not be read as it stands; `lines` then holds what could be had.
    """

    run: Run
    stream: str
    source: str
    node: str | None
    size: int
    lines: tuple[LogLine, ...]
    first: int
    last: int
    anchor: int
    earlier: int | None
    later: int | None
    hits: tuple[LogHit, ...]
    problem: dict[str, str] | None


def log_window(
    user: AnyUser,
    run: Run,
    stream: str,
    line: int | None = None,
    offset: int | None = None,
    before: int = 20,
    after: int = 20,
) -> LogWindow:
    """The lines around a line number (1-based) or a byte offset; without either, around the first evidence.

    Leaves an audit row. Raises Http404 for a stream that neither the bundle nor the evidence has.
    """
    require(user, Permission.RAW_LOG)
    kept = list(run.evidence.filter(stream=stream).exclude(line=None).order_by("line", "id"))
    bundle = bundle_of(run)
    found = bundle.stream(stream) if bundle else None
    if found is None and not kept:
        raise Http404("No such log in this run.")
    record_log_view(user, run.investigation, run.number, stream)
    before, after = min(max(before, 0), _MOST), min(max(after, 0), _MOST)
    if bundle is None or found is None:
        return _from_evidence(run, stream, kept, line)
    with bundle:
        return _from_stream(run, bundle, found, kept, _anchor(found, kept, line, offset), before, after)


def _anchor(stream: Stream, kept: list[Evidence], line: int | None, offset: int | None) -> int:
    if line is not None:
        return max(line, 1)
    if offset is not None:
        return stream.line_at(max(offset, 0))
    causes = [item.line for item in kept if item.role == "cause"]
    return (causes or [item.line for item in kept] or [1])[0] or 1


def _from_stream(
    run: Run, bundle: Bundle, stream: Stream, kept: list[Evidence], anchor: int, before: int, after: int
) -> LogWindow:
    start = max(anchor - before, 1)
    read = list(stream.lines(start, anchor - start + after + 2))
    later = len(read) > anchor - start + after + 1
    shown = read[: anchor - start + after + 1]
    marks = _marks(kept)
    lines = tuple(_line(item, marks.get(item.number, ()), anchor) for item in shown)
    last = lines[-1].number if lines else anchor
    return LogWindow(
        run=run,
        stream=stream.path,
        source=stream.source,
        node=stream.node,
        size=stream.size,
        lines=lines,
        first=start,
        last=last,
        anchor=anchor,
        earlier=max(start - before - 1, 1) if start > 1 else None,
        later=last + after + 1 if later else None,
        hits=_hits(kept),
        problem=_problem(stream, anchor, bool(lines)),
    )


def _problem(stream: Stream, anchor: int, any_lines: bool) -> dict[str, str] | None:
    for problem in stream.problems:
        return {"what": problem.what, "where": f"{stream.path} {problem.where}".strip(), "remedy": problem.remedy}
    if not any_lines:
        return {
            "what": f"The log has no line {anchor}." if stream.size else "The log is empty.",
            "where": stream.path,
            "remedy": "Go to its first line." if stream.size else "",
        }
    return None


def _line(line: Line, marks: tuple[Mark, ...], anchor: int) -> LogLine:
    text = line.text.decode("utf-8", "replace").translate(_PICTURES)
    cut = line.cut or len(text) > _LONGEST
    return LogLine(line.number, line.offset, text[:_LONGEST], cut, marks, line.number == anchor)


def _from_evidence(run: Run, stream: str, kept: list[Evidence], line: int | None) -> LogWindow:
    marks = _marks(kept)
    texts = {item.line or 0: item.text.translate(_PICTURES) for item in kept}
    anchor = line or next(iter(texts))
    lines = tuple(
        LogLine(number, None, text, False, marks[number], number == anchor) for number, text in sorted(texts.items())
    )
    return LogWindow(
        run=run,
        stream=stream,
        source=kept[0].source,
        node=kept[0].node or None,
        size=0,
        lines=lines,
        first=lines[0].number,
        last=lines[-1].number,
        anchor=anchor,
        earlier=None,
        later=None,
        hits=_hits(kept),
        problem={
            "what": "The log itself is no longer kept; these are the lines that the verdict rests on.",
            "where": stream,
            "remedy": "Logs go when their retention ends. Re-run while the sources still have them, if you need more.",
        },
    )


def _marks(kept: Iterable[Evidence]) -> dict[int, tuple[Mark, ...]]:
    marks: dict[int, tuple[Mark, ...]] = {}
    for item in kept:
        if item.line is not None:
            marks[item.line] = (*marks.get(item.line, ()), Mark(item.evidence_id, item.role, item.title))
    return marks


def _hits(kept: Iterable[Evidence]) -> tuple[LogHit, ...]:
    return tuple(LogHit(item.evidence_id, item.role, item.title, item.line) for item in kept if item.line is not None)
