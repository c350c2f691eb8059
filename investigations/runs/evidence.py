"""A verdict's evidence as rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from investigations.runs.models import Evidence, Run


def evidence_rows(run: Run, items: Iterable[Mapping[str, Any]]) -> list[Evidence]:
    return [
        Evidence(
            run=run,
            evidence_id=item["id"],
            role=item["role"],
            signature=storable(item["signature"], 120),
            rule=storable(item["rule"], 120),
            title=storable(item["title"], 200),
            layer=item["layer"] or "",
            source=item["source"],
            stream=storable(item["stream"], 400),
            line=item["line"],
            offset=item["offset"],
            time=datetime.fromisoformat(item["time"]) if item["time"] else None,
            time_error=item["time_error"],
            node=storable(item["node"], 253),
            rank=item["rank"],
            device=storable(item["device"], 120),
            count=item["count"] or 1,
            text=storable(item["text"], 2000),
        )
        for item in items
    ]


def storable(value: str | None, limit: int) -> str:
    """Log text as every database takes it: PostgreSQL refuses NUL, and neither takes half of a surrogate pair."""
    text = (value or "").replace("\x00", "\N{SYMBOL FOR NULL}")
    return text.encode("utf-8", "replace").decode("utf-8")[:limit]
