"""A verdict as a person reads it in a terminal."""

from __future__ import annotations

from typing import Any, Final

from rules.verdict import Verdict

WORDS: Final = {
    "attributed": "Attributed",
    "ambiguous": "Ambiguous",
    "insufficient_evidence": "Insufficient evidence",
    "no_failure": "No failure",
}
SHOWN: Final = 12
# A line stamped in whole seconds is not worth a remark.
WHOLE_SECONDS: Final = 2.0


def _safe(text: str, width: int) -> str:
    """Log text for a terminal: control characters (escape sequences of strangers) made visible, cut to one line."""
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    return shown if len(shown) <= width else shown[: width - 1] + "…"


def _evidence(entry: dict[str, Any]) -> list[str]:
    when = entry["time"] or "no time"
    if entry["time"] and entry["time_error"] > WHOLE_SECONDS:
        when += f" to {entry['time_error']:.0f} s later"
    where = ", ".join(str(p) for p in (entry["node"], entry["device"]) if p)
    count = f" x{entry['count']}" if entry["count"] > 1 else ""
    return [
        f"  {entry['id']:>4}  {entry['role']:8} {when:27} {entry['title']}{count}" + (f"  [{where}]" if where else ""),
        f"        {entry['stream']}:{entry['line']}: {_safe(entry['text'], 160)}",
    ]


def report(verdict: Verdict, path: str) -> str:
    job = verdict["job"]
    lines = [
        f"{path}",
        f"  job {job['id'] or '?'} on {job['cluster'] or '?'}: {verdict['terminal_state']}, {len(job['nodes'])} nodes",
    ]
    cause = f" ({verdict['sub_domain']} / {verdict['cause']})" if verdict["cause"] else ""
    lines += [f"  {WORDS[verdict['outcome']]}{cause}", f"  {verdict['summary']}", f"  What to do: {verdict['action']}"]
    for problem in verdict["problems"]:
        lines.append(f"  Problem: {problem['what']} ({problem['where']}). {problem['remedy']}")
    if verdict["evidence"]:
        lines.append("  Evidence")
        for entry in verdict["evidence"][:SHOWN]:
            lines += _evidence(entry)
        if len(verdict["evidence"]) > SHOWN:
            lines.append(f"        … {len(verdict['evidence']) - SHOWN} more lines")
    for heading, key in (("Still possible", "alternatives"), ("Ruled out", "rejected")):
        if verdict[key]:
            lines.append(f"  {heading}")
            lines += [f"    {item['title']} ({item['cause']}): {item['why']}" for item in verdict[key][:SHOWN]]
    gaps = [c for c in verdict["coverage"] if c["status"] != "complete" or c["nodes_missing"]]
    if gaps:
        lines.append("  What it could not see")
        for gap in gaps:
            nodes = f", missing: {', '.join(gap['nodes_missing'][:6])}" if gap["nodes_missing"] else ""
            could = f"; could have shown {', '.join(gap['could_have_shown'][:5])}" if gap["could_have_shown"] else ""
            lines.append(f"    {gap['source']}: {gap['status'].replace('_', ' ')}{nodes}{could}")
    for step in verdict["settle"]:
        lines.append(f"  To settle it: {step['text']}")
    return "\n".join(lines)
