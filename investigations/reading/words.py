"""Plain words for the slugs of a verdict, and the shortened forms of places."""

import re

LAYERS = {
    "gpu": "GPU",
    "fabric": "Fabric",
    "network": "Network",
    "communication": "Communication",
    "application": "Application",
    "host": "Host",
    "storage": "Storage",
    "scheduler": "Scheduler",
}
ROLES = {
    "cause": "Cause",
    "candidate": "Candidate",
    "symptom": "Symptom",
    "context": "Context",
    "rejected": "Ruled out",
}
SOURCES = ("scheduler", "applog", "syslog", "fabric", "metrics")
SOURCE_WORDS = {
    "scheduler": "scheduler",
    "applog": "job output",
    "syslog": "system log",
    "fabric": "fabric log",
    "metrics": "metrics",
}
STATUSES = {
    "complete": "complete",
    "partial": "partial",
    "empty": "asked, empty",
    "failed": "failed",
    "not_configured": "not set up",
    "not_collected": "not collected",
}
RELATIONS = {
    "same_device": "same device",
    "same_node": "same node",
    "same_rank": "same rank",
    "same_job": "same job",
    "link_peer": "other end of the link",
    "anywhere": "another place",
}
_DETAIL_IN_BRACKETS = re.compile(r"\s*\([^()]{1,64}\)")


def layer(slug: str) -> str:
    return LAYERS.get(slug, slug.replace("_", " "))


def plain(slug: str | None) -> str:
    """`same_device` -> `same device`: a slug that has no word of its own."""
    return RELATIONS.get(slug or "", (slug or "").replace("_", " "))


def device_name(device: str | None) -> str:
    """`GPU 3 (0000:5d:00)` -> `GPU 3`: without the address in brackets, which has its own place."""
    text = device or ""
    return _DETAIL_IN_BRACKETS.sub("", text).strip() or text


def device_address(device: str | None) -> str:
    """`GPU 3 (0000:5d:00)` -> `0000:5d:00`; empty when there is none."""
    found = _DETAIL_IN_BRACKETS.search(device or "")
    return found.group().strip(" ()") if found and device_name(device) != device else ""


def device_key(device: str | None) -> str:
    """What two spellings of one device share: `GPU 3 (0000:5d:00) link 8` and `GPU 3 (0000:5d:00)` are one GPU."""
    return device_address(device) or device_name(device)


def device_itself(device: str | None) -> str:
    """`GPU 3 (0000:5d:00) link 8` -> `GPU 3 (0000:5d:00)`: the device without the part of it."""
    found = _DETAIL_IN_BRACKETS.search(device or "")
    return (device or "")[: found.end()] if found else (device or "")


def place(node: str | None, device: str | None = None, rank: int | None = None) -> str:
    """`gpu-node-07 GPU 3`, `rank 5`, or an empty text."""
    parts = [part for part in (node, device_name(device)) if part]
    if not parts and rank is not None:
        parts = [f"rank {rank}"]
    return " ".join(parts)


def counted(number: int, one: str, many: str | None = None) -> str:
    """`1 node`, `12 nodes`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
