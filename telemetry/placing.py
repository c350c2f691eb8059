"""Which node a file of a bundle belongs to, told from its name."""

from __future__ import annotations

import re
from collections.abc import Sequence

_ENDINGS = re.compile(r"\.(?:gz|xz|zst|bz2|log|txt|out|err|jsonl?|dmesg|journal|messages|syslog|kern)$", re.I)
# Names of whole logs, not of hosts.
_GENERAL = {
    "messages", "syslog", "kern", "kernel", "dmesg", "journal", "journalctl", "system", "all", "combined", "merged",
    "nodes", "console", "cluster", "secure", "daemon", "slurmctld", "slurmd", "slurmdbd", "opensm", "ufm",
    "fabricmanager", "ibdiagnet", "switch", "switches", "fabric",
}  # fmt: skip


def node_of_stream(source: str, path: str, nodes: Sequence[str], target: str | None = None) -> str | None:
    """The node whose log a stream is, or None when it is not one node's or the name does not tell.

    A name (or folder) that is or holds the name of a node of the job is that node. Else the stem of a syslog or fabric
    file is taken for a host, unless it is a general name like `messages`; the target from the manifest goes first.
    """
    names = [target] if target else []
    names += [stem(part) for part in reversed(path.split("/")[1:])]
    for name in names:
        found = _held_node(name, nodes)
        if found:
            return found
    if source not in ("syslog", "fabric"):
        return None
    name = target or (path.split("/")[1] if path.count("/") > 1 else stem(path.split("/")[-1]))
    if name.lower() in _GENERAL or not name:
        return nodes[0] if source == "syslog" and len(nodes) == 1 else None
    return name


def stem(name: str) -> str:
    """A file name without the endings that logs have; a dotted host name keeps its dots."""
    while True:
        shorter = _ENDINGS.sub("", name)
        if shorter == name or not shorter:
            return name
        name = shorter


def same_host(one: str, other: str) -> bool:
    """Equal names, or one is the short name of the other."""
    one, other = one.lower(), other.lower()
    return one == other or one.startswith(other + ".") or other.startswith(one + ".")


def _held_node(name: str, nodes: Sequence[str]) -> str | None:
    best: str | None = None
    for node in nodes:
        if same_host(name, node):
            return node
        at = name.find(node)
        if at < 0 or len(node) < 2 or (best and len(node) <= len(best)):
            continue
        before, after = name[at - 1 : at], name[at + len(node) : at + len(node) + 1]
        if not before.isalnum() and not after.isalnum():
            best = node
    return best
