"""What a job left behind: bundles of telemetry, and readers of what the tools print.

Nothing here knows of rules, connectors or Django.
"""

from telemetry.bundle import SOURCES, Bundle, open_bundle
from telemetry.coverage import Coverage
from telemetry.job import JobContext
from telemetry.lines import Line
from telemetry.problems import BundleError, Problem
from telemetry.streams import Block, Stream

__all__ = [
    "SOURCES",
    "Block",
    "Bundle",
    "BundleError",
    "Coverage",
    "JobContext",
    "Line",
    "Problem",
    "Stream",
    "open_bundle",
]
