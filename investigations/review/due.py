"""When an open question is due: one business day later, by the cluster's own calendar."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

_SATURDAY = 5


def due_after(moment: datetime, zone: ZoneInfo) -> datetime:
    """The same time of day on the next day that is not a weekend, on the cluster's clocks. `moment` is aware.

    What arrives on a weekend counts as arriving when Monday begins, so it is due when Tuesday begins.
    """
    local = moment.astimezone(zone)
    if local.weekday() >= _SATURDAY:
        local = local.replace(hour=0, minute=0, second=0, microsecond=0)
        local += timedelta(days=7 - local.weekday())
    local += timedelta(days=1)
    if local.weekday() >= _SATURDAY:
        local += timedelta(days=7 - local.weekday())
    return local
