"""Marks, smears and rings as Plotly traces. Layers differ by colour and by shape."""

from typing import Any

from investigations.reading import times, words
from investigations.timeline.marks import Mark
from investigations.timeline.origin import Origin
from investigations.timeline.scene import Scene, plain

SHAPES = {
    "gpu": "diamond",
    "fabric": "square",
    "network": "triangle-up",
    "communication": "circle",
    "application": "x-thin",
    "host": "pentagon",
    "storage": "hexagram",
    "scheduler": "triangle-down",
}
THIN = ("x-thin",)  # shapes that are only an outline


def build(marks: list[Mark], origin: Origin, scene: Scene) -> list[dict[str, Any]]:
    """All traces, those underneath first. The last is the empty ring that the page puts round the chosen evidence."""
    index = scene.lanes.index()
    first = origin.first
    drawn: list[dict[str, Any]] = []
    layers = [layer for layer in SHAPES if any(mark.event.layer == layer for mark in marks)]
    for layer in layers:
        of_layer = [mark for mark in marks if mark.event.layer == layer]
        drawn += _smears(of_layer, layer, index, scene)
    drawn += _other_clock(marks, index)
    for layer in layers:
        of_layer = [mark for mark in marks if mark.event.layer == layer and mark is not first]
        if of_layer:
            drawn.append(_layer(of_layer, layer, index, scene))
    if first is not None:
        drawn.append(_first_fault(first, index, scene))
    if origin.candidates:
        drawn.append(_candidates(origin.candidates, index))
    drawn.append(_ring())
    return drawn


def _trace(name: str, mode: str, **more: Any) -> dict[str, Any]:
    return {"type": "scatter", "name": name, "mode": mode, "showlegend": False, "hoverinfo": "skip"} | more


def _smears(marks: list[Mark], layer: str, index: dict[str, int], scene: Scene) -> list[dict[str, Any]]:
    """The interval in which each time lies, where wider than the mark. A whole second reaches to its right alone."""
    wide = sorted((index[mark.lane], *interval(mark, scene)) for mark in marks)
    joined: list[tuple[int, float, float]] = []
    for row, left, right in wide:
        if right - left < 10 * scene.per_px:
            continue
        if joined and joined[-1][0] == row and left <= joined[-1][2]:
            joined[-1] = (row, joined[-1][1], max(right, joined[-1][2]))
        else:
            joined.append((row, left, right))
    x = [value for _, left, right in joined for value in (left, right, None)]
    y = [value for row, _, _ in joined for value in (row, row, None)]
    if not x:
        return []
    line = {"color": f"var(--l-{layer})", "width": 9}
    return [_trace(f"{layer} within", "lines", x=x, y=y, line=line, opacity=0.32, connectgaps=False)]


def interval(mark: Mark, scene: Scene) -> tuple[float, float]:
    """The places between which a mark's time lies, within the window."""
    event = mark.event
    middle = event.told + (event.when(scene.view.clock) - event.at)
    before = 0.0 if event.error == 1.0 else event.error
    left, right = scene.axis.place(middle - before), scene.axis.place(middle + event.error)
    return max(left, scene.start), min(right, scene.end)


def _other_clock(marks: list[Mark], index: dict[str, int]) -> list[dict[str, Any]]:
    """A hollow disc where the other clock puts a mark, and a dotted line to it."""
    shifted = [mark for mark in marks if mark.event.shifted and mark.other != mark.place]
    if not shifted:
        return []
    x = [value for mark in shifted for value in (mark.place, mark.other, None)]
    y = [value for mark in shifted for value in (index[mark.lane], index[mark.lane], None)]
    marker = {
        "symbol": "circle",
        "size": 11,
        "color": "var(--surface)",
        "line": {"color": "var(--ink-3)", "width": 1.4},
    }
    return [
        _trace("to the other clock", "lines", x=x, y=y, line={"color": "var(--ink-3)", "width": 1, "dash": "2px,3px"}),
        _trace(
            "other clock",
            "markers",
            x=[mark.other for mark in shifted],
            y=[index[mark.lane] for mark in shifted],
            text=[f"{plain(mark.event.title)}<br>here by the other clock" for mark in shifted],
            hoverinfo="text",
            marker=marker,
        ),
    ]


def _layer(marks: list[Mark], layer: str, index: dict[str, int], scene: Scene) -> dict[str, Any]:
    colour, shape = f"var(--l-{layer})", SHAPES[layer]
    hollow = [mark.event.role in ("context", "rejected") for mark in marks]
    if shape in THIN:
        fill: Any = colour
        line: dict[str, Any] = {"color": colour, "width": 2.4}
    else:
        fill = ["var(--surface)" if empty else colour for empty in hollow]
        line = {"color": [colour if empty else "var(--surface)" for empty in hollow], "width": 1.2}
    return _trace(
        words.layer(layer),
        "markers",
        x=[mark.place for mark in marks],
        y=[index[mark.lane] for mark in marks],
        customdata=[list(mark.evidence[:50]) for mark in marks],
        text=[_hover(mark, scene) for mark in marks],
        hoverinfo="text",
        # An array of sizes makes Plotly fade the marks unless the opacity is given.
        marker={"opacity": 1, "symbol": shape, "size": [_size(mark) for mark in marks], "color": fill, "line": line},
    )


def _first_fault(first: Mark, index: dict[str, int], scene: Scene) -> dict[str, Any]:
    row = index[first.lane]
    return _trace(
        "First fault",
        "markers",
        x=[first.place, first.place],
        y=[row, row],
        customdata=[list(first.evidence[:50])] * 2,
        text=[f"First fault: {_hover(first, scene)}"] * 2,
        hoverinfo="text",
        marker={
            "opacity": 1,
            "symbol": ["circle-open", "diamond"],
            "size": [20, 12],
            "color": "var(--fault)",
            "line": {"width": [1.8, 0], "color": "var(--fault)"},
        },
    )


def _candidates(marks: tuple[Mark, ...], index: dict[str, int]) -> dict[str, Any]:
    """A ring round each line that may be the first fault; the mark in it stays that of its layer."""
    return _trace(
        "Candidates",
        "markers",
        x=[mark.place for mark in marks],
        y=[index[mark.lane] for mark in marks],
        marker={"symbol": "circle-open", "size": 20, "color": "var(--warn)", "line": {"width": 1.8}},
    )


def _ring() -> dict[str, Any]:
    line = {"width": 2, "color": "var(--focus)"}
    return _trace(
        "chosen",
        "markers",
        x=[],
        y=[],
        marker={"symbol": "circle-open", "size": 23, "color": "var(--focus)", "line": line},
    )


def _size(mark: Mark) -> float:
    return 10 + min(6.0, max(mark.count, 1).bit_length() - 1.0)


def _hover(mark: Mark, scene: Scene) -> str:
    event = mark.event
    at = event.told + (event.when(scene.view.clock) - event.at)
    kind = " as logged" if event.shifted and scene.view.clock == "logged" else ""
    certain = times.within(event.error)
    lines = [
        f"{plain(event.title)}",
        ", ".join(
            part
            for part in (
                plain(words.place(event.node, event.device, event.rank)),
                words.layer(event.layer),
                words.counted(mark.count, "line") if mark.count > 1 else "",
            )
            if part
        ),
        f"{times.clock(at, 6 if event.error < 0.001 else 3)} UTC{kind}{f', {certain}' if certain else ''}",
        ", ".join(mark.evidence[:6]) + (f" and {len(mark.evidence) - 6} more" if len(mark.evidence) > 6 else ""),
    ]
    return "<br>".join(lines)
