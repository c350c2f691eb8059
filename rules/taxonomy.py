"""The vocabulary of a verdict: outcomes, terminal states, domains, sub-domains and causes.

The words are kept in ``taxonomy.yaml`` beside this module; they are public names and never change meaning.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any, Final

import yaml

UNKNOWN: Final = "unknown"


@cache
def _document() -> dict[str, Any]:
    text = resources.files("rules").joinpath("taxonomy.yaml").read_text(encoding="utf-8")
    document: dict[str, Any] = yaml.safe_load(text)
    return document


@cache
def outcomes() -> tuple[str, ...]:
    return tuple(_document()["outcomes"])


@cache
def terminal_states() -> tuple[str, ...]:
    return tuple(_document()["terminal_states"])


@cache
def causes() -> dict[str, str]:
    """Every cause, with the sub-domain that it belongs to, in the taxonomy's order."""
    return {cause: sub_domain for sub_domain, names in _document()["causes"].items() for cause in names}


@cache
def sub_domains() -> dict[str, str]:
    """Every sub-domain, with its domain."""
    return {name: domain for domain, names in _document()["domains"].items() for name in names}


def sub_domain_of(cause: str | None) -> str:
    return causes().get(cause, UNKNOWN) if cause else UNKNOWN


def domain_of(cause: str | None) -> str:
    return sub_domains().get(sub_domain_of(cause), UNKNOWN)


def plain_name(cause: str) -> str:
    """``gpu_fell_off_bus`` -> ``GPU fell off bus``: for sentences where no rule gives a title."""
    words = cause.replace("_", " ")
    for slug, written in (("gpu", "GPU"), ("mpi", "MPI"), ("pcie", "PCIe")):
        words = " ".join(written if word == slug else word for word in words.split(" "))
    return words[:1].upper() + words[1:]
