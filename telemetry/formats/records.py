"""Records of a stream: structured telemetry (accounting, Kubernetes objects, metrics) as one-line texts."""

from __future__ import annotations

from collections.abc import Iterator

from telemetry.formats import kubernetes, prometheus, sacct, sacct_json
from telemetry.formats.documents import Documents, load_documents
from telemetry.formats.record import Record
from telemetry.formats.sacct_records import sacct_records
from telemetry.streams import Stream

__all__ = ["RECORDS_LIMIT", "TABLE_LIMIT", "Record", "records"]

# A document of this size is read whole, which takes some ten times as much memory; no job needs more.
RECORDS_LIMIT = 16 * 1024 * 1024
# A row of sacct takes nearly thirty times its bytes.
TABLE_LIMIT = 6 * 1024 * 1024
_HEAD = 64 * 1024


def records(stream: Stream) -> Iterator[Record] | None:
    """The records of a structured stream, in its order; None when it is lines of text, to be scanned as they stand.

    What a table or document lacks is told in stream.problems; the part that can be read still gives records.
    """
    if stream.source not in ("scheduler", "metrics") and not stream.path.endswith((".json", ".jsonl")):
        return None
    data = stream.read(RECORDS_LIMIT)
    if data is None:
        if stream.size > RECORDS_LIMIT:
            _too_large(stream, RECORDS_LIMIT)
        return None
    if sacct.looks_like_sacct(data[:_HEAD]) and data[:1] != b"{":
        if len(data) > TABLE_LIMIT:
            _too_large(stream, TABLE_LIMIT)
            return None
        problems: list[tuple[int, str]] = []
        rows = sacct.parse_text(data, problems=problems)
        for line, sentence in problems[:20]:
            stream.report(sentence, f"line {line}", "Ask sacct again with --parsable2, or with --json.")
        return sacct_records(rows)
    documents = load_documents(data)
    if documents is None:
        if data[:64].lstrip().startswith((b"{", b"[")) and stream.path.endswith(".json"):
            stream.report("It is not valid JSON; it was read as lines of text.", "", "Collect the file again.")
        return None
    if documents.problem:
        stream.report(documents.problem, "", "Collect the file again.")
    return _of_documents(stream, documents)


def _too_large(stream: Stream, limit: int) -> None:
    remedy = "Collect only this job's rows or objects (sacct -j, kubectl -l job-name=...)."
    if stream.source == "metrics":
        remedy = "Collect one metric a file, for a shorter time or with a longer step."
    what = f"It is larger than {limit >> 20} MiB, so it was read as lines of text and not as records"
    stream.report(what, "from the start", remedy)


def _of_documents(stream: Stream, documents: Documents) -> Iterator[Record] | None:
    first = documents.values[0]
    if prometheus.is_prometheus(first):
        error = prometheus.error_of(first)
        if error:
            stream.report(f"Prometheus answered with an error: {error}", "", "Correct the query and collect it again.")
        return prometheus.prometheus_records(documents)
    if sacct_json.is_sacct(first):
        return _slurm(stream, documents)
    if kubernetes.is_kubernetes(first):
        return kubernetes.kubernetes_records(documents)
    return None


def _slurm(stream: Stream, documents: Documents) -> Iterator[Record]:
    for value in documents.values:
        if not sacct_json.is_sacct(value):
            continue
        problems: list[tuple[int, str]] = []
        rows = sacct_json.parse_json(value, documents.text, problems)
        for line, sentence in problems[:20]:
            stream.report(sentence, f"line {line}", "Ask Slurm again.")
        yield from sacct_records(rows)
