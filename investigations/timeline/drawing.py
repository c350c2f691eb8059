"""From a verdict and a view to everything that the page draws: lanes, the figure, and the sentences around it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from investigations.reading import times, words
from investigations.timeline import labels, shapes, traces
from investigations.timeline.axis import Axis, folded, whole
from investigations.timeline.lanes import Lane, Lanes, lay_out
from investigations.timeline.marks import Event, Mark, events, fold, undated
from investigations.timeline.scene import AXIS_HEIGHT, LANE, RULER, Scene
from investigations.timeline.view import View

ARROWS = 100
FAR = 3600.0  # seconds; a clock that is further off is not drawn where it says


@dataclass(frozen=True, slots=True)
class Timeline:
    """`start`, `end` and `length` are places on the span's axis; `warning` is about clocks, empty when they agree."""

    figure: dict[str, Any]
    lanes: tuple[Lane, ...]
    view: View
    start: float
    end: float
    length: float
    window: str
    since: str
    until: str
    warning: str
    quiet_warning: bool
    two_clocks: bool
    caption: str
    undated: int


def figure(verdict: Mapping[str, Any], view: View) -> dict[str, Any]:
    """The Plotly figure alone: `{"data": [...], "layout": {...}}`, its colours named as CSS does: `var(--ink)`."""
    drawn = timeline(verdict, view)
    return drawn.figure if drawn else {"data": [], "layout": {}}


def timeline(verdict: Mapping[str, Any], view: View) -> Timeline | None:
    """None when no line of the verdict carries a time, so that there is nothing to draw."""
    found = events(verdict)
    if not found:
        return None
    axis = _axis(verdict, found, view)
    start = view.start if view.start is not None else 0.0
    end = view.end if view.end is not None else axis.length
    if view.since is not None and view.until is not None:
        start = axis.place(view.since)
        end = max(axis.place(view.until), start + 1e-4)
    lanes = lay_out(verdict, found, view)
    scene = Scene(view, axis, lanes, start, end)
    marks = _marks(found, lanes, scene)
    arrows = _arrows(verdict, marks, scene)
    first = next((mark for mark in marks if mark.event.role == "cause"), None)
    lead = _lead(verdict, marks, first, lanes)
    data = traces.build(marks, first, scene)
    layout = _layout(scene)
    layout["shapes"] = shapes.build(scene, first, lead, arrows)
    layout["annotations"] = labels.build(scene, marks, first, lead, arrows)
    warning, quiet = _clock_warning(verdict, found, view)
    return Timeline(
        figure={"data": data, "layout": layout},
        lanes=lanes.lanes,
        view=view,
        start=start,
        end=end,
        length=axis.length,
        window=_window(axis, start, end),
        since=times.exact(axis.at(start))[:-7],
        until=times.exact(axis.at(end))[:-7],
        warning=warning,
        quiet_warning=quiet,
        two_clocks=any(event.shifted for event in found),
        caption=_caption(verdict, found),
        undated=undated(verdict),
    )


def _axis(verdict: Mapping[str, Any], found: list[Event], view: View) -> Axis:
    told = [event for event in found if event.role in ("cause", "symptom")] or found
    first = times.seconds(verdict["first_fault_at"]) or told[0].at
    if view.span == "fault":
        lead = min(max(verdict["lead_seconds"] or 2.0, 0.5), 60.0)
        return whole(first, first + lead, before=0.4 * lead, after=0.45 * lead)
    if view.span == "job":
        edges = [times.seconds(verdict["job"][key]) for key in ("started", "ended")]
        ends = [*(edge for edge in edges if edge), *(event.at for event in found), *(event.last for event in found)]
        room = max(0.02 * (max(ends) - min(ends)), 0.5)
        return whole(min(ends), max(ends), before=room, after=room)
    return folded(_extent(event) for event in told)


def _extent(event: Event) -> tuple[float, float]:
    """First and last second that an event takes up, on whichever clock. Far clocks do not stretch the line."""
    near = [at for at in (event.at, event.logged) if abs(at - event.at) < FAR]
    error = 0.0 if event.vague else event.error
    return min(near) - error, max([*near, event.last if event.last - event.at < 60 else event.at]) + error


def _marks(found: list[Event], lanes: Lanes, scene: Scene) -> list[Mark]:
    marks = []
    for event in found:
        shown, other = (
            event.when(scene.view.clock),
            event.when("corrected" if scene.view.clock == "logged" else "logged"),
        )
        if abs(event.at - event.logged) >= FAR:
            shown = other = event.at
        if scene.axis.hides(shown):
            continue
        place = scene.axis.place(shown)
        if scene.visible(place, margin=0.02):
            marks.append(
                Mark(event, lanes.lane_of(event), place, scene.axis.place(other), event.count, 1, (event.evidence,))
            )
    return fold(marks, lanes.crowded(), scene.per_px)


def _arrows(verdict: Mapping[str, Any], marks: list[Mark], scene: Scene) -> list[tuple[Mark, Mark, bool]]:
    """(cause, effect, order is certain): what leads to each effect, the first in each lane, at most ARROWS."""
    by_evidence = {name: mark for mark in marks for name in mark.evidence}
    causes = {item["id"] for item in verdict["evidence"] if item["role"] == "cause"}
    drawn: dict[tuple[int, str, bool], tuple[Mark, Mark, bool]] = {}
    led_to: set[str] = set()
    aside = {item["id"] for item in verdict["evidence"] if item["role"] in ("context", "rejected")}
    for link in sorted(verdict["chain"], key=lambda link: link["from"] not in causes):
        if link["to"] in led_to or link["from"] in aside:
            continue
        led_to.add(link["to"])
        start, end = by_evidence.get(link["from"]), by_evidence.get(link["to"])
        if start is None or end is None or start is end:
            continue
        if start.lane == end.lane and abs(end.place - start.place) < 36 * scene.per_px:
            continue
        key = (id(start), end.lane, link["order"] == "certain")
        known = drawn.get(key)
        if known is None or end.place < known[1].place:
            drawn[key] = (start, end, link["order"] == "certain")
    return list(drawn.values())[:ARROWS]


def _lead(
    verdict: Mapping[str, Any], marks: list[Mark], first: Mark | None, lanes: Lanes
) -> tuple[float, float, str, str | None] | None:
    """The bracket from the first fault to the first visible error: its two places, its text, the lane it points to."""
    lead = verdict["lead_seconds"]
    if not lead or lead <= 0 or first is None:
        return None
    at = first.event.at + lead
    target = min(
        (m for m in marks if m.event.role == "symptom" and m.lane != first.lane),
        key=lambda mark: abs(mark.event.at - at),
        default=None,
    )
    if target is None or abs(target.event.at - at) > max(0.2 * lead, 0.2):
        return None
    return first.place, target.place, times.span(lead), target.lane


def _layout(scene: Scene) -> dict[str, Any]:
    ticks = scene.axis.ticks(scene.start, scene.end, scene.view.width)
    return {
        "height": scene.height,
        "margin": {"l": 0, "r": 0, "t": 0, "b": AXIS_HEIGHT},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "showlegend": False,
        "hovermode": "closest",
        "dragmode": "zoom",
        "font": {"size": 11 if scene.view.narrow else 12, "color": "var(--ink-2)"},
        "hoverlabel": {
            "bgcolor": "var(--surface)",
            "bordercolor": "var(--line-strong)",
            "font": {"color": "var(--ink)", "size": 12},
            "align": "left",
        },
        "xaxis": {
            "type": "linear",
            "range": [scene.start, scene.end],
            "tickmode": "array",
            "tickvals": [tick.place for tick in ticks],
            "ticktext": [tick.label for tick in ticks],
            "tickangle": 0,
            "gridcolor": "var(--line)",
            "griddash": "2px,3px",
            "linecolor": "var(--line)",
            "zeroline": False,
            "ticks": "outside",
            "ticklen": 4,
            "tickcolor": "var(--line-strong)",
        },
        "yaxis": {
            "range": [len(scene.lanes.lanes) - 0.5, -0.5 - RULER / LANE],
            "fixedrange": True,
            "showgrid": False,
            "zeroline": False,
            "showticklabels": False,
        },
    }


def _window(axis: Axis, start: float, end: float) -> str:
    left, right = axis.at(start), axis.at(end)
    digits = 3 if right - left < 10 else 1 if right - left < 3600 else 0
    day = times.moment(left).strftime("%d %b %Y")
    if times.moment(right).date() != times.moment(left).date():
        return f"{day} {times.clock(left, 0)} to {times.moment(right).strftime('%d %b %Y')} {times.clock(right, 0)} UTC"
    return f"{day}, {times.clock(left, digits)} to {times.clock(right, digits)} UTC"


def _clock_warning(verdict: Mapping[str, Any], found: list[Event], view: View) -> tuple[str, bool]:
    """What to know about clocks that disagree, and whether it is only a remark."""
    shifted: dict[str, Event] = {}
    for event in found:
        if event.node and abs(event.at - event.logged) > 0.5:
            shifted.setdefault(event.node, event)
    if not shifted:
        return "", True
    clocks = {clock["node"]: clock for clock in verdict["clocks"]}
    node, event = next(iter(shifted.items()))
    off = event.logged - event.at
    error = clocks.get(node, {}).get("error_seconds")
    basis = clocks.get(node, {}).get("basis")
    because = ", ".join(part for part in (times.within(error), f"from {basis}" if basis else "") if part)
    told = f"The clock of {node} runs {times.span(off)} {'slow' if off < 0 else 'fast'}"
    told += f" ({because})" if because else ""
    if len(shifted) > 1:
        told += f", and {words.counted(len(shifted) - 1, 'other clock')} disagree{'s' if len(shifted) == 2 else ''} too"
    first = times.seconds(verdict["first_fault_at"])
    early = next((e for e in shifted.values() if first is not None and e.at > first > e.logged), None)
    if view.clock == "corrected":
        return f"{told}. Its lines are moved; the hollow marks show the times as logged.", True
    if abs(off) >= FAR:
        return f"{told}. Its lines stand where the corrected clock puts them.", early is None
    if early is not None:
        seems = f"As logged, {early.node} seems to fail {times.span(first - early.logged)} before the first fault. "
        return f"{seems}{told}; the hollow marks show where its lines belong.", False
    return f"{told}; the hollow marks show where its lines belong.", True


def _caption(verdict: Mapping[str, Any], found: list[Event]) -> str:
    """The finding of the figure in one sentence."""
    first = times.seconds(verdict["first_fault_at"])
    symptoms = [event for event in found if event.role == "symptom"]
    nodes = {event.node for event in symptoms if event.node}
    lines = sum(event.count for event in symptoms)
    if first is None:
        places = f" on {words.counted(len(nodes), 'node')}" if nodes else ""
        if not symptoms:
            return f"{words.counted(len(found), 'line')} in the job's time, none of them a symptom."
        return f"{words.counted(lines, 'line')} of symptoms{places}, and no line that stands as the first fault."
    parts = [f"First fault at {times.sure(first, verdict['first_fault_error'])}"]
    if verdict["lead_seconds"]:
        parts.append(f"the first symptom elsewhere {times.span(verdict['lead_seconds'])} later")
    if symptoms:
        across = f" on {words.counted(len(nodes), 'node')}" if nodes else ""
        parts.append(f"{words.counted(lines, 'line')} of symptoms{across} in all")
    ended = times.seconds(verdict["job"]["ended"])
    if ended and ended > first:
        parts.append(f"the job ends after {times.span(ended - first)}")
    return ", ".join(parts) + "."
