"""Times and spans of time as people read them. Seconds since 1970 UTC inside, text at the edge."""

from datetime import UTC, datetime

MINUTE, HOUR, DAY = 60, 3600, 86400


def seconds(stamp: str | None) -> float | None:
    """Seconds since 1970 for an ISO 8601 stamp as a verdict writes it; None when there is none or it cannot be read."""
    if not stamp:
        return None
    try:
        moment = datetime.fromisoformat(stamp)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def moment(at: float) -> datetime:
    return datetime.fromtimestamp(at, tz=UTC)


def clock(at: float, digits: int = 3) -> str:
    """`10:02:11.418`: the time of day in UTC, cut (not rounded) to `digits` places."""
    text = moment(at).strftime("%H:%M:%S.%f")
    return text[:8] if digits == 0 else text[: 9 + digits]


def sure(at: float, error: float | None) -> str:
    """The time of day with as many digits as `error` (seconds) leaves meaning."""
    return clock(at, 0 if (error or 0.0) >= 0.5 else 3)


def between(start: float, end: float) -> str:
    """`between 05:07:08 and 05:12:52`, with the days where they differ; `about 05:07:08` within one second."""
    if clock(start, 0) == clock(end, 0) and end - start < 1:
        return f"about {clock(start, 0)}"
    if moment(start).date() == moment(end).date():
        return f"between {clock(start, 0)} and {clock(end, 0)}"
    return f"between {moment(start):%d %b %H:%M:%S} and {moment(end):%d %b %H:%M:%S}"


def exact(at: float) -> str:
    """`2026-03-11 10:02:11.418000 UTC`, for titles and copying."""
    return moment(at).strftime("%Y-%m-%d %H:%M:%S.%f UTC")


def span(length: float) -> str:
    """`0.9 ms`, `27 ms`, `0.28 s`, `3.2 s`, `35 s`, `9 min 56 s`, `1 h 6 min`, `3 d 4 h`. Never negative."""
    length = abs(length)
    if length == 0:
        return "0 s"
    if length < 0.0095:
        return f"{length * 1000:.1f} ms"
    if length < 0.0995:
        return f"{length * 1000:.0f} ms"
    if length < 0.995:
        return f"{length:.2f} s"
    if length < 9.95:
        return f"{length:.1f} s"
    whole = round(length)
    if whole < 2 * MINUTE:
        return f"{whole} s"
    if whole < HOUR:
        return _two(whole, MINUTE, "min", 1, "s")
    if whole < 2 * DAY:
        return _two(whole, HOUR, "h", MINUTE, "min")
    return _two(whole, DAY, "d", HOUR, "h")


def _two(whole: int, large: int, large_name: str, small: int, small_name: str) -> str:
    first, rest = divmod(whole, large)
    second = rest // small
    return f"{first} {large_name} {second} {small_name}" if second else f"{first} {large_name}"


def after(gap: float | None) -> str:
    """A gap with its sign, narrow enough for a column: `+27 ms`, `+3.2 s`, `+9:56`. Empty when unknown."""
    if gap is None:
        return ""
    if gap == 0:
        return "0"
    sign = "+" if gap > 0 else "\N{MINUS SIGN}"
    length = abs(gap)
    if length < 2 * MINUTE:
        return sign + span(length)
    whole = round(length)
    if whole < HOUR:
        return f"{sign}{whole // MINUTE}:{whole % MINUTE:02d}"
    if whole < 2 * DAY:
        return f"{sign}{whole // HOUR} h {whole % HOUR // MINUTE:02d}"
    return f"{sign}{whole // DAY} d"


def within(error: float | None) -> str:
    """How sure a time is: `±0.02 s`. Empty when not known."""
    if error is None:
        return ""
    return f"±{span(error)}" if error else "exact"
