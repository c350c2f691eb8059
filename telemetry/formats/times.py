"""Times as the schedulers and the Kubernetes API write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import NamedTuple

_ISO = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?\s?(Z|[+-]\d\d:?\d\d)?", re.ASCII | re.IGNORECASE
)


class Moment(NamedTuple):
    """seconds: epoch; for a zone-less time (`local`) as if it were UTC. precision: seconds, 1.0 for whole ones."""

    seconds: float
    precision: float
    local: bool


def moment(text: object) -> Moment | None:
    """Read epoch seconds or ISO 8601; None for "Unknown", "None", null, 0 and what cannot be read."""
    if isinstance(text, bool) or text is None:
        return None
    if isinstance(text, (int, float)):
        return Moment(float(text), 1.0, False) if text > 0 else None
    text = str(text).strip()
    if text.isascii() and text.isdigit():
        return Moment(float(text), 1.0, False) if 8 < len(text) < 12 else None
    found = _ISO.fullmatch(text)
    if not found:
        return None
    year, month, day, hour, minute, second = (int(part) for part in found.groups()[:6])
    try:
        whole = datetime(year, month, day, hour, minute, min(second, 59), tzinfo=UTC).timestamp()
    except ValueError:
        return None
    zone = found[8]
    if zone and zone.upper() != "Z":
        shift = int(zone[1:3]) * 3600 + int(zone[-2:]) * 60
        whole -= shift if zone[0] == "+" else -shift
    fraction = found[7]
    precision = 10.0 ** -len(fraction) if fraction else 1.0
    return Moment(whole + (float("0." + fraction) if fraction else 0.0), precision, zone is None)


def iso(seconds: float) -> str:
    """Epoch seconds as ISO 8601 in UTC, with Z, without a fraction when whole."""
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")
