"""Reading what sacct wrote into files: one file a job, or one for many jobs of which only the job's rows are taken."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from typing import Any

from connectors.contract import Context
from connectors.errors import LimitReached, NotFound
from connectors.files.allowed import AllowedRoots
from connectors.files.placeholders import PathTemplate
from connectors.files.reading import read_chunks, whole_lines
from connectors.files.search import FileSearch
from connectors.keys import JobKey
from connectors.slurm.accounting import Accounting, read_answer
from connectors.slurm.settings import SlurmConfig

_ROW = re.compile(rb"([0-9]{1,12})(?:[_+][0-9\[\],%-]{1,200})?(?:\.[A-Za-z0-9_]+)?(?![A-Za-z0-9_.+])")


def exported(config: SlurmConfig, key: JobKey | None, context: Context) -> list[Accounting]:
    """What each exported file says of the job, or of all jobs when there is no key.

    Files with {job_id} in their path are passed over when there is no key. Raises NotFound when no file is there.
    """
    roots = AllowedRoots.of(config.roots, context.roots)
    found: list[Accounting] = []
    for text in config.paths:
        template = PathTemplate.parse(text)
        values = {} if key is None else _values(key)
        if template.names - values.keys():
            continue
        files = FileSearch(roots).find(template, values)
        if not files and not template.names:
            raise NotFound("The exported file is not there", text, "Check the path and the export itself.")
        for file in files:
            context.check_cancelled()
            found.append(_read(file.path, roots, key, context))
    return found


def _values(key: JobKey) -> dict[str, str]:
    values = {"job_id": key.id if key.het_component is not None else str(key), "array_job_id": key.id}
    return {**values, "array_task_id": key.array_task} if key.array_task else values


def _read(path: str, roots: AllowedRoots, key: JobKey | None, context: Context) -> Accounting:
    descriptor = roots.open_file(path)
    try:
        pieces = whole_lines(read_chunks(descriptor, path))
        first = next(pieces, b"")
        form = "json" if first.lstrip()[:1] in {b"{", b"["} else "text"
        chunks = _again(first, pieces)
        if key is not None and form == "text":
            chunks = _rows_of(chunks, key)
        raw = _bounded(chunks, path, context)
    finally:
        os.close(descriptor)
    if key is not None and form == "json":
        raw = _jobs_of(raw, key)
    return read_answer(raw, form, path)


def _again(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


def _bounded(chunks: Iterable[bytes], path: str, context: Context) -> bytes:
    kept: list[bytes] = []
    size = 0
    for chunk in chunks:
        context.check_cancelled()
        kept.append(chunk)
        size += len(chunk)
        if size > context.limits.answer_bytes:
            raise LimitReached(
                f"The exported file holds more than {context.limits.answer_bytes:,} bytes to be read at once",
                path,
                "Export a file a job, or shorter periods.",
            )
    return b"".join(kept)


def _rows_of(pieces: Iterable[bytes], key: JobKey) -> Iterator[bytes]:
    """The header and the rows of one job, as they stand. A line that begins with no job id goes on with the row
    before it: a newline in a name or comment."""
    element = str(key).encode()
    keeping = True  # the header, and the line of dashes under it
    for piece in pieces:
        kept = []
        for line in piece.splitlines(keepends=True):
            match = _ROW.match(line.lstrip(b" "))
            if match is not None:
                keeping = match.group(1) == key.id.encode() and (
                    key.array_task is None or match.group().split(b".")[0] == element
                )
            if keeping:
                kept.append(line)
        if kept:
            yield b"".join(kept)


def _jobs_of(raw: bytes, key: JobKey) -> bytes:
    """The same document with only the entries of one job. What cannot be read is given on as it is."""
    try:
        document: Any = json.loads(raw)
    except (ValueError, RecursionError):
        return raw
    if not isinstance(document, dict) or not isinstance(document.get("jobs"), list):
        return raw
    kept = [job for job in document["jobs"] if isinstance(job, dict) and _is_of(job, key)]
    if len(kept) == len(document["jobs"]):
        return raw
    return json.dumps({**document, "jobs": kept}, indent=1, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _is_of(job: dict[str, Any], key: JobKey) -> bool:
    ids = {str(job.get("job_id"))}
    for part in ("array", "het"):
        inner = job.get(part)
        number = inner.get("job_id") if isinstance(inner, dict) else None
        ids.add(str(number.get("number") if isinstance(number, dict) else number))
    if key.id not in ids:
        return False
    if key.array_task is None:
        return True
    task = (job.get("array") or {}).get("task_id")
    return str(task.get("number") if isinstance(task, dict) else task) == key.array_task
