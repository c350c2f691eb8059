"""The evidence trail: what was seen, in order of time, lines that say the same folded into one row."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from investigations.reading import times, words
from investigations.reading.beginning import VAGUE, beginning

ASIDE = ("context", "rejected")
NAMED = 3  # places named in a folded row


@dataclass(frozen=True, slots=True)
class Link:
    """What a row follows from: `cause` is the id of that evidence."""

    cause: str
    gap: str
    relation: str
    rule: str
    certain: bool


@dataclass(frozen=True, slots=True)
class Row:
    """One piece of evidence. `kind` is its role, or `candidate` where no cause stands as the first fault.

    `after` is the time since the first fault, or the time of day when that is not known; `exact` is the whole stamp for
    titles. `others` are further pieces that say the same; `count` counts the log lines of all, `place` sums up their
    places.
    """

    id: str
    role: str
    kind: str
    role_word: str
    layer: str
    layer_word: str
    mark: str
    title: str
    after: str
    exact: str
    within: str
    place: str
    source: str
    source_word: str
    stream: str
    line: int | None
    count: int
    text: str
    link: Link | None
    clock: str
    node: str
    rank: int | None
    others: tuple["Row", ...] = ()


def rows(verdict: Mapping[str, Any]) -> tuple[Row, ...]:
    """Every piece of evidence: the cause, its symptoms in order of time, then context and what was ruled out."""
    links = _links(verdict)
    zero = times.seconds(verdict["first_fault_at"])
    if zero is None:
        told = [item for item in verdict["evidence"] if item["role"] not in ASIDE] or verdict["evidence"]
        zero = min((at for item in told if (at := times.seconds(item["time"])) is not None), default=None)
    begin = beginning(verdict)
    kinds = dict.fromkeys(begin.evidence, "first" if begin.fault else "candidate")
    ordered = sorted(enumerate(verdict["evidence"]), key=lambda pair: _order(pair[1], pair[0], zero))
    # From a fault of unknown time no distance can be told.
    base = zero if begin.kind not in ("within", "untimed") else None
    return tuple(_row(item, base, links.get(item["id"]), kinds.get(item["id"], item["role"])) for _, item in ordered)


def folded(found: tuple[Row, ...]) -> tuple[Row, ...]:
    """The rows with those of one kind behind the first of them. A cause always stands alone."""
    kinds: dict[tuple[str, ...], list[Row]] = {}
    for row in found:
        alone = row.id if row.role == "cause" else ""
        kinds.setdefault((row.role, row.title, row.source, alone), []).append(row)
    return tuple(_together(of_kind) for of_kind in kinds.values())


def _together(of_kind: list[Row]) -> Row:
    head, *others = of_kind
    if not others:
        return head
    nodes = list(dict.fromkeys(row.node for row in of_kind if row.node))
    ranks = {row.rank for row in of_kind if row.rank is not None}
    told = []
    if len(ranks) > 1:
        told.append(words.counted(len(ranks), "rank"))
    if len(nodes) > NAMED:
        told.append(words.counted(len(nodes), "node"))
    elif nodes:
        told.append(", ".join(nodes))
    place = " on ".join(told) or head.place
    return replace(head, place=place, count=sum(row.count for row in of_kind), others=tuple(others))


def _order(item: Mapping[str, Any], number: int, zero: float | None) -> tuple[bool, bool, float, int]:
    aside = item["role"] in ASIDE
    at = times.seconds(item["time"])
    if at is None:
        return aside, item["role"] != "cause", float("inf"), number
    error = item["time_error"] or 0.0
    # What may have come after the first fault stands after it, and what is sure stands before what is not.
    if zero is not None and not aside and at < zero <= at + error:
        at = zero + min(error, 60.0)
    return aside, item["role"] != "cause", at, number


def _row(item: Mapping[str, Any], zero: float | None, link: Link | None, kind: str) -> Row:
    at = times.seconds(item["time"])
    role = item["role"]
    error = item["time_error"] or 0.0
    vague = error > VAGUE
    if at is None:
        after = "no time"
    elif vague:
        after = f"±{round(error / times.MINUTE)} min" if error >= 2 * times.MINUTE else f"±{error:.0f} s"
    else:
        after = times.after(at - zero) if zero is not None else times.clock(at, 0)
    return Row(
        id=item["id"],
        role=role,
        kind="cause" if kind == "first" else kind,
        role_word="First fault" if kind == "first" else words.ROLES.get(kind, kind),
        layer=item["layer"],
        layer_word=words.layer(item["layer"]),
        mark="first" if kind == "first" else item["layer"],
        title=item["title"],
        after=after,
        exact=_exact(at, error, vague),
        within=times.within(item["time_error"]) if at is not None and error >= 0.0005 else "",
        place=words.place(item["node"], item["device"]) or words.place(None, None, item["rank"]),
        source=item["source"],
        source_word=words.SOURCE_WORDS.get(item["source"], item["source"]),
        stream=item["stream"] or "",
        line=item["line"],
        count=item["count"] or 1,
        text=item["text"] or "",
        link=link,
        clock=times.clock(at, 0 if vague else 3) if at is not None else "",
        node=item["node"] or "",
        rank=item["rank"],
    )


def _exact(at: float | None, error: float, vague: bool) -> str:
    if at is None:
        return "The line carries no time."
    if vague:
        bounds = f"{times.clock(at - error, 0)} to {times.clock(at + error, 0)} UTC"
        return f"The line carries no time; the lines around it say {bounds}."
    return times.exact(at)


def _links(verdict: Mapping[str, Any]) -> dict[str, Link]:
    """The link that leads to each piece of evidence: the one from the cause, else the first."""
    found: dict[str, Link] = {}
    causes = {item["id"] for item in verdict["evidence"] if item["role"] == "cause"}
    aside = {item["id"] for item in verdict["evidence"] if item["role"] in ASIDE}
    for link in sorted(verdict["chain"], key=lambda link: link["from"] not in causes):
        if link["from"] in aside:
            continue
        certain = link["order"] == "certain"
        found.setdefault(
            link["to"],
            Link(
                cause=link["from"],
                gap=times.after(link["gap_seconds"]) if certain else "",
                relation=words.plain(link["relation"]),
                rule=link["rule"],
                certain=certain,
            ),
        )
    return found
