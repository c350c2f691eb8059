"""Which words of a log line a rule found."""

import re2

from rules import core_pack, patterns


def span(signature: str, line: str) -> tuple[int, int] | None:
    """Characters from and to in `line` that the signature's pattern matches; None when it is not a rule of the pack."""
    pattern = _patterns().get(signature)
    if not pattern:
        return None
    raw = line.encode("utf-8", "replace")
    try:
        found = patterns.compiled(pattern).search(raw)
    except re2.error:
        return None
    if found is None:
        return None
    start = len(raw[: found.start()].decode("utf-8", "replace"))
    return start, start + len(raw[found.start() : found.end()].decode("utf-8", "replace"))


def _patterns() -> dict[str, str]:
    if not _CACHE:
        _CACHE.update({signature.id: signature.model.pattern or "" for signature in core_pack().signatures})
    return _CACHE


_CACHE: dict[str, str] = {}
