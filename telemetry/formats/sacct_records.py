"""Slurm accounting rows as records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from telemetry.formats.record import Record, word, words
from telemetry.formats.sacct import SacctRow
from telemetry.formats.times import Moment, iso


def sacct_records(rows: Iterable[SacctRow]) -> Iterator[Record]:
    """One record a row; its time is the end of the job or step, else its start, else its submission.

    Times in the text are ISO 8601: with Z when they are known to be UTC, without a zone as printed otherwise.
    """
    for row in rows:
        time = row.end or row.start or row.submit
        text = words(
            "sacct",
            {
                "job": row.job_id,
                "step": row.step,
                "name": row.name,
                "state": row.state,
                "by": row.by,
                "exit": row.exit,
                "derived": row.derived,
                "nodes": row.nodelist,
                "start": _shown(row.start),
                "end": _shown(row.end),
                "elapsed": row.elapsed,
                "limit": row.limit,
                "maxrss": row.maxrss,
                "reqmem": row.reqmem,
                "reason": row.reason,
            },
        )
        yield Record(
            line=row.line,
            offset=row.offset,
            time=time.seconds if time else None,
            precision=time.precision if time else 1.0,
            local=bool(time and time.local),
            node=row.nodes[0] if len(row.nodes) == 1 else None,
            text=text,
            fields={
                "job": row.job_id,
                "raw_job": row.raw_id or "-",
                "step": row.step or "-",
                "state": row.state,
                "by": row.by or "-",
                "by_owner": {True: "yes", False: "no", None: "unknown"}[row.by_owner],
                "exit": row.exit or "-",
                "user": word(row.user),
                "node_count": str(len(row.nodes)),
                "start_seconds": f"{row.start.seconds:.0f}" if row.start else "-",
                "end_seconds": f"{row.end.seconds:.0f}" if row.end else "-",
                "submit_seconds": f"{row.submit.seconds:.0f}" if row.submit else "-",
            },
        )


def _shown(time: Moment | None) -> str | None:
    if time is None:
        return None
    text = iso(time.seconds)
    return text.removesuffix("Z") if time.local else text
