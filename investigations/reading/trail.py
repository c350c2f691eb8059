"""The evidence trail: one row a piece of evidence, in order of time, with what links each to the one before it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from investigations.reading import times, words


@dataclass(frozen=True, slots=True)
class Link:
    """What the row's evidence follows from: `cause` is that evidence's id."""

    cause: str
    gap: str
    relation: str
    rule: str
    certain: bool


@dataclass(frozen=True, slots=True)
class Row:
    """`after` is the time since the first fault; `exact` the whole stamp, for titles."""

    id: str
    role: str
    role_word: str
    layer: str
    layer_word: str
    mark: str
    title: str
    after: str
    exact: str
    within: str
    place: str
    source_word: str
    stream: str
    line: int
    offset: int
    count: int
    text: str
    link: Link | None
    clock: str


def rows(verdict: Mapping[str, Any]) -> tuple[Row, ...]:
    """Cause and symptoms in order of time, those without a time by their line; then context and what was ruled out."""
    links = _links(verdict)
    zero = times.seconds(verdict["first_fault_at"])
    if zero is None:
        dated = [at for item in verdict["evidence"] if (at := times.seconds(item["time"])) is not None]
        zero = min(dated, default=None)
    first = next((item["id"] for item in verdict["evidence"] if item["role"] == "cause"), None)
    ordered = sorted(enumerate(verdict["evidence"]), key=lambda pair: _order(pair[1], pair[0]))
    return tuple(_row(item, zero, links.get(item["id"]), item["id"] == first) for _, item in ordered)


def _order(item: Mapping[str, Any], number: int) -> tuple[bool, int, float, int]:
    aside = item["role"] in ("context", "rejected")
    at = times.seconds(item["time"])
    return aside, 0 if item["role"] == "cause" and not aside else 1, at if at is not None else float("inf"), number


def _row(item: Mapping[str, Any], zero: float | None, link: Link | None, first: bool) -> Row:
    at = times.seconds(item["time"])
    role = item["role"]
    return Row(
        id=item["id"],
        role=role,
        role_word="First fault" if first else {"cause": "Cause"}.get(role, words.ROLES.get(role, role)),
        layer=item["layer"],
        layer_word=words.layer(item["layer"]),
        mark="first" if first else item["layer"],
        title=item["title"],
        after=times.after(at - zero) if at is not None and zero is not None else "no time",
        exact=times.exact(at) if at is not None else "The line carries no time.",
        within=times.within(item["time_error"]) if at is not None else "",
        place=words.place(item["node"], item["device"], item["rank"]),
        source_word=words.SOURCE_WORDS.get(item["source"], item["source"]),
        stream=item["stream"],
        line=item["line"],
        offset=item["offset"],
        count=item["count"],
        text=item["text"],
        link=link,
        clock=times.clock(at) if at is not None else "",
    )


def _links(verdict: Mapping[str, Any]) -> dict[str, Link]:
    """The first link that leads to each piece of evidence."""
    found: dict[str, Link] = {}
    for link in verdict["chain"]:
        found.setdefault(
            link["to"],
            Link(
                cause=link["from"],
                gap=times.after(link["gap_seconds"]),
                relation=words.plain(link["relation"]),
                rule=link["rule"],
                certain=link["order"] == "certain",
            ),
        )
    return found
