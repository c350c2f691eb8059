"""A run's bundle as pages see it: which streams there are, and how many lines of each the verdict rests on."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Max

from investigations.runs.models import Run
from telemetry.bundle import Bundle, BundleError, open_bundle


@dataclass(frozen=True, slots=True)
class StreamView:
    """One stored stream. size in bytes as stored; hits counts the evidence that stands in it."""

    path: str
    source: str
    node: str | None
    size: int
    hits: int


def bundle_of(run: Run) -> Bundle | None:
    """The run's bundle, or None when it is gone: its retention ended, or another machine keeps it."""
    try:
        return open_bundle(run.bundle_dir)
    except BundleError:
        return None


def streams_of(run: Run) -> tuple[StreamView, ...]:
    """The streams of the bundle, those with evidence first; without the bundle, those that the evidence names."""
    counted = run.evidence.order_by().values_list("stream", "source").annotate(count=Count("id"), node=Max("node"))
    named = {stream: StreamView(stream, source, node or None, 0, count) for stream, source, count, node in counted}
    bundle = bundle_of(run)
    if bundle is None:
        views = list(named.values())
    else:
        with bundle:
            views = [
                StreamView(s.path, s.source, s.node, s.size, named[s.path].hits if s.path in named else 0)
                for s in bundle.streams
            ]
    return tuple(sorted(views, key=lambda view: (-view.hits, view.path)))
