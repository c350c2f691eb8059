"""The shape of a rule file: what staff may write in a pack's YAML, and what each word means.

One document is one fault. ``docs/rules.md`` explains the words to people; this module holds them for programs.
Errors carry the file and line (see ``rules.pack``).
"""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

Layer = Literal["gpu", "fabric", "network", "communication", "application", "host", "storage", "scheduler"]
Standing = Literal["self_standing", "symptom_like", "symptom", "context"]
Place = Literal["device", "node", "link", "server", "rank", "none"]
StreamKind = Literal["kernel", "applog", "fabric", "scheduler", "metrics", "any"]
Where = Literal["same_device", "same_node", "same_rank", "same_stream", "link_peer", "same_job", "anywhere"]
Outside = Literal["server", "switch", "launcher", "peer", "any"]
Source = Literal["scheduler", "applog", "syslog", "fabric", "metrics"]
Derived = Literal[
    "collective_mismatch",
    "collective_absent_rank",
    "job_state",
    "progress_until_end",
    "progress_stopped",
]

KIND_OF_SOURCE = {
    "scheduler": "scheduler",
    "applog": "applog",
    "syslog": "kernel",
    "fabric": "fabric",
    "metrics": "metrics",
}
SOURCE_OF_KIND = {kind: source for source, kind in KIND_OF_SOURCE.items()}

GROUPS = frozenset(
    (
        "peer_loss", "collective_wait", "rank_abort", "teardown", "job_end", "gpu_fallout", "cuda_error",
        "link_fallout", "io_error", "hang", "device_missing", "store_error", "startup_failure", "oom_fallout",
    )
)  # fmt: skip

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)?")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, None: 1.0}


def seconds(value: object) -> object:
    """``30m`` -> 1800.0; a bare number is seconds."""
    if isinstance(value, str):
        found = _DURATION.fullmatch(value.strip())
        if not found:
            raise ValueError(f"{value!r} is not a duration: write 500ms, 30s, 10m, 2h or 1d")
        return float(found[1]) * _UNITS[found[2]]
    return value


Duration = Annotated[float, BeforeValidator(seconds)]


class Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Example(Model):
    """A line that must match, with the fields that must come out of it; ``above``: the line that its header finds."""

    line: str
    above: str | None = None
    fields: dict[str, str] = {}
    origin: Literal["observed", "composed"] = "observed"


def _as_example(value: object) -> object:
    return {"line": value} if isinstance(value, str) else value


class Examples(Model):
    match: tuple[Annotated[Example, BeforeValidator(_as_example)], ...] = ()
    no_match: tuple[str, ...] = ()


class Decode(Model):
    """An integer taken out of a captured number: bits ``[high, low]`` of a decimal or 0x field."""

    field: str
    bits: tuple[int, int]


class PlaceFields(Model):
    """Which captured fields name the place of a signal."""

    device: str | None = None
    node: str | None = None
    rank: str | None = None
    link: str | None = None
    peer: str | None = None


def _as_texts(value: object) -> object:
    """``31``, ``[79, 80]`` and ``'<= 15'`` all become a tuple of strings."""
    if isinstance(value, list | tuple):
        return tuple(str(item) for item in value)
    return (str(value),)


Conditions = Annotated[tuple[str, ...], BeforeValidator(_as_texts)]


class SignatureModel(Model):
    id: str = Field(pattern=r"^[a-z0-9][a-z0-9_]*$")
    streams: tuple[StreamKind, ...] = ()
    pattern: str = ""
    derived: Derived | None = None
    extract: tuple[str, ...] = ()
    decode: dict[str, Decode] = {}
    when: dict[str, Conditions] = {}
    only: str | None = None
    unless: str | None = None
    header: str | None = None
    generic: bool = False
    place: PlaceFields = PlaceFields()
    lasting: Literal["state"] | None = None
    clears: str | None = None
    examples: Examples = Examples()

    @model_validator(mode="after")
    def _pattern_or_derived(self) -> SignatureModel:
        if bool(self.pattern) == bool(self.derived):
            raise ValueError(f"signature {self.id}: give either a pattern or a derived signal")
        if self.pattern and not self.streams:
            raise ValueError(f"signature {self.id}: say in which streams its pattern is looked for")
        return self


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], BeforeValidator(_as_list)]


class Requires(Model):
    any: Names
    where: Where = "same_job"
    within: Duration | None = None


class Explains(Model):
    """What this fault causes: effects are rule ids, signature ids or ``@group``."""

    effects: Names
    where: Where = "same_job"
    within: Duration | None = None
    lag: Duration = 0.0


class Overrules(Model):
    rules: Names
    where: Where = "same_job"
    within: Duration | None = None
    why: str


class BundleExample(Model):
    """A small bundle with the verdict that it must give."""

    name: str = ""
    files: dict[str, str]
    job: dict[str, object] = {}
    expect: dict[str, object]


class RuleModel(Model):
    rule: str = Field(pattern=r"^[a-z0-9][a-z0-9_]*$")
    cause: str | None = None
    title: str = Field(max_length=50)
    action: str = ""
    layer: Layer
    standing: Standing
    maturity: Literal["stable", "incubating", "deprecated"] = "stable"
    place: Place = "none"
    groups: Names = ()
    fallback: bool = False
    fatal: bool = True
    sources: Names = ()
    why: str = ""
    signatures: tuple[SignatureModel, ...] = Field(min_length=1)
    requires: tuple[Requires, ...] = ()
    explains: tuple[Explains, ...] = ()
    overrules: tuple[Overrules, ...] = ()
    needs: tuple[Source, ...] = ()
    rivals: Names = ()
    outside: Annotated[tuple[Outside, ...], BeforeValidator(_as_list)] = ()
    bundles: tuple[BundleExample, ...] = ()

    @property
    def is_cause(self) -> bool:
        return self.cause is not None and self.standing in ("self_standing", "symptom_like")

    @model_validator(mode="after")
    def _consistent(self) -> RuleModel:
        if self.standing in ("self_standing", "symptom_like") and not self.cause:
            raise ValueError(f"rule {self.rule}: standing {self.standing} needs a cause")
        if self.standing in ("symptom", "context") and self.cause:
            raise ValueError(f"rule {self.rule}: a {self.standing} has no cause; say rivals instead")
        if unknown := set(self.groups) - GROUPS:
            raise ValueError(
                f"rule {self.rule}: unknown group {sorted(unknown)[0]!r}; known: {', '.join(sorted(GROUPS))}"
            )
        return self
