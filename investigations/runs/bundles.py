"""A run's bundle as pages see it: which streams there are, and how many lines of each the verdict rests on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from investigations.runs.models import Evidence, Run
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


def streams_of(run: Run, evidence: Iterable[Evidence]) -> tuple[StreamView, ...]:
    """The streams of the bundle, those with evidence first; without the bundle, those that the evidence names."""
    hits = Counter(item.stream for item in evidence)
    bundle = bundle_of(run)
    if bundle is None:
        sources = {item.stream: (item.source, item.node or None) for item in run.evidence.all()}
        views = [StreamView(path, *sources[path], size=0, hits=count) for path, count in hits.items()]
    else:
        with bundle:
            views = [StreamView(s.path, s.source, s.node, s.size, hits[s.path]) for s in bundle.streams]
    return tuple(sorted(views, key=lambda view: (-view.hits, view.path)))
