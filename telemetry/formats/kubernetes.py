"""Kubernetes, Kueue and operator objects as `kubectl get -o json` and the API give them: records and job facts.

Checked on Kubernetes 1.35 and Kueue 0.19. Events come in two shapes (core and events.k8s.io); OOMKilled stands only in
a container's state; an evicted pod may have no container states at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from telemetry.formats.documents import Cursor, Documents
from telemetry.formats.record import Record, word, words
from telemetry.formats.times import Moment, moment

_KUBELET = ("kubelet", "containerd", "kernel-monitor", "node-problem-detector")
_OLDEST = 946_684_800.0  # 2000-01-01: the API prints 1970 for times that are not set


def flatten(found: Any) -> list[dict[str, Any]]:
    """Every object in a List, a watch line ({"type", "object"}), an array, or an object by itself."""
    if isinstance(found, list):
        return [item for member in found for item in flatten(member)]
    if not isinstance(found, dict):
        return []
    items = found.get("items")
    if isinstance(items, list):
        kind = str(found.get("kind") or "").removesuffix("List")
        # Members of a typed list (PodList) do not say their kind themselves.
        return [{"kind": kind, **item} if kind else item for item in items if isinstance(item, dict)]
    if isinstance(found.get("object"), dict) and "type" in found:
        return flatten(found["object"])
    return [found] if isinstance(found.get("metadata"), dict) else []


def is_kubernetes(found: Any) -> bool:
    """Whether a JSON value holds Kubernetes objects."""
    if isinstance(found, dict) and isinstance(found.get("items"), list):
        return "apiVersion" in found or any(isinstance(i, dict) and "metadata" in i for i in found["items"][:5])
    return any("apiVersion" in item or "kind" in item for item in flatten(found)[:5])


def node_of_pod(pod: dict[str, Any]) -> str | None:
    """The node that a pod was bound to."""
    return _text(_part(pod, "spec").get("nodeName"))


def finish_times(pod: dict[str, Any]) -> list[float]:
    """When the pod's containers finished, epoch seconds; empty while one is not finished."""
    times = [_time(_part(_part(status, "state"), "terminated").get("finishedAt")) for status in _containers(pod)]
    return [time.seconds for time in times if time] if all(times) else []


def kubernetes_records(documents: Documents) -> Iterator[Record]:
    """Records of all objects, in the file's order: pods, their containers, conditions of any object, events."""
    cursor = Cursor(documents.text)
    objects = [item for value in documents.values for item in flatten(value)]
    nodes = {
        (_meta(item, "namespace"), _meta(item, "name")): node_of_pod(item)
        for item in objects
        if item.get("kind") == "Pod"
    }
    for item in objects:
        # A pod may be gone while the event that says where it was put is left.
        if item.get("kind") == "Event" and item.get("reason") == "Scheduled":
            about = _part(item, "involvedObject") or _part(item, "regarding")
            node = str(item.get("message") or item.get("note") or "").rpartition(" to ")[2].strip()
            if node and " " not in node:
                nodes.setdefault((str(about.get("namespace") or ""), str(about.get("name"))), node)
    for item in objects:
        where = _place(cursor, item)
        if item.get("kind") == "Event":
            yield _event(item, where, nodes)
            continue
        if item.get("kind") == "Pod":
            yield from _pod(item, where)
        yield from _conditions(item, where)


def _pod(pod: dict[str, Any], where: tuple[int, int]) -> Iterator[Record]:
    name, node, status = _meta(pod, "name"), node_of_pod(pod), _part(pod, "status")
    started = _time(status.get("startTime")) or _time(_part(pod, "metadata").get("creationTimestamp"))
    deleted = _time(_part(pod, "metadata").get("deletionTimestamp"))
    ends = finish_times(pod)
    time = Moment(max(ends), 1.0, False) if ends else deleted or started
    yield _record(
        where,
        time,
        node,
        words(
            "pod",
            {"name": name, "node": node, "phase": status.get("phase"), "reason": status.get("reason")},
            ("message", status.get("message")),
        ),
        {"pod": name, "deleted": "1" if deleted else "0", "owner": _owner(pod)},
    )
    for init, container in [(True, c) for c in _containers(pod, "initContainerStatuses")] + [
        (False, c) for c in _containers(pod)
    ]:
        for last, state in ((0, _part(container, "state")), (1, _part(container, "lastState"))):
            for word_, inner in state.items():
                if isinstance(inner, dict):
                    yield _container(name, node, container, word_, inner, last, init, where)


def _container(
    pod: str,
    node: str | None,
    container: dict[str, Any],
    state: str,
    inner: dict[str, Any],
    last: int,
    init: bool,
    where: tuple[int, int],
) -> Record:
    pairs = {
        "pod": pod,
        "node": node,
        "name": container.get("name"),
        "state": state,
        "last": last,
        "init": int(init),
        "reason": inner.get("reason"),
        "exit": inner.get("exitCode"),
        "signal": inner.get("signal"),
        "restarts": container.get("restartCount"),
    }
    time = _time(inner.get("finishedAt")) or (_time(inner.get("startedAt")) if state == "running" else None)
    fields = {key: word(pairs[key]) for key in ("pod", "name", "state", "reason", "exit", "signal", "restarts")}
    fields["image"] = word(container.get("image"))
    return _record(where, time, node, words("container", pairs, ("message", inner.get("message"))), fields)


def _conditions(item: dict[str, Any], where: tuple[int, int]) -> Iterator[Record]:
    kind, name = str(item.get("kind") or "Object"), _meta(item, "name")
    node = node_of_pod(item) if kind == "Pod" else name if kind == "Node" else None
    found = _part(item, "status").get("conditions")
    for condition in found if isinstance(found, list) else []:
        if not isinstance(condition, dict):
            continue
        time = _time(condition.get("lastTransitionTime")) or _time(condition.get("lastProbeTime"))
        pairs = {
            "object": f"{kind}/{name}",
            "node": node,
            "type": condition.get("type"),
            "status": condition.get("status"),
            "reason": condition.get("reason"),
        }
        fields = {key: word(pairs[key]) for key in ("object", "type", "status", "reason")}
        yield _record(where, time, node, words("condition", pairs, ("message", condition.get("message"))), fields)


def _event(item: dict[str, Any], where: tuple[int, int], nodes: dict[tuple[str, str], str | None]) -> Record:
    about = _part(item, "involvedObject") or _part(item, "regarding")
    source = _part(item, "source") or _part(item, "deprecatedSource")
    series = _part(item, "series")
    component = str(source.get("component") or item.get("reportingComponent") or item.get("reportingController") or "")
    kind, name = str(about.get("kind") or "Object"), str(about.get("name") or "-")
    node = name if kind == "Node" else nodes.get((str(about.get("namespace") or ""), name))
    if "scheduler" in component and item.get("reason") != "Scheduled":
        # Said before the pod had a node: where it ran later has nothing to do with it.
        node = None
    if node is None and component.startswith(_KUBELET):
        node = _text(source.get("host")) or _text(item.get("reportingInstance"))
    first = (
        _time(item.get("firstTimestamp")) or _time(item.get("deprecatedFirstTimestamp")) or _time(item.get("eventTime"))
    )
    last = (
        _time(item.get("lastTimestamp"))
        or _time(item.get("deprecatedLastTimestamp"))
        or _time(series.get("lastObservedTime"))
    )
    created = _time(_part(item, "metadata").get("creationTimestamp"))
    time = first or last or created
    pairs = {
        "object": f"{kind}/{name}",
        "node": node,
        "type": item.get("type"),
        "reason": item.get("reason"),
        "count": item.get("count") or series.get("count") or item.get("deprecatedCount") or 1,
    }
    fields = {key: word(value) for key, value in pairs.items() if key != "node"}
    fields["component"] = word(component)
    fields["first_seconds"] = f"{time.seconds:.6f}" if time else "-"
    end = last or time
    fields["last_seconds"] = f"{end.seconds:.6f}" if end else "-"
    return _record(
        where, time, node, words("event", pairs, ("message", item.get("message") or item.get("note"))), fields
    )


def _record(where: tuple[int, int], time: Moment | None, node: str | None, text: str, fields: dict[str, str]) -> Record:
    return Record(
        where[0],
        where[1],
        time.seconds if time else None,
        time.precision if time else 1.0,
        bool(time and time.local),
        node,
        text,
        fields,
    )


def _place(cursor: Cursor, item: dict[str, Any]) -> tuple[int, int]:
    """The line of an object's uid, else of its name, looked for from the last object on."""
    for key in ("uid", "name"):
        value = _part(item, "metadata").get(key)
        if value and cursor.has(f'"{value}"'):
            return cursor.find(f'"{value}"')
    return cursor.find("\0")


def _containers(pod: dict[str, Any], key: str = "containerStatuses") -> list[dict[str, Any]]:
    found = _part(pod, "status").get(key)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def _owner(item: dict[str, Any]) -> str:
    owners = _part(item, "metadata").get("ownerReferences")
    first = owners[0] if isinstance(owners, list) and owners and isinstance(owners[0], dict) else {}
    return word(f"{first.get('kind')}/{first.get('name')}" if first else None)


def _part(item: dict[str, Any], key: str) -> dict[str, Any]:
    found = item.get(key)
    return found if isinstance(found, dict) else {}


def _meta(item: dict[str, Any], key: str) -> str:
    return str(_part(item, "metadata").get(key) or ("" if key == "namespace" else "-"))


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _time(value: Any) -> Moment | None:
    found = moment(value)
    return found if found and found.seconds >= _OLDEST else None
