"""The measures that all parts of a drawing share. A lane is 30 px high here and in the style sheet."""

from dataclasses import dataclass
from typing import Any

from investigations.timeline.axis import Axis
from investigations.timeline.lanes import Lanes
from investigations.timeline.view import View

LANE, RULER, AXIS_HEIGHT = 30, 26, 30
CHARACTER = 6.1  # px, the width of a character at 11 px


@dataclass(frozen=True, slots=True)
class Scene:
    view: View
    axis: Axis
    lanes: Lanes
    start: float
    end: float

    @property
    def height(self) -> int:
        return RULER + LANE * len(self.lanes.lanes) + AXIS_HEIGHT

    @property
    def per_px(self) -> float:
        """Length of one pixel on the axis."""
        return (self.end - self.start) / max(self.view.width, 1)

    @property
    def ruler(self) -> float:
        """The height in lanes at which the ruler's text stands, above the first lane."""
        return -0.5 - RULER / LANE / 2

    def px(self, place: float) -> float:
        return (place - self.start) / self.per_px

    def visible(self, place: float, margin: float = 0.0) -> bool:
        room = margin * (self.end - self.start)
        return self.start - room <= place <= self.end + room

    def row(self, lane: str) -> int:
        return self.lanes.index()[lane]


def plain(text: str) -> str:
    """Text for Plotly, which reads some tags: what looks like one is shown as it stands."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def line(**more: Any) -> dict[str, Any]:
    """A thin straight line under the marks; `more` gives its ends."""
    return {"type": "line", "layer": "below", "line": {"color": "var(--line)", "width": 1}} | more
