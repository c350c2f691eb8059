"""From a verdict and a view to everything that the page draws: lanes, the figure, and the sentences around it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from investigations.reading import times
from investigations.reading.beginning import Beginning, beginning
from investigations.timeline import labels, origin, sentences, shapes, traces
from investigations.timeline.axis import Axis, folded, whole
from investigations.timeline.lanes import Lane, Lanes, lay_out
from investigations.timeline.marks import FAR, Event, Mark, events, fold, undated
from investigations.timeline.scene import AXIS_HEIGHT, LANE, RULER, Scene
from investigations.timeline.view import View

ARROWS = 100


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
    candidates: bool
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
    begin = beginning(verdict)
    axis = _axis(verdict, begin, found, view)
    start = view.start if view.start is not None else 0.0
    end = view.end if view.end is not None else axis.length
    if view.since is not None and view.until is not None:
        start = axis.place(view.since)
        end = max(axis.place(view.until), start + 1e-4)
    lanes = lay_out(verdict, found, view)
    scene = Scene(view, axis, lanes, start, end)
    marks = _marks(found, lanes, scene)
    arrows = _arrows(verdict, marks, scene)
    start_of_it = origin.build(verdict, begin, found, marks, scene)
    lead = _lead(verdict, marks, start_of_it.first, view)
    data = traces.build(marks, start_of_it, scene)
    layout = _layout(scene)
    layout["shapes"] = shapes.build(scene, start_of_it, lead, arrows)
    layout["annotations"] = labels.build(scene, marks, start_of_it, lead, arrows)
    warning, quiet = sentences.clocks(verdict, begin, found, view)
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
        caption=sentences.caption(verdict, begin, found),
        candidates=begin.kind == "candidates",
        undated=undated(verdict),
    )


def _axis(verdict: Mapping[str, Any], begin: Beginning, found: list[Event], view: View) -> Axis:
    told = [event for event in found if event.role in ("cause", "symptom")] or found
    lies = origin.shown(begin, found, view.clock)
    if view.span == "fault":
        first, last = lies if lies is not None else (told[0].when(view.clock),) * 2
        lead = min(max(verdict["lead_seconds"] or 2.0, 0.5), 60.0)
        length = lead if last - first <= lead else 0.0
        room = max(0.4 * length, 0.2 * (last - first))
        return whole(first, last + length, before=room, after=1.1 * room)
    extents = [_extent(event, view.clock) for event in (found if view.span == "job" else told)]
    if view.span == "job":
        return _whole_job(verdict, begin, found, extents, view)
    return folded(extents + ([lies] if lies is not None else []))


def _whole_job(
    verdict: Mapping[str, Any], begin: Beginning, found: list[Event], extents: list[tuple[float, float]], view: View
) -> Axis:
    """The job from end to end. What a clock far off puts elsewhere follows with the time between them folded."""
    edges = [edge for key in ("started", "ended") if (edge := times.seconds(verdict["job"][key]))]
    far = [_far(event, view.clock) for event in found]
    if begin.kind == "within" and begin.start is not None and begin.end is not None:
        edges += [begin.start, begin.end]
    ends = edges + [end for extent, away in zip(extents, far, strict=True) if not away for end in extent]
    away = [extent for extent, is_far in zip(extents, far, strict=True) if is_far]
    if away:
        return folded(away + ([(min(ends), max(ends))] if ends else []))
    room = max(0.02 * (max(ends) - min(ends)), 0.5)
    return whole(min(ends), max(ends), before=room, after=room)


def _far(event: Event, clock: str) -> bool:
    return clock == "logged" and abs(event.at - event.logged) >= FAR


def _extent(event: Event, clock: str) -> tuple[float, float]:
    """First and last second that an event takes up where it is shown, with its other clock unless that is far."""
    at = event.when(clock)
    near = [at for at in (event.at, event.logged) if abs(at - event.when(clock)) < FAR]
    error = 0.0 if event.vague else event.error
    last = at + (event.last - event.at if event.last - event.at < 60 else 0.0)
    return min(near) - error, max([*near, last]) + error


def _marks(found: list[Event], lanes: Lanes, scene: Scene) -> list[Mark]:
    marks = []
    for event in found:
        shown = event.when(scene.view.clock)
        other = event.when("corrected" if scene.view.clock == "logged" else "logged")
        if abs(event.at - event.logged) >= FAR:
            other = shown
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
    verdict: Mapping[str, Any], marks: list[Mark], first: Mark | None, view: View
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
    gap = target.event.when(view.clock) - first.event.when(view.clock)
    if abs(gap - (target.event.at - first.event.at)) > max(0.2 * lead, 0.2):
        return None  # between two clocks the bracket would not be as long as it says
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
