"""The answer panel: the sentence with its culprit set apart, why, what to do, and the facts beside it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from investigations.reading import times, words
from investigations.reading.beginning import beginning

OUTCOMES = {
    "attributed": "Attributed",
    "ambiguous": "Ambiguous",
    "insufficient_evidence": "Insufficient evidence",
    "no_failure": "No failure",
}


@dataclass(frozen=True, slots=True)
class Part:
    text: str
    culprit: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """A cause that fits the evidence as well as others do."""

    cause: str
    sub_domain: str
    title: str
    places: tuple[str, ...]
    why: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    outcome: str
    word: str
    sentence: tuple[Part, ...]
    sub_domain: str
    cause: str
    reasons: tuple[tuple[str, tuple[str, ...]], ...]
    action: str
    action_title: str
    facts: tuple[tuple[str, str], ...]
    candidates: tuple[Candidate, ...]
    provisional: bool
    pack: str


def answer(verdict: Mapping[str, Any]) -> Answer:
    outcome = verdict["outcome"]
    return Answer(
        outcome=outcome,
        word=OUTCOMES.get(outcome, words.plain(outcome)),
        sentence=sentence(verdict),
        sub_domain=verdict["sub_domain"] or "",
        cause=verdict["cause"] or "",
        reasons=tuple((reason["text"], tuple(reason["evidence"])) for reason in verdict["reasons"][:3]),
        action=verdict["action"] or "",
        action_title="What to collect" if outcome == "insufficient_evidence" else "What to do",
        facts=_facts(verdict),
        candidates=tuple(_candidate(item) for item in verdict["alternatives"]) if outcome == "ambiguous" else (),
        provisional=bool(verdict["provisional"]),
        pack=f"{verdict['pack']['name']} {verdict['pack']['version']}",
    )


def sentence(verdict: Mapping[str, Any]) -> tuple[Part, ...]:
    """The summary, cut where it names a culprit. Only an established culprit is set apart."""
    text = verdict["summary"] or verdict["title"] or ""
    names = _names(verdict) if verdict["outcome"] == "attributed" else []
    if not names:
        return (Part(text),)
    # Plain alternation of escaped names, the longest first, on one sentence of our own.
    pattern = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    parts: list[Part] = []
    end = 0
    for found in re.finditer(rf"(?<![\w-])(?:{pattern})(?![\w-])", text):
        parts += [Part(text[end : found.start()])] if found.start() > end else []
        # The address stands among the facts; hard spaces keep `GPU 3` on one line.
        name = words.device_name(found.group()).replace(" ", "\N{NO-BREAK SPACE}")
        parts.append(Part(name.replace(",\N{NO-BREAK SPACE}", ", "), culprit=True))
        end = found.end()
    return (*parts, Part(text[end:])) if end < len(text) else tuple(parts)


def _names(verdict: Mapping[str, Any]) -> list[str]:
    names: set[str] = set()
    for culprit in verdict["culprits"][:20]:
        node, device = culprit["node"], culprit["device"]
        itself = words.device_itself(device)
        for thing in {device, itself, words.device_name(device), words.device_name(itself)} - {None, ""}:
            if node:
                names |= {f"{node}, {thing}", f"{node} {thing}", f"{thing} of {node}", f"{thing} on {node}"}
                names |= {f"{node} ({thing})", f"{node}:{thing}"}
            else:
                names.add(str(thing))
        if node:
            names.add(node)
    return sorted(names)


def _facts(verdict: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    facts: list[tuple[str, str]] = []
    culprits = verdict["culprits"]
    if len(culprits) == 1:
        culprit = culprits[0]
        address = words.device_address(culprit["device"])
        serial = f"serial {culprit['serial']}" if culprit["serial"] else ""
        if address or serial:
            facts.append((_kind(culprit["kind"]), ", ".join(part for part in (serial, address) if part)))
        if culprit["link_peer"]:
            facts.append(("Link peer", culprit["link_peer"]))
        if culprit["ranks"]:
            facts.append(("Ranks" if len(culprit["ranks"]) > 1 else "Rank", _numbers(culprit["ranks"])))
    elif culprits:
        places = [words.place(c["node"], c["device"]) for c in culprits]
        facts.append(("Culprits", ", ".join(places[:6]) + (f" and {len(places) - 6} more" if len(places) > 6 else "")))
    begin = beginning(verdict)
    first = times.seconds(verdict["first_fault_at"])
    if begin.kind == "within" and begin.start is not None and begin.end is not None:
        facts.append(("First fault", f"{times.between(begin.start, begin.end)} UTC"))
    elif begin.kind == "known" and first is not None:
        error = times.within(verdict["first_fault_error"]) if (verdict["first_fault_error"] or 0) >= 0.0005 else ""
        facts.append(
            ("First fault", f"{times.sure(first, verdict['first_fault_error'])} UTC{f', {error}' if error else ''}")
        )
    if verdict["lead_seconds"]:
        facts.append(("Lead", f"{times.span(verdict['lead_seconds'])} before the first symptom elsewhere"))
    return tuple(facts)


def _kind(kind: str | None) -> str:
    return {"gpu": "GPU", "link": "Link"}.get(kind or "", (kind or "device").capitalize())


def _numbers(ranks: list[int]) -> str:
    """`0-7, 12`: neighbours joined."""
    runs: list[list[int]] = []
    for rank in sorted(set(ranks)):
        if runs and rank == runs[-1][1] + 1:
            runs[-1][1] = rank
        else:
            runs.append([rank, rank])
    shown = [str(a) if a == b else f"{a} to {b}" for a, b in runs[:8]]
    return ", ".join(shown) + (" and more" if len(runs) > 8 else "")


def _candidate(item: Mapping[str, Any]) -> Candidate:
    return Candidate(
        cause=item["cause"],
        sub_domain=item["sub_domain"],
        title=item["title"] or words.plain(item["cause"]),
        places=tuple(words.place(c["node"], c["device"]) for c in item["culprits"][:6]),
        why=item["why"],
        evidence=tuple(item["evidence"]),
    )
