"""The verdict as it leaves the engine: one JSON object, the same bytes for the same bundle and pack.

``VERDICT_SCHEMA`` is its published JSON Schema (``manage.py attribute --schema``); ``schema`` names the version.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any, Final

from rules import taxonomy
from rules.pack import Pack
from telemetry.bundle import BundleError

SCHEMA: Final = "first-fault/verdict/1"
ENGINE_VERSION: Final = "1.0.0"


@cache
def verdict_schema() -> dict[str, Any]:
    text = resources.files("rules").joinpath("verdict_schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    properties = schema["properties"]
    properties["outcome"]["enum"] = list(taxonomy.outcomes())
    properties["terminal_state"]["enum"] = list(taxonomy.terminal_states())
    properties["domain"]["enum"] = sorted(set(taxonomy.sub_domains().values()))
    properties["sub_domain"]["enum"] = list(taxonomy.sub_domains())
    properties["cause"]["enum"] = [None, *taxonomy.causes()]
    return schema


class Verdict(dict[str, Any]):
    """A verdict; a plain dict with the one way to write it down."""

    def as_json(self) -> str:
        return json.dumps(self, ensure_ascii=False, separators=(",", ":"))


def empty_job() -> dict[str, Any]:
    return {
        "cluster": None,
        "id": None,
        "user": None,
        "nodes": [],
        "state": None,
        "exit_code": None,
        "started": None,
        "ended": None,
    }


def unreadable(error: BundleError, pack: Pack) -> Verdict:
    """The verdict-shaped line for a bundle that cannot be read: it abstains and says why."""
    said = {"what": error.what, "where": error.where, "remedy": error.remedy}
    return Verdict(
        schema=SCHEMA,
        engine_version=ENGINE_VERSION,
        pack={"name": pack.name, "version": pack.version, "sha256": pack.sha256},
        bundle_sha256=None,
        error=said,
        job=empty_job(),
        outcome="insufficient_evidence",
        terminal_state="unknown",
        domain=taxonomy.UNKNOWN,
        sub_domain=taxonomy.UNKNOWN,
        cause=None,
        title="The bundle could not be read",
        summary=f"{error.what} ({error.where}).",
        action=error.remedy,
        reasons=[],
        provisional=False,
        culprits=[],
        first_fault_at=None,
        first_fault_error=None,
        lead_seconds=None,
        evidence=[],
        chain=[],
        alternatives=[],
        rejected=[],
        coverage=[],
        settle=[],
        clocks=[],
        signals_total=0,
        problems=[],
    )
