"""Text and arrows: the ruler's words, what each mark is where there is room, and cause to effect."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from investigations.reading import times
from investigations.timeline.marks import Mark
from investigations.timeline.origin import Origin
from investigations.timeline.scene import CHARACTER, Scene, plain
from investigations.timeline.shapes import Lead
from investigations.timeline.traces import interval

LONGEST = 34  # characters of a mark's label


def build(
    scene: Scene, marks: list[Mark], origin: Origin, lead: Lead | None, arrows: list[tuple[Mark, Mark, bool]]
) -> list[dict[str, Any]]:
    drawn = [_arrow(start, end, scene) for start, end, certain in arrows if certain]
    drawn += _ruler(scene, origin, lead)
    if not scene.view.narrow:
        drawn += _marks(scene, marks, origin)
    return drawn


def _text(x: float, y: float, text: str, **more: Any) -> dict[str, Any]:
    font = {"size": 11, "color": "var(--ink-2)"} | more.pop("font", {})
    return {"x": x, "y": y, "xref": "x", "yref": "y", "text": text, "showarrow": False, "font": font} | more


def _arrow(start: Mark, end: Mark, scene: Scene) -> dict[str, Any]:
    index = scene.lanes.index()
    return {
        "x": end.place,
        "y": index[end.lane],
        "ax": start.place,
        "ay": index[start.lane],
        "xref": "x",
        "yref": "y",
        "axref": "x",
        "ayref": "y",
        "text": "",
        "showarrow": True,
        "arrowhead": 2,
        "arrowsize": 1.1,
        "arrowwidth": 1.1,
        "arrowcolor": "var(--ink-3)",
        "standoff": 9,
        "startstandoff": 10,
        "opacity": 0.85,
    }


def _ruler(scene: Scene, origin: Origin, lead: Lead | None) -> list[dict[str, Any]]:
    drawn = []
    small = {"size": 10} if scene.view.narrow else {}
    taken: list[tuple[float, float]] = []
    if not scene.view.narrow:
        drawn += _origin(scene, origin, taken)
    if lead is not None and scene.visible(lead[0]) and scene.visible(lead[1]):
        start, end, text, _ = lead
        middle, room = scene.px((start + end) / 2), len(text) * CHARACTER + 8
        if scene.px(end) - scene.px(start) > room and not _meets(taken, middle, room):
            drawn.append(
                _text(
                    (start + end) / 2,
                    scene.ruler,
                    text,
                    bgcolor="var(--surface)",
                    borderpad=3,
                    font={"size": 12, "color": "var(--ink)"} | small,
                )
            )
            taken.append((middle - room / 2, scene.px(end)))
    drawn += _folds(scene, taken, small)
    return drawn


def _folds(scene: Scene, taken: list[tuple[float, float]], small: dict[str, int]) -> Iterator[dict[str, Any]]:
    """How long each fold is: over it, in as many words as there is room for, else beside what stands there."""
    for fold in scene.axis.folds:
        at = scene.px(fold.place + fold.width / 2)
        if not 0 <= at <= scene.view.width:
            continue
        long, short = f"{times.span(fold.length)} with no event, folded", f"{times.span(fold.length)} folded"
        texts = [short] if scene.view.narrow else [long, short, times.span(fold.length)]
        tries = [(at, text) for text in texts]
        tries += [
            (end + len(short) * CHARACTER / 2 + 6, short) for start, end in taken if start <= at + 60 and end >= at
        ]
        for middle, text in tries:
            room = len(text) * CHARACTER
            inside = room / 2 < middle < scene.view.width - room / 2
            if inside and not _meets(taken, middle, room):
                place = scene.start + middle * scene.per_px
                yield _text(place, scene.ruler, text, bgcolor="var(--surface)", borderpad=3, font=small)
                taken.append((middle - room / 2, middle + room / 2))
                break


def _origin(scene: Scene, origin: Origin, taken: list[tuple[float, float]]) -> Iterator[dict[str, Any]]:
    """What the beginning is: beside its line, or in the middle of what is seen of its band."""
    colour = "var(--warn)" if origin.candidates else "var(--fault)"
    look = {"bgcolor": "var(--surface)", "font": {"size": 12, "color": colour, "weight": 650}}
    if origin.band is not None:
        start, end, text = origin.band
        left, right, room = max(scene.px(start), 0.0), min(scene.px(end), float(scene.view.width)), len(text) * 7
        if left < right and room < scene.view.width:
            middle = min(max((left + right) / 2, room / 2), scene.view.width - room / 2)
            taken.append((middle - room / 2, middle + room / 2))
            yield _text(scene.start + middle * scene.per_px, scene.ruler, text, **look)
    for place, text in origin.lines:
        edge, room = scene.px(place), len(text) * 7
        sides = [(edge - room, edge, "right", -5), (edge, edge + room, "left", 5)]
        for start, end, anchor, shift in sides if edge > room else sides[1:]:
            if scene.visible(place) and not _meets(taken, (start + end) / 2, room):
                taken.append((start, end))
                yield _text(place, scene.ruler, text, xanchor=anchor, xshift=shift, **look)
                break


def _meets(taken: list[tuple[float, float]], middle: float, room: float) -> bool:
    return any(middle - room / 2 < end and middle + room / 2 > start for start, end in taken)


def _marks(scene: Scene, marks: list[Mark], origin: Origin) -> list[dict[str, Any]]:
    """A label right of each mark, else left, else its count, else none: text never covers a mark or other text."""
    lanes: dict[str, list[Mark]] = defaultdict(list)
    for mark in marks:
        lanes[mark.lane].append(mark)
    index = scene.lanes.index()
    first = origin.first
    heads = [origin.first] if origin.first else list(origin.candidates)
    drawn = []
    for lane, of_lane in lanes.items():
        hot = scene.lanes.lanes[index[lane]].hot
        taken = [_occupied(mark, scene) for mark in of_lane]
        if not any(head.lane == lane for head in heads):
            taken += [(scene.px(place) - 2, scene.px(place) + 2) for place, _ in origin.lines]
        ordered = sorted(of_lane, key=lambda mark: (mark not in heads, mark.event.role == "context", mark.place))
        for mark in ordered[:200]:
            placed = _placed(mark, mark is first, taken, scene)
            if placed is None:
                continue
            text, side, start, end = placed
            taken.append((start, end))
            left, right = _occupied(mark, scene)
            edge = scene.px(mark.place)
            shift = right - edge + 2 if side == "left" else left - edge - 2
            drawn.append(
                _text(
                    mark.place,
                    index[lane],
                    plain(text),
                    xanchor=side,
                    xshift=shift,
                    bgcolor="var(--fault-bg)" if hot else "var(--surface)",
                    borderpad=1,
                    font={"color": "var(--fault)"} if mark is first else {},
                )
            )
    return drawn


def _placed(
    mark: Mark, is_first: bool, taken: list[tuple[float, float]], scene: Scene
) -> tuple[str, str, float, float] | None:
    own = _occupied(mark, scene)
    others = [span for span in taken if span != own]
    count = f"\N{MULTIPLICATION SIGN}{mark.count:,}" if mark.count > 1 else ""
    name = mark.event.title if len(mark.event.title) <= LONGEST else mark.event.title[: LONGEST - 1].rstrip() + "…"
    for text in (f"{name} {count}".strip(), count):
        room = len(text) * CHARACTER + 8
        right, left = (own[1], own[1] + room), (own[0] - room, own[0])
        sides = [("right", left), ("left", right)] if is_first else [("left", right), ("right", left)]
        for side, (start, end) in sides:
            if text and start > 2 and end < scene.view.width - 2 and not any(start < e and end > s for s, e in others):
                return text, side, start, end
    return None


def _occupied(mark: Mark, scene: Scene) -> tuple[float, float]:
    """Pixels that a mark takes with its smear and its other clock."""
    middle = scene.px(mark.place)
    left, right = middle - 11, middle + 11
    if not mark.event.vague:
        start, end = interval(mark, scene)
        left, right = min(left, scene.px(start)), max(right, scene.px(end))
    if mark.event.shifted and mark.other != mark.place:
        other = scene.px(mark.other)
        left, right = min(left, other - 9), max(right, other + 9)
    return left, right
