"""`make accuracy`: verdicts on labelled incidents, counted. Labels are never shown to the engine.

match      the label's outcome, and for `attributed` its cause (or one that it accepts) at its nodes, with at most one
           node more; or another whole verdict that the label accepts
near       the right sub-domain and place with another cause, or the two ways of holding back mixed up
abstained  the label has an answer, the verdict holds back
wrong      a confident answer that is not the label's
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from rules import attribute_path

INCIDENTS = Path(__file__).parents[1] / "data" / "incidents"
HELD_BACK = ("ambiguous", "insufficient_evidence")


def labelled(folder: Path) -> list[Path]:
    return sorted(file.parent for file in folder.glob("*/incident.yaml"))


def _nodes(culprits: Any) -> set[str]:
    return {c["node"] for c in culprits or () if c.get("node")}


def _place_fits(label: Mapping[str, Any], verdict: Mapping[str, Any], job_nodes: int) -> bool:
    """Every labelled node is named, and nobody is blamed beside them but one at most, never all of a small job's."""
    wanted, named = _nodes(label.get("culprits")), _nodes(verdict["culprits"])
    extra = named - wanted - set(label.get("also_nodes", ()))
    return wanted <= named and len(extra) <= (1 if job_nodes > 2 or not wanted else 0)


def _accepted(label: Mapping[str, Any], verdict: Mapping[str, Any], job_nodes: int) -> bool:
    """Is it one of the whole other verdicts that a careful expert could defend?"""
    for other in label.get("also_verdicts", ()):
        same = verdict["outcome"] == other["outcome"] and other.get("cause", verdict["cause"]) == verdict["cause"]
        if same and (other["outcome"] != "attributed" or _place_fits(label, verdict, job_nodes)):
            return True
    return False


def judge(label: Mapping[str, Any], verdict: Mapping[str, Any], job_nodes: int) -> str:
    """One of match, near, abstained, wrong."""
    wanted, given = label["outcome"], verdict["outcome"]
    if _accepted(label, verdict, job_nodes):
        return "match"
    if wanted == "attributed":
        if given in HELD_BACK:
            return "abstained"
        if given != "attributed" or not _place_fits(label, verdict, job_nodes):
            return "wrong"
        if verdict["cause"] in {label["cause"], *label.get("also_accept", ())}:
            return "match"
        return "near" if verdict["sub_domain"] == label["sub_domain"] else "wrong"
    if wanted == "ambiguous" and given == "ambiguous":
        listed = {a["cause"] for a in verdict["alternatives"]}
        fitting = listed & {*label.get("alternatives", ()), *label.get("also_accept", ())}
        return "match" if len(fitting) >= 2 and len(listed) <= 5 else "near"
    if given == wanted:
        return "match"
    if given in HELD_BACK:
        return "near" if wanted in HELD_BACK else "abstained"
    return "wrong"


def count(folder: Path) -> tuple[Counter[str], list[str]]:
    """Results by kind, and a line for each that is not a match."""
    counts: Counter[str] = Counter()
    misses = []
    for bundle in labelled(folder):
        incident = yaml.safe_load((bundle / "incident.yaml").read_text(encoding="utf-8"))
        verdict = attribute_path(bundle)
        result = judge(incident["label"], verdict, len(incident["job"].get("nodes", ())))
        counts[result] += 1
        if result != "match":
            label = incident["label"]
            said = f"{verdict['outcome']}, {verdict['cause']}"
            misses.append(f"{result:9} {bundle.name}: {label['outcome']}, {label.get('cause')}; we say {said}")
    return counts, misses


def main() -> None:
    for folder in sorted(path for path in INCIDENTS.iterdir() if path.is_dir()):
        counts, misses = count(folder)
        total = sum(counts.values())
        shares = ", ".join(
            f"{kind} {counts[kind]} ({counts[kind] / total:.0%})" for kind in ("match", "near", "abstained", "wrong")
        )
        sys.stdout.write(f"{folder.name}: {total} incidents: {shares}\n" + "".join(f"  {line}\n" for line in misses))


if __name__ == "__main__":
    main()
