"""What the review bar and its forms need to know about an investigation."""

from typing import Any

from investigations import taxonomy
from investigations.runs.queries import InvestigationPage


def review_context(page: InvestigationPage) -> dict[str, Any]:
    """`judged` is the run that a decision would be about: the one on the page, once it has a verdict."""
    if not page.verdict or not page.run:
        return {"judged": None}
    return {"judged": page.run, "causes": cause_list(), **places(page.verdict)}


def cause_list() -> list[tuple[str, str]]:
    """(slug, `GPU: GPU fell off bus`) for every cause."""
    return [(cause, f"{group}: {words}") for group, causes in taxonomy.cause_choices() for cause, words in causes]


def places(verdict: dict[str, Any]) -> dict[str, Any]:
    """Nodes and devices to choose a culprit from, and what the verdict itself chose."""
    seen = [(item["node"], item["device"]) for item in verdict["evidence"]]
    chosen = verdict["culprits"][0] if verdict["culprits"] else {"node": "", "device": ""}
    nodes = dict.fromkeys([*(c["node"] for c in verdict["culprits"]), *verdict["job"]["nodes"], *(n for n, _ in seen)])
    return {
        "nodes": [node for node in nodes if node][:2000],
        "devices": sorted({device for _, device in seen if device})[:500],
        "chosen": chosen,
    }
