"""Connectors by entry point: good ones join, broken ones are reported and the rest still works."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint
from types import ModuleType

import pytest

from connectors.errors import UnknownConnector
from connectors.files.logs import LogFiles
from connectors.registry import GROUP, load_registry


@pytest.fixture
def plugin_module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = ModuleType("site_connectors")

    class Flux(LogFiles):
        slug = "flux"
        label = "Flux"

    class Nameless(LogFiles):
        slug = ""

    class Boastful(LogFiles):
        slug = "boastful"
        capabilities = frozenset({"predict"})

    class Raising:
        def __init__(self) -> None:
            raise RuntimeError("no licence")

    module.Flux, module.Again, module.Nameless = Flux, LogFiles, Nameless  # type: ignore[attr-defined]
    module.Boastful, module.Raising, module.number = Boastful, Raising, 7  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "site_connectors", module)
    return module


def entry(attribute: str, module: str = "site_connectors") -> EntryPoint:
    return EntryPoint(attribute, f"{module}:{attribute}", GROUP)


def test_a_plugin_joins_the_built_in_ones(plugin_module: ModuleType) -> None:
    registry = load_registry([entry("Flux")])
    assert [connector.slug for connector in registry.all()] == ["bundles", "files", "flux", "slurm"]
    assert registry.get("flux").label == "Flux"
    assert registry.broken == ()


def test_broken_plugins_are_reported_and_left_out(plugin_module: ModuleType) -> None:
    names = ["Again", "Boastful", "Flux", "Nameless", "Raising", "missing", "number"]
    registry = load_registry([*(entry(name) for name in names), entry("x", "no_such_module")])
    assert registry.get("flux")
    reasons = {plugin.name: plugin.reason for plugin in registry.broken}
    assert "already has the slug 'files'" in reasons["Again"]
    assert "unknown capabilities: predict" in reasons["Boastful"]
    assert "must be text" in reasons["Nameless"]
    assert reasons["Raising"] == "RuntimeError: no licence"
    assert "AttributeError" in reasons["missing"]
    assert "it lacks slug" in reasons["number"]
    assert "ModuleNotFoundError" in reasons["x"]


def test_an_unknown_slug_names_the_known_ones() -> None:
    with pytest.raises(UnknownConnector, match="bundles, files, slurm"):
        load_registry([]).get("loki")
