"""The connectors of a cluster, ready to be asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings

from connectors.config import parse_config
from connectors.contract import Connector, Context, Limits, Progress
from connectors.errors import ConnectorError
from connectors.registry import Registry, load_registry
from investigations.jobs.models import Cluster, ConnectorConfig

LOOKUP_SECONDS = 30.0


@cache
def registry() -> Registry:
    """Built-in connectors and plugins, read once a process."""
    return load_registry()


@dataclass(frozen=True, slots=True)
class Ready:
    """A connector with its settings read."""

    row: ConnectorConfig
    connector: Connector
    config: Any

    @property
    def label(self) -> str:
        return self.row.name or self.connector.label


def ready(row: ConnectorConfig) -> Ready:
    """Raises UnknownConnector or Misconfigured (both ConnectorError)."""
    connector = registry().get(row.kind)
    return Ready(row, connector, parse_config(connector, row.config))


def connectors_of(cluster: Cluster, capability: str) -> Iterator[Ready | tuple[ConnectorConfig, ConnectorError]]:
    """The cluster's enabled connectors with the capability, in its order; one that cannot be used comes with why."""
    for row in cluster.connectors.filter(enabled=True).select_related("cluster"):
        try:
            found = ready(row)
        except ConnectorError as error:
            yield row, error
            continue
        if capability in found.connector.capabilities:
            yield found


def context(
    cluster: Cluster,
    seconds: float = LOOKUP_SECONDS,
    progress: Callable[[Progress], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Context:
    """What the site lets a connector use. `seconds` bounds the call: a page may be waiting."""
    site = getattr(settings, "FIRST_FAULT", {})
    given: dict[str, Any] = {"limits": replace(Limits(), seconds=seconds), "timezone": cluster.timezone}
    if site.get("ROOTS"):
        given["roots"] = tuple(Path(root) for root in site["ROOTS"])
    if site.get("PROGRAMS"):
        given["programs"] = tuple(site["PROGRAMS"])
    if progress is not None:
        given["progress"] = progress
    if cancelled is not None:
        given["cancelled"] = cancelled
    return Context(**given)
