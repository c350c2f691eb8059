"""Puts a verdict together from a judgement: places, times, reasons, what could not be seen, what would settle it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from rules import sentences, taxonomy
from rules.clocks import iso, window
from rules.evidence import Trail, chain, trail
from rules.faults import Fault, known_time
from rules.judgement import Judgement, suspects
from rules.lead import Lead, lead_of
from rules.observation import Observation
from rules.pack import Pack
from rules.schema import RuleModel
from rules.verdict import ENGINE_VERSION, SCHEMA, Verdict
from telemetry.bundle import Bundle
from telemetry.job import JobContext

KINDS: Final = {"device": "gpu", "link": "link", "node": "node", "server": "server", "rank": "rank", "none": "job"}
STEPS: Final = 5
SUSPECTS_SHOWN: Final = 12
AROUND: Final = 60.0
WANTED: Final = {
    "syslog": "kernel and system log",
    "fabric": "fabric manager, subnet manager or switch log",
    "applog": "job output",
    "scheduler": "scheduler records",
    "metrics": "metrics",
}


def _moment(moment: datetime | None) -> str | None:
    return iso(moment.astimezone(UTC).timestamp()) if moment else None


def _job(job: JobContext) -> dict[str, Any]:
    return {
        "cluster": job.cluster,
        "id": job.id,
        "user": job.user,
        "nodes": list(job.nodes),
        "state": job.state,
        "exit_code": job.exit_code,
        "started": _moment(job.started),
        "ended": _moment(job.ended),
    }


def _kind(rule: RuleModel, device: str | None) -> str:
    if rule.place == "device" and rule.layer == "network":
        return "adapter"
    if rule.place == "device" and (rule.layer in ("host", "storage") or device is None):
        return "node"
    if rule.place == "server" and rule.layer in ("network", "fabric"):
        return "switch"
    return KINDS[rule.place]


def culprits(faults: list[Fault], observation: Observation) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for fault in faults:
        if fault.rule.place == "none":
            continue
        node, device = fault.node, observation.topology.shown_device(fault.node, fault.device)
        if fault.rule.place == "server":
            node = next((s.peer for s in fault.signals if s.peer), None) or node
        if fault.rule.place == "rank" and not fault.ranks and node is None:
            continue
        link = fault.link or next((s.link for s in fault.signals if s.link), None)
        if link and device and fault.rule.layer == "fabric":
            device = f"{device} link {int(link) if link.isdigit() else link}"
        entry = {
            "node": node,
            "device": device,
            "kind": _kind(fault.rule, device),
            "serial": next((s.fields["serial"] for s in fault.signals if "serial" in s.fields), None),
            "link_peer": next((s.peer for s in fault.signals if s.peer), None),
            "ranks": sorted(fault.ranks)[:64],
        }
        if entry not in found:
            found.append(entry)
    return found


def assemble(
    bundle: Bundle, pack: Pack, observation: Observation, faults: list[Fault], judgement: Judgement
) -> Verdict:
    made = trail(judgement, faults, observation.topology, bundle)
    winners = judgement.winners
    told = known_time(winners[0]) if winners else None
    lead = lead_of(judgement)
    blamed = winners or list(
        dict.fromkeys(f for a in judgement.alternatives for f in a.faults if judgement.outcome == "ambiguous")
    )
    cause = judgement.cause
    return Verdict(
        schema=SCHEMA,
        engine_version=ENGINE_VERSION,
        pack={"name": pack.name, "version": pack.version, "sha256": pack.sha256},
        bundle_sha256=bundle.digest,
        error=None,
        job=_job(bundle.job),
        outcome=judgement.outcome,
        terminal_state=observation.terminal_state,
        domain=taxonomy.domain_of(cause),
        sub_domain=taxonomy.sub_domain_of(cause),
        cause=cause,
        title=sentences.title_of(judgement)[: sentences.TITLE],
        summary=sentences.summary_of(judgement, observation.topology, lead),
        action=sentences.action_of(judgement),
        reasons=_reasons(judgement, made, lead),
        provisional=observation.terminal_state == "running",
        culprits=culprits(blamed, observation),
        first_fault_at=iso(told.lo) if told else None,
        first_fault_error=round(told.hi - told.lo, 6) if told else None,
        lead_seconds=lead.seconds,
        evidence=made.entries,
        chain=chain(judgement, made),
        alternatives=[_alternative(a.cause, list(a.faults), a.why, made, observation) for a in judgement.alternatives],
        rejected=_rejected(judgement, made),
        coverage=_coverage(bundle, pack, faults, judgement),
        settle=_settle(bundle, judgement),
        clocks=_clocks(observation),
        signals_total=sum(s.count for s in observation.signals),
        problems=[{"stream": p.stream, "what": p.what, "where": p.where, "remedy": p.remedy} for p in bundle.problems],
    )


def _alternative(cause: str, faults: list[Fault], why: str, made: Trail, observation: Observation) -> dict[str, Any]:
    own = [f for f in faults if f.rule.cause == cause]
    return {
        "cause": cause,
        "sub_domain": taxonomy.sub_domain_of(cause),
        "title": own[0].rule.title if own else taxonomy.plain_name(cause),
        "culprits": culprits(own or faults, observation),
        "evidence": [i for f in faults for i in made.of(f)][:12],
        "why": why,
    }


def _rejected(judgement: Judgement, made: Trail) -> list[dict[str, Any]]:
    """One entry a cause, rule and reason; many places with the same reason are one."""
    joined: dict[tuple[str, str, str], dict[str, Any]] = {}
    machines: dict[tuple[str, str, str], list[str]] = {}
    for r in judgement.rejected:
        key = (r.fault.rule.cause or taxonomy.UNKNOWN, r.why, r.rule)
        entry = joined.setdefault(
            key, {"cause": key[0], "title": r.fault.rule.title, "why": r.why, "rule": r.rule, "evidence": []}
        )
        entry["evidence"] = (entry["evidence"] + made.of(r.fault))[:12]
        if r.fault.scope == "elsewhere" and r.fault.node:
            machines.setdefault(key, []).append(r.fault.node)
    for key, names in machines.items():
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        joined[key]["why"] += f" It was {', '.join(names[:3])}{more}."
    return list(joined.values())


def _reasons(judgement: Judgement, made: Trail, lead: Lead) -> list[dict[str, Any]]:
    reasons: list[dict[str, Any]] = []
    if judgement.winners:
        root = judgement.winners[0]
        if root.rule.why:
            reasons.append({"text": root.rule.why, "evidence": [i for f in judgement.winners for i in made.of(f)][:4]})
        if lead.fault is not None:
            reasons.append({"text": sentences.lead_reason(lead), "evidence": made.of(lead.fault)[:2]})
        explained = [e.effect for e in judgement.edges if e.cause in judgement.winners]
        count = sum(f.count for f in dict.fromkeys(explained) if f in judgement.symptoms)
        if count:
            shown = [i for f in dict.fromkeys(explained) if f in judgement.symptoms for i in made.of(f)[:1]]
            said = "1 other line is its effect." if count == 1 else f"{count} other lines are its effects."
            reasons.append({"text": said, "evidence": shown[:4]})
    elif judgement.outcome == "ambiguous":
        told = dict.fromkeys(f for a in judgement.alternatives for f in a.faults)
        by_rule = {f.rule.rule: f for f in reversed(told)}
        reasons += [
            {"text": f"{f.rule.title}: {f.rule.why or 'it fits more than one cause.'}", "evidence": made.of(f)[:4]}
            for f in reversed(by_rule.values())
        ]
    elif judgement.outcome == "insufficient_evidence":
        seen = [f for f in judgement.symptoms if made.of(f)][:2]
        reasons += [
            {"text": f"{f.rule.title}: {f.rule.why or 'a symptom, not a cause.'}", "evidence": made.of(f)[:3]}
            for f in seen
        ]
    return reasons[:3]


def _coverage(bundle: Bundle, pack: Pack, faults: list[Fault], judgement: Judgement) -> list[dict[str, Any]]:
    # An attributed answer rests on lines that stand by themselves, or on sources that were there.
    soft = judgement.outcome in ("ambiguous", "insufficient_evidence")
    entries = []
    for item in bundle.coverage:
        gap = item.status != "complete" or bool(item.nodes_missing)
        hidden = suspects(item.source, faults, pack) if gap and judgement.outcome != "no_failure" else []
        own = judgement.cause
        entries.append(
            {
                "source": item.source,
                "status": item.status,
                "nodes_missing": list(item.nodes_missing),
                "detail": item.detail,
                "could_have_shown": [c for c in hidden if c != own][:SUSPECTS_SHOWN],
                "could_change_answer": bool(soft and hidden),
            }
        )
    return entries


def _settle(bundle: Bundle, judgement: Judgement) -> list[dict[str, Any]]:
    """Concrete steps that would separate what is still possible: which source, of which node, for which minutes."""
    if judgement.outcome not in ("ambiguous", "insufficient_evidence"):
        return []
    told = [f for a in judgement.alternatives for f in a.faults] or judgement.symptoms
    times = [f.first.time for f in told if f.first.time]
    start, end = window(bundle.job)
    low = min((t.lo for t in times), default=None)
    from_s = low - AROUND if low is not None else start
    to_s = (max(t.hi for t in times) + AROUND) if times else end
    nodes = list(dict.fromkeys(n for f in told for n in sorted(f.nodes)))
    steps: list[dict[str, Any]] = []
    lacking: dict[str, tuple[str, ...]] = dict(judgement.lacking.items())
    for item in bundle.coverage:
        if item.source in lacking or (item.status == "complete" and not item.nodes_missing):
            continue
        if item.source in ("syslog", "applog", "fabric", "scheduler"):
            lacking[item.source] = item.nodes_missing or tuple(nodes)
    low_text, high_text = iso(from_s), iso(to_s)
    span = f" from {low_text[11:19]} to {high_text[11:19]} UTC" if low_text and high_text else ""
    for source, wanted in lacking.items():
        for node in wanted[:3] or (None,):
            text = f"Collect the {WANTED[source]}" + (f" of {node}" if node else "") + span
            steps.append({"text": text, "source": source, "node": node, "start": iso(from_s), "end": iso(to_s)})
    return steps[:STEPS]


def _clocks(observation: Observation) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    node_of = {s.stream: s.node for s in observation.signals if s.source in ("syslog", "fabric")}
    for stream, clock in sorted(observation.clocks.items()):
        if clock.basis == "as logged":
            continue
        name = node_of.get(stream) or stream
        found.setdefault(
            name,
            {"node": name, "offset_seconds": -clock.shift or 0.0, "error_seconds": clock.error, "basis": clock.basis},
        )
    return list(found.values())
