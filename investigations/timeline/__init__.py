"""The timeline of a verdict: lanes, marks and arrows, computed here and drawn by Plotly in the browser.

from investigations.timeline import View, timeline
drawn = timeline(verdict, View(span="story", width=1020))
"""

from investigations.timeline.drawing import Timeline, figure, timeline
from investigations.timeline.view import View

__all__ = ["Timeline", "View", "figure", "timeline"]
