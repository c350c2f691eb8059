"""What Slurm's accounting answered: the bytes as they came, the rows in them, and what is wrong with them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from connectors.errors import BadAnswer, Unreachable
from telemetry.formats import sacct, sacct_json
from telemetry.formats.sacct import SacctRow
from telemetry.redaction import Redactor

_NOTHING_FOUND = 9003  # slurmdb: "Nothing found with query"
_SAMPLE = 80


@dataclass(frozen=True, slots=True)
class Accounting:
    """One answer. `shortfalls` are (reason, sentence) for what is missing from it; `notes` are sentences about how it
    was had."""

    raw: bytes
    form: str
    rows: tuple[SacctRow, ...]
    request: str
    shortfalls: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def stream_name(self) -> str:
        return "sacct.json" if self.form == "json" else "sacct.txt"


def read_answer(raw: bytes, form: str, request: str, whole: bool = True) -> Accounting:
    """Parse an answer. `whole` is False when it is known to be cut. Raises BadAnswer or Unreachable when there is
    nothing in it that could be used."""
    return _read_json(raw, request, whole) if form == "json" else _read_text(raw, request, whole)


def _read_text(raw: bytes, request: str, whole: bool) -> Accounting:
    if not sacct.looks_like_sacct(raw[:65536]):
        if whole or raw:
            raise BadAnswer(
                "sacct printed no table" if not raw.strip() else f"This is not a table of sacct: {_sample(raw)}",
                request,
                "Run the command by hand; it must print a header with JobID and State.",
            )
        return Accounting(raw, "text", (), request)
    problems: list[tuple[int, str]] = []
    rows = sacct.parse_text(raw, problems=problems)
    if whole and raw and not raw.endswith(b"\n"):
        problems.append((raw.count(b"\n") + 1, "The table ends inside a row."))
    shortfalls = tuple(("truncated", f"Line {line}: {sentence}") for line, sentence in problems[:5])
    return Accounting(raw, "text", tuple(rows), request, shortfalls)


def _read_json(raw: bytes, request: str, whole: bool) -> Accounting:
    try:
        found: Any = json.loads(raw)
    except (ValueError, RecursionError):
        if not whole:
            raise BadAnswer("The JSON answer is cut and cannot be read", request, "Ask for the text form.") from None
        raise BadAnswer(
            f"This is not JSON: {_sample(raw)}" if raw.strip() else "sacct printed nothing",
            request,
            "Run the command by hand and look at what it prints.",
        ) from None
    if not sacct_json.is_sacct(found):
        raise BadAnswer("The JSON answer holds no list of jobs", request, "Ask for the text form.")
    errors = [error for error in found.get("errors") or [] if isinstance(error, dict)]
    numbers = {error.get("error_number", error.get("errno")) for error in errors}
    if errors and not found["jobs"] and numbers != {_NOTHING_FOUND}:
        said = str(errors[0].get("description") or errors[0].get("error") or numbers)
        raise Unreachable(f"Slurm answered with an error: {said[:200]}", request, "Check slurmdbd and its log.")
    problems: list[tuple[int, str]] = []
    rows = sacct_json.parse_json(found, raw.decode("utf-8", "replace"), problems)
    if not found["jobs"]:
        problems.clear()  # only "Nothing found"
    shortfalls = tuple(("truncated", sentence) for _, sentence in problems[:5])
    notes: tuple[str, ...] = ()
    if any(row.step is None and row.exit is None for row in rows):
        notes = ("This release's JSON form does not show exit codes; the text form does.",)
    return Accounting(raw, "json", tuple(rows), request, shortfalls, notes)


def _sample(raw: bytes) -> str:
    line = Redactor().redact(raw[:65536].strip().split(b"\n", 1)[0])[:_SAMPLE]
    return repr(line.decode("utf-8", "replace"))
