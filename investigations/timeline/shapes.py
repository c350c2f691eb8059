"""Lines and areas under and over the marks: lanes, the first-fault line, the lead, folds, links of unknown order."""

from typing import Any

from investigations.timeline.marks import Mark
from investigations.timeline.origin import Origin
from investigations.timeline.scene import Scene, line

Lead = tuple[float, float, str, str | None]
HATCHES = 48


def build(
    scene: Scene, origin: Origin, lead: Lead | None, arrows: list[tuple[Mark, Mark, bool]]
) -> list[dict[str, Any]]:
    drawn = _lanes(scene)
    drawn += _folds(scene)
    drawn += _origin(origin)
    if lead is not None and scene.visible(lead[0]) and scene.visible(lead[1]):
        drawn += _lead(scene, lead)
    index = scene.lanes.index()
    drawn += [
        line(x0=start.place, y0=index[start.lane], x1=end.place, y1=index[end.lane], xref="x", yref="y")
        | {"line": {"color": "var(--ink-3)", "width": 1.1, "dash": "4px,3px"}}
        for start, end, certain in arrows
        if not certain
    ]
    return drawn


def _origin(origin: Origin) -> list[dict[str, Any]]:
    """A line through all lanes; dashed for what is not known to be the first fault, or not when."""
    across: dict[str, Any] = {"xref": "x", "yref": "paper", "y0": 0, "y1": 0.995}
    dashed = {"color": "var(--fault)", "width": 1.2, "dash": "6px,4px"}
    if origin.band is not None:
        start, end, _ = origin.band
        filled = {"type": "rect", "layer": "below", "fillcolor": "var(--fault)", "opacity": 0.07, "line": {"width": 0}}
        drawn = [filled | across | {"x0": start, "x1": end}]
        return drawn + [line(**across, x0=place, x1=place) | {"line": dashed} for place in (start, end)]
    look = {"color": "var(--fault)", "width": 1.5} if origin.first else dashed | {"color": "var(--warn)"}
    return [line(**across, x0=place, x1=place) | {"line": look} for place, _ in origin.lines]


def _lanes(scene: Scene) -> list[dict[str, Any]]:
    drawn: list[dict[str, Any]] = []
    for row, lane in enumerate(scene.lanes.lanes):
        across = {"xref": "paper", "x0": 0, "x1": 1, "yref": "y"}
        if lane.hot:
            drawn.append(
                {"type": "rect", "layer": "below", "fillcolor": "var(--fault-bg)", "line": {"width": 0}}
                | across
                | {"y0": row - 0.5, "y1": row + 0.5}
            )
        if lane.blind:
            drawn.append(_hatch(row))
        drawn.append(line(**across, y0=row - 0.5, y1=row - 0.5))
    last = len(scene.lanes.lanes) - 0.5
    drawn.append(line(xref="paper", x0=0, x1=1, yref="y", y0=last, y1=last))
    return drawn


def _hatch(row: int) -> dict[str, Any]:
    """Slanted lines over the lane of a node that could not be seen: neither clean nor blank."""
    path = "".join(f"M{n / HATCHES:.4f},{row + 0.5}L{(n + 0.55) / HATCHES:.4f},{row - 0.5}" for n in range(HATCHES))
    return {
        "type": "path",
        "layer": "below",
        "path": path,
        "xref": "paper",
        "yref": "y",
        "opacity": 0.28,
        "line": {"color": "var(--ink-3)", "width": 1},
    }


def _folds(scene: Scene) -> list[dict[str, Any]]:
    drawn = []
    for fold in scene.axis.folds:
        middle = fold.place + fold.width / 2
        if not scene.visible(middle):
            continue
        for offset in (-2.5, 2.5):
            place = middle + offset * scene.per_px
            drawn.append(
                line(xref="x", x0=place, x1=place, yref="paper", y0=0, y1=1)
                | {"line": {"color": "var(--line-strong)", "width": 1, "dash": "5px,4px"}}
            )
    return drawn


def _lead(scene: Scene, lead: Lead) -> list[dict[str, Any]]:
    start, end, _, lane = lead
    ruler = scene.ruler
    drawn = [
        line(xref="x", yref="y", x0=start, x1=end, y0=ruler, y1=ruler) | {"line": {"color": "var(--ink-3)", "width": 1}}
    ]
    if lane is not None:
        drawn.append(
            line(xref="x", yref="y", x0=end, x1=end, y0=ruler - 0.2, y1=scene.row(lane) - 0.3)
            | {"line": {"color": "var(--ink-3)", "width": 1, "dash": "dot"}}
        )
    return drawn
