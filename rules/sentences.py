"""The words of a verdict: one sentence that a manager could repeat, at most three that defend it, and what to do."""

from __future__ import annotations

from typing import Final

from rules import taxonomy
from rules.clocks import iso
from rules.facts import Topology
from rules.faults import Fault, known_time
from rules.judgement import Judgement
from rules.lead import Lead

TITLE: Final = 50


def duration(seconds: float) -> str:
    """``3.2 s``, ``4 min 10 s``, ``2 h 5 min``: the two largest units that matter."""
    if seconds < 0.1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def lower_first(text: str) -> str:
    """``Uncaught exception`` -> ``uncaught exception``, but ``NVLink`` and ``GPU`` keep their capitals."""
    word = text.split(" ", 1)[0]
    keeps = len(word) > 1 and any(not c.islower() for c in word[1:] if c.isalnum())
    return text if keeps else text[:1].lower() + text[1:]


def place_of(fault: Fault, topology: Topology) -> str:
    """``gpu-node-07, GPU 3 (0000:5d:00)``; empty when the fault is in no place."""
    if fault.rule.place == "none":
        return ""
    if fault.rule.place == "rank":
        return ranks_text(fault.ranks)
    if fault.rule.place == "server":
        peer = next((s.peer for s in fault.signals if s.peer), None)
        return peer or fault.node or ""
    device = topology.shown_device(fault.node, fault.device)
    return ", ".join(part for part in (fault.node, device) if part)


def ranks_text(ranks: set[int]) -> str:
    if not ranks:
        return ""
    listed = sorted(ranks)
    if len(listed) == 1:
        return f"rank {listed[0]}"
    if len(listed) <= 4:
        return "ranks " + ", ".join(map(str, listed))
    return f"ranks {listed[0]} to {listed[-1]}" if listed[-1] - listed[0] == len(listed) - 1 else f"{len(listed)} ranks"


def clock_time(fault: Fault) -> str:
    time = known_time(fault)
    text = iso(time.lo) if time else None
    return text[11:19] if text else ""


def title_of(judgement: Judgement) -> str:
    if judgement.winners:
        return judgement.winners[0].rule.title
    if judgement.outcome == "ambiguous":
        causes = list(dict.fromkeys(a.cause for a in judgement.alternatives))
        names = [taxonomy.plain_name(c) for c in causes]
        both = " or ".join([names[0], *(lower_first(n) for n in names[1:])])
        return both if len(both) <= TITLE else f"{len(causes)} causes fit equally"
    if judgement.outcome == "no_failure":
        return "Cancelled by its own user" if judgement.cause else "Completed as its owner wanted"
    if judgement.symptoms:
        first = judgement.symptoms[0]
        text = f"Only symptoms seen: {lower_first(first.rule.title)}"
        return text if len(text) <= TITLE else first.rule.title
    return "Nothing seen that explains the end"


def summary_of(judgement: Judgement, topology: Topology, lead: Lead) -> str:
    """One plain sentence, naming culprit, time and lead where there are such."""
    if judgement.outcome == "attributed":
        return _attributed(judgement, topology, lead)
    if judgement.outcome == "ambiguous":
        names = [lower_first(taxonomy.plain_name(c)) for c in dict.fromkeys(a.cause for a in judgement.alternatives)]
        listed = ", ".join(names[:-1]) + f" and {names[-1]}" if len(names) > 1 else names[0]
        tail = {
            "order_unknown": "were both seen, and no clock proves which came first",
            "rivals": "fit the evidence equally",
        }.get(judgement.why, "fit what was seen equally")
        return f"{listed[:1].upper()}{listed[1:]} {tail}."
    if judgement.outcome == "no_failure":
        if judgement.cause:
            return "The job was cancelled by its own user while it made progress; no fault was seen before that."
        return "The job completed; what was logged on the way did not stop it."
    if judgement.lacking:
        sources = " and ".join(judgement.lacking)
        likely = judgement.alternatives[0].cause if judgement.alternatives else None
        hint = f"{taxonomy.plain_name(likely)} is likely, but " if likely else ""
        text = f"{hint}the {sources} that would decide was not collected."
        return text[:1].upper() + text[1:]
    if judgement.symptoms:
        first = judgement.symptoms[0].rule.title
        return f"Only symptoms were seen (“{first}” first); nothing shows what caused them."
    return "Nothing in what was collected explains how the job ended."


def _attributed(judgement: Judgement, topology: Topology, lead: Lead) -> str:
    first = judgement.winners[0]
    places = list(dict.fromkeys(p for f in judgement.winners if (p := place_of(f, topology))))
    text = first.rule.title
    if places:
        shown = (
            places[0]
            if len(places) == 1
            else " and ".join(places)
            if len(places) == 2
            else f"{places[0]} and {len(places) - 1} more"
        )
        text += f" on {shown}"
    if at := clock_time(first):
        text += f" at {at}"
    if lead.seconds is not None and lead.fault is not None:
        text += f", {duration(lead.seconds)} before {lower_first(lead.fault.rule.title)}{_who(lead.fault)}"
    return text + "."


def _who(fault: Fault) -> str:
    where = ranks_text({fault.first.rank}) if fault.first.rank is not None else fault.node
    return f" ({where})" if where else ""


def lead_reason(lead: Lead) -> str:
    """What is known of the time between the fault and the first symptom that the job printed."""
    if lead.fault is None:
        return ""
    symptom = f"{lower_first(lead.fault.rule.title)}{_who(lead.fault)}"
    if lead.seconds is not None:
        return f"The first symptom in the job's own output, {symptom}, came {duration(lead.seconds)} later."
    said = "The first symptom in the job's own output"
    between = lead.between()
    if between:
        return f"{said}, {symptom}, has no time of its own; it was printed between {between[0]} and {between[1]} UTC."
    return f"{said}, {symptom}, has no time of its own; what came before it is not shown by a clock."


def action_of(judgement: Judgement) -> str:
    if judgement.winners:
        return judgement.winners[0].rule.action
    if judgement.outcome == "ambiguous":
        return "Decide between the candidates below: each says what supports it, and what would settle it."
    if judgement.outcome == "no_failure":
        return "Nothing to do."
    if judgement.lacking:
        where = sorted({n for nodes in judgement.lacking.values() for n in nodes})
        nodes = f" of {', '.join(where[:4])}" + (" and others" if len(where) > 4 else "") if where else ""
        return f"Collect {' and '.join(judgement.lacking)}{nodes}, then run this again."
    return "Collect the missing sources listed below, then run this again."
