"""Which lanes a timeline has, and which lane an event belongs to.

Order: the culprit's node, open to its devices; the node of the first symptom; nodes with an odd clock or without
a system log; the rest folded into one; what no node is known for; the scheduler last.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from investigations.reading import times, words
from investigations.timeline.marks import Event
from investigations.timeline.view import View

CULPRITS, ODD, OPENED, DEVICES = 3, 4, 40, 4
SLOW = 0.5  # seconds; a clock that is off by less is not worth a word


@dataclass(frozen=True, slots=True)
class Lane:
    """`toggle` is the name by which a click folds or unfolds it; empty when it cannot."""

    key: str
    label: str
    note: str = ""
    hot: bool = False
    sub: bool = False
    blind: bool = False
    odd_clock: bool = False
    toggle: str = ""
    open: bool = False
    crowded: bool = False


@dataclass(frozen=True, slots=True)
class Lanes:
    lanes: tuple[Lane, ...]
    of_node: Mapping[str, str]
    of_device: Mapping[tuple[str, str], str]

    def index(self) -> dict[str, int]:
        return {lane.key: number for number, lane in enumerate(self.lanes)}

    def lane_of(self, event: Event) -> str:
        if event.source == "scheduler" or event.layer == "scheduler":
            return "scheduler"
        if event.node is None:
            return "unplaced"
        key = words.device_key(event.device)
        if key and (event.node, key) in self.of_device:
            return self.of_device[event.node, key]
        return self.of_node.get(event.node, "rest")

    def crowded(self) -> frozenset[str]:
        return frozenset(lane.key for lane in self.lanes if lane.crowded)


def lay_out(verdict: Mapping[str, Any], events: Iterable[Event], view: View) -> Lanes:
    """The lanes of `verdict` as `view` has them folded."""
    return _Layout(verdict, list(events), view).lanes()


class _Layout:
    def __init__(self, verdict: Mapping[str, Any], events: list[Event], view: View) -> None:
        self.verdict, self.view = verdict, view
        self.events = events
        self.by_node: dict[str, list[Event]] = defaultdict(list)
        for event in events:
            if event.node and event.source != "scheduler":
                self.by_node[event.node].append(event)
        self.job_nodes = list(verdict["job"]["nodes"])
        self.blind = _without_syslog(verdict)
        self.clocks = {
            clock["node"]: clock
            for clock in verdict["clocks"]
            if abs(clock["offset_seconds"] or 0) > max(SLOW, clock["error_seconds"] or 0)
        }
        self.culprits = list(dict.fromkeys(c["node"] for c in verdict["culprits"] if c["node"]))
        self.blamed = verdict["outcome"] == "attributed"  # else a culprit is only suspected
        self.found: list[Lane] = []
        self.of_node: dict[str, str] = {}
        self.of_device: dict[tuple[str, str], str] = {}

    def lanes(self) -> Lanes:
        own = self._own_lanes()
        for node in own:
            self._node(node)
        self._rest([node for node in self._everywhere() if node not in own])
        if any(
            event.node is None and event.layer != "scheduler" and event.source != "scheduler" for event in self.events
        ):
            self.found.append(Lane("unplaced", "Job output", "no node known"))
        if any(event.source == "scheduler" or event.layer == "scheduler" for event in self.events):
            whole = all(e.error >= 1 for e in self.events if e.source == "scheduler")
            self.found.append(Lane("scheduler", "Scheduler", "whole seconds" if whole else ""))
        return Lanes(tuple(self.found), self.of_node, self.of_device)

    def _everywhere(self) -> list[str]:
        return list(dict.fromkeys([*self.job_nodes, *self.by_node]))

    def _own_lanes(self) -> list[str]:
        """The nodes with a lane of their own, in order."""
        own = self.culprits[:CULPRITS]
        first = next(
            (e.node for e in self.events if e.role == "symptom" and e.node in self.by_node and e.node not in own), None
        )
        own += [first] if first else []
        blind = self.blind if len(self.blind) < len(self.job_nodes) else []
        odd = [node for node in [*self.clocks, *blind] if node not in own and node in self._everywhere()]
        own += list(dict.fromkeys(odd))[:ODD]
        others = [node for node in self._everywhere() if node not in own]
        if len(others) <= 3:
            return own + others
        if "*" in self.view.toggled:
            return own + sorted(others, key=lambda node: (node not in self.by_node, node))[:OPENED]
        return own

    def _node(self, node: str) -> None:
        devices = self._devices(node)
        culprit = node in self.culprits
        opens = bool(devices)
        is_open = opens and (culprit != (node in self.view.toggled))
        key = f"node:{node}"
        hot_devices = {
            words.device_key(c["device"]) for c in self.verdict["culprits"] if c["node"] == node and c["device"]
        }
        self.of_node[node] = key
        self.found.append(
            Lane(
                key,
                node,
                self._note(node, is_open),
                hot=self.blamed and culprit and not (is_open and hot_devices & devices.keys()),
                blind=node in self.blind,
                odd_clock=node in self.clocks,
                toggle=node if opens else "",
                open=is_open,
            )
        )
        if is_open:
            self._device_lanes(node, devices, hot_devices)

    def _device_lanes(self, node: str, devices: dict[str, str], hot_devices: set[str]) -> None:
        """`devices`: the key of each and its name."""
        hot = [device for device in devices if device in hot_devices]
        cool = [device for device in devices if device not in hot_devices]
        single = hot + (cool if len(cool) <= DEVICES else [])
        for device in single:
            key = f"device:{node}:{device}"
            self.of_device[node, device] = key
            note = _ranks(self.by_node[node], device) or words.device_address(devices[device])
            name = words.device_name(words.device_itself(devices[device]))
            self.found.append(Lane(key, name, note, hot=self.blamed and device in hot_devices, sub=True))
        together = [device for device in cool if device not in single]
        if together:
            key = f"devices:{node}"
            self.of_device.update({(node, device): key for device in together})
            self.found.append(Lane(key, words.counted(len(together), "other device"), sub=True, crowded=True))

    def _devices(self, node: str) -> dict[str, str]:
        seen = [event.device for event in self.by_node[node] if event.device]
        seen += [c["device"] for c in self.verdict["culprits"] if c["node"] == node and c["device"]]
        named = {words.device_key(device): device for device in reversed(seen)}
        return dict(sorted(named.items(), key=lambda pair: _in_order(pair[1])))

    def _note(self, node: str, is_open: bool) -> str:
        if node in self.clocks:
            offset = self.clocks[node]["offset_seconds"]
            return f"{times.span(offset)} {'slow' if offset < 0 else 'fast'}"
        if node in self.blind:
            return "no syslog"
        if node not in self.job_nodes:
            return "not in the job"
        if is_open:
            return "host"
        if node in self.culprits:
            return ""
        if node not in self.by_node:
            return "no sign of its own"
        return "" if any(event.role == "symptom" for event in self.by_node[node]) else "context"

    def _rest(self, nodes: list[str]) -> None:
        if not nodes:
            return
        signs = sum(1 for node in nodes if node in self.by_node)
        note = "victims only" if signs == len(nodes) else f"{signs} with symptoms" if signs else "no sign of their own"
        blind = bool(self.blind) and all(node in self.blind for node in nodes)
        self.found.append(
            Lane(
                "rest",
                words.counted(len(nodes), "more node"),
                "no syslog" if blind else note,
                blind=blind,
                toggle="*",
                open="*" in self.view.toggled,
                crowded=True,
            )
        )


def _without_syslog(verdict: Mapping[str, Any]) -> list[str]:
    """Nodes whose system log is known to be missing. A source that nobody collected leaves every node blind."""
    for part in verdict["coverage"]:
        if part["source"] == "syslog":
            if part["status"] in ("failed", "not_configured", "not_collected", "empty"):
                return list(verdict["job"]["nodes"])
            return list(part["nodes_missing"])
    return []


def _in_order(device: str) -> tuple[int, str]:
    """`GPU 3` before `GPU 10`."""
    number = next((part for part in words.device_name(device).split() if part.isdigit()), "")
    return int(number[:9]) if number else -1, device


def _ranks(events: list[Event], device: str) -> str:
    ranks = sorted({e.rank for e in events if words.device_key(e.device) == device and e.rank is not None})
    return f"rank {ranks[0]}" if len(ranks) == 1 else ""
