"""Which connectors there are: the built-in ones by hand, others by the entry point group `first_fault.connectors`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import cast

from connectors.contract import CAPABILITIES, Connector
from connectors.errors import UnknownConnector
from connectors.files.bundles import BundleFolders
from connectors.files.logs import LogFiles
from connectors.slurm.connector import Slurm
from telemetry.bundle import SOURCES

GROUP = "first_fault.connectors"
BUILT_IN: tuple[Connector, ...] = (BundleFolders(), LogFiles(), Slurm())

_CALLS = ("probe", "find_job", "discover", "plan", "collect")
_TEXTS = ("slug", "label", "version")


@dataclass(frozen=True, slots=True)
class BrokenPlugin:
    """An installed connector that could not be taken in, and why."""

    name: str
    module: str
    reason: str


@dataclass(frozen=True, slots=True)
class Registry:
    """The connectors that work, by slug, and those that do not."""

    connectors: dict[str, Connector]
    broken: tuple[BrokenPlugin, ...]

    def get(self, slug: str) -> Connector:
        """Raises UnknownConnector."""
        try:
            return self.connectors[slug]
        except KeyError:
            raise UnknownConnector(
                f"There is no connector {slug!r}", "", f"Known are {', '.join(sorted(self.connectors))}."
            ) from None

    def all(self) -> tuple[Connector, ...]:
        return tuple(self.connectors[slug] for slug in sorted(self.connectors))


def load_registry(plugins: Iterable[EntryPoint] | None = None) -> Registry:
    """Built-in connectors, then plugins in the order of their names. A broken plugin is reported and left out."""
    connectors = {connector.slug: connector for connector in BUILT_IN}
    broken: list[BrokenPlugin] = []
    found = entry_points(group=GROUP) if plugins is None else plugins
    for plugin in sorted(found, key=lambda entry: (entry.name, entry.value)):
        try:
            loaded = plugin.load()
            connector = loaded() if isinstance(loaded, type) else loaded
            reason = _what_is_wrong(connector)
        except Exception as error:  # a stranger's code: whatever it raises, the others must still load
            connector, reason = None, f"{type(error).__name__}: {error}"
        if not reason and connector.slug in connectors:
            reason = f"another connector already has the slug {connector.slug!r}"
        if reason:
            broken.append(BrokenPlugin(plugin.name, plugin.value, reason))
        else:
            connectors[connector.slug] = cast("Connector", connector)
    return Registry(connectors, tuple(broken))


def _what_is_wrong(connector: object) -> str:
    """Why this object is not a connector; empty when it is one."""
    missing = [name for name in (*_TEXTS, "capabilities", "sources", "Config", *_CALLS) if not hasattr(connector, name)]
    if missing:
        return f"it lacks {', '.join(missing)}"
    checked = cast("Connector", connector)
    if not all(isinstance(getattr(checked, name), str) and getattr(checked, name) for name in _TEXTS):
        return "slug, label and version must be text"
    if unknown := set(checked.capabilities) - CAPABILITIES:
        return f"unknown capabilities: {', '.join(sorted(unknown))}"
    if unknown := set(checked.sources) - set(SOURCES):
        return f"unknown sources: {', '.join(sorted(unknown))}"
    return ""
