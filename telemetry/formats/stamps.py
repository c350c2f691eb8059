"""The time stamps that logs write, each read where it stands, with what it leaves open: zone, year, date, fraction."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

Zone = Literal["utc", "offset", "local", "boot"]

_EPOCH_DAY = date(1970, 1, 1).toordinal()
_DAY = 86400
_MONTHS = {name: at for at, name in enumerate(b"Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(), 1)}
_MON = rb"(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_WEEKDAY = rb"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_CLOCK = rb"(\d\d):(\d\d):(\d\d)"
_FRACTION = rb"(?:[.,](\d{1,9}))?"
_END = rb"(?![\d:])"


@dataclass(frozen=True, slots=True)
class Stamp:
    """A time as written.

    seconds: epoch when `zone` is utc or offset; epoch as if the clock showed UTC when local; since boot when boot.
    precision: seconds; the true time is in [seconds, seconds + precision]. year_known, date_known: False when the
    stamp does not show them and `seconds` stands in the caller's default. form: which writer's shape it is.
    """

    seconds: float
    precision: float
    zone: Zone
    year_known: bool = True
    date_known: bool = True
    form: str = "iso"


@dataclass(frozen=True, slots=True)
class Assumed:
    """What stands in for the part of a date that a stamp does not show.

    near: epoch seconds; the year (or day) that brings the stamp closest to it is taken. Else `year`, else 1970.
    """

    near: float | None = None
    year: int | None = None


def resolve(stamp: Stamp, node_timezone: str | None = None) -> tuple[float, float] | None:
    """The interval (epoch seconds) in which a stamp lies; None for boot-relative and date-less ones.

    A local stamp is put into `node_timezone` (IANA), both readings where the clock is set back; without a zone the
    interval spans every zone on earth (UTC-12 to UTC+14).
    """
    if stamp.zone == "boot" or not stamp.date_known:
        return None
    low, high = stamp.seconds, stamp.seconds + stamp.precision
    if stamp.zone in ("utc", "offset"):
        return low, high
    if node_timezone is None:
        return low - 14 * 3600, high + 12 * 3600
    naive = datetime.fromtimestamp(stamp.seconds, UTC).replace(tzinfo=None)
    zone = ZoneInfo(node_timezone)
    shifts = [(naive.replace(tzinfo=zone, fold=fold).utcoffset() or timedelta()).total_seconds() for fold in (0, 1)]
    return low - max(shifts), high - min(shifts)


def stamp_at(text: bytes, at: int, assumed: Assumed) -> tuple[Stamp, int] | None:
    """The stamp that begins at that place (no bracket before it) and where it ends, or None."""
    for pattern, read in _FORMS.get(text[at : at + 1], ()):
        found = pattern.match(text, at)
        if found:
            stamp = read(found, assumed)
            if stamp:
                return stamp, found.end()
    return None


def boot_or_epoch(whole: bytes, fraction: bytes) -> Stamp:
    """`[12345.678901]`: seconds since boot, or UCX's seconds since 1970 when ten digits long."""
    seconds = float(whole) + float(b"0." + fraction)
    precision = max(10.0 ** -len(fraction), 1e-6)
    if len(whole) >= 10:
        return Stamp(seconds, precision, "utc", form="epoch")
    return Stamp(seconds, precision, "boot", year_known=False, date_known=False, form="kernel")


def c10d(month: bytes, day: bytes, clock: tuple[bytes, bytes, bytes], assumed: Assumed) -> Stamp | None:
    """`E813 12:25:31.213133402`: the nine digits do not come from the wall clock, so only the second is trusted."""
    found = _yearless(int(month), int(day), _clock(*clock), assumed)
    return None if found is None else Stamp(found, 1.0, "local", year_known=False, form="c10d")


def _clock(hour: bytes, minute: bytes, second: bytes) -> float | None:
    h, m, s = int(hour), int(minute), int(second)
    return float(h * 3600 + m * 60 + s) if h < 24 and m < 60 and s < 61 else None


def _epoch(year: int, month: int, day: int, clock: float | None) -> float | None:
    if clock is None:
        return None
    try:
        return (date(year, month, day).toordinal() - _EPOCH_DAY) * float(_DAY) + clock
    except ValueError:
        return None


def _yearless(month: int, day: int, clock: float | None, assumed: Assumed) -> float | None:
    if assumed.near is None:
        # 1972 knows a 29th of February.
        found = _epoch(assumed.year or 1970, month, day, clock)
        return found if found is not None or assumed.year else _epoch(1972, month, day, clock)
    near = assumed.near
    year = datetime.fromtimestamp(near, UTC).year
    tries = [_epoch(y, month, day, clock) for y in (year - 1, year, year + 1)]
    known = [seconds for seconds in tries if seconds is not None]
    return min(known, key=lambda seconds: abs(seconds - near)) if known else None


def _part(fraction: bytes | None) -> tuple[float, float]:
    """(value, precision) of the digits behind the point."""
    if not fraction:
        return 0.0, 1.0
    return float(b"0." + fraction), max(10.0 ** -len(fraction), 1e-6)


def _zone(text: bytes | None) -> tuple[Zone, float]:
    """(kind, seconds east of UTC)."""
    if not text:
        return "local", 0.0
    if text in (b"Z", b"z", b"UTC", b"GMT"):
        return "utc", 0.0
    east = int(text[1:3]) * 3600 + int(text[-2:]) * 60
    return "offset", float(east if text[:1] == b"+" else -east)


def _made(
    seconds: float | None, fraction: bytes | None, form: str, zone: bytes | None = None, year_known: bool = True
) -> Stamp | None:
    if seconds is None:
        return None
    more, precision = _part(fraction)
    kind, east = _zone(zone)
    return Stamp(seconds + more - east, precision, kind, year_known, form=form)


def _iso(f: re.Match[bytes], _: Assumed) -> Stamp | None:
    seconds = _epoch(int(f[1]), int(f[3]), int(f[4]), _clock(f[6], f[7], f[8]))
    return _made(seconds, f[9], "iso-t" if f[5] in (b"T", b"t") else "iso", f[10])


def _weekday_iso(f: re.Match[bytes], _: Assumed) -> Stamp | None:
    return _made(_epoch(int(f[1]), int(f[2]), int(f[3]), _clock(f[4], f[5], f[6])), f[7], "iso", f[8])


def _month_day_year(f: re.Match[bytes], _: Assumed) -> Stamp | None:
    month, day = int(f[1]), int(f[2])
    if month > 12:
        month, day = day, month
    clock = _twelve(_clock(f[4], f[5], f[6]), f[8])
    return _made(_epoch(int(f[3]), month, day, clock), f[7], "us-date")


def _short_year(f: re.Match[bytes], _: Assumed) -> Stamp | None:
    return _made(_epoch(2000 + int(f[1]), int(f[2]), int(f[3]), _clock(f[4], f[5], f[6])), f[7], "short-date")


def _year_mon(f: re.Match[bytes], _: Assumed) -> Stamp | None:
    return _made(_epoch(int(f[1]), _MONTHS[f[2]], int(f[3]), _clock(f[4], f[5], f[6])), f[7], "switch", f[8])


def _day_mon(f: re.Match[bytes], _: Assumed) -> Stamp | None:
    return _made(_epoch(int(f[3]), _MONTHS[f[2]], int(f[1]), _clock(f[4], f[5], f[6])), f[7], "day-month")


def _epoch_text(f: re.Match[bytes], _: Assumed) -> Stamp | None:
    return boot_or_epoch(f[1], f[2])


def _month_day(f: re.Match[bytes], assumed: Assumed) -> Stamp | None:
    seconds = _yearless(int(f[1]), int(f[2]), _clock(f[3], f[4], f[5]), assumed)
    return _made(seconds, f[6], "month-day", year_known=False)


def _only_clock(f: re.Match[bytes], assumed: Assumed) -> Stamp | None:
    clock = _clock(f[1], f[2], f[3])
    if clock is None:
        return None
    more, precision = _part(f[4])
    seconds = clock + more
    if assumed.near is not None:
        day = round((assumed.near - seconds) / _DAY)
        seconds += day * _DAY
    return Stamp(seconds, precision, "local", year_known=False, date_known=False, form="clock")


def _asctime(f: re.Match[bytes], _: Assumed) -> Stamp | None:
    clock = _twelve(_clock(f[3], f[4], f[5]), f[7])
    zone = f[8] if f[8] in (b"UTC", b"GMT") else None
    return _made(_epoch(int(f[9]), _MONTHS[f[1]], int(f[2]), clock), f[6], "asctime", zone)


def _syslog(f: re.Match[bytes], assumed: Assumed) -> Stamp | None:
    month, day, clock = _MONTHS[f[1]], int(f[2]), _clock(f[4], f[5], f[6])
    if f[3]:
        return _made(_epoch(int(f[3]), month, day, clock), f[7], "month-year")
    return _made(_yearless(month, day, clock, assumed), f[7], "syslog", year_known=False)


def _opensm(f: re.Match[bytes], assumed: Assumed) -> Stamp | None:
    seconds = _yearless(_MONTHS[f[1]], int(f[2]), _clock(f[3], f[4], f[5]), assumed)
    return _made(seconds, f[6], "opensm", year_known=False)


def _glog(f: re.Match[bytes], assumed: Assumed) -> Stamp | None:
    clock = _clock(f[3], f[4], f[5])
    digits = f[6] if f[6] is not None else b""
    if f[1]:
        made = _made(_epoch(int(f[1]), int(f[2][:2]), int(f[2][2:]), clock), digits, "glog")
    else:
        seconds = _yearless(int(f[2][:2]), int(f[2][2:]), clock, assumed)
        made = _made(seconds, digits, "glog", year_known=False)
    # Python's writers pad milliseconds with three zeros to look like glog's microseconds.
    if made and len(digits) == 6 and digits.endswith(b"000"):
        return replace(made, precision=1e-3)
    return made


def _glog_epoch(f: re.Match[bytes], _: Assumed) -> Stamp | None:
    return boot_or_epoch(f[1], f[2])


def _twelve(clock: float | None, half: bytes | None) -> float | None:
    if clock is None or not half:
        return clock
    return clock % 43200 + (43200 if half == b"PM" else 0)


_Read = Callable[[re.Match[bytes], Assumed], Stamp | None]


def _forms(*pairs: tuple[bytes, _Read]) -> tuple[tuple[re.Pattern[bytes], _Read], ...]:
    return tuple((re.compile(pattern), read) for pattern, read in pairs)


_DIGIT_FORMS = _forms(
    (
        rb"(\d{4})([-/.:])(\d\d)\2(\d\d)([T _t-])" + _CLOCK + _FRACTION + rb"(?: ?(Z|z|UTC|GMT|[+-]\d\d:?\d\d)"
        rb"(?![\w:]))?",
        _iso,
    ),
    (rb"(\d\d)/(\d\d)/(\d{4})[ T-]" + _CLOCK + _FRACTION + rb"(?: ([AP]M))?" + _END, _month_day_year),
    (rb"(\d\d)/(\d\d)/(\d\d) " + _CLOCK + _FRACTION + _END, _short_year),
    (rb"(\d{4}) " + _MON + rb" {1,2}(\d{1,2}) " + _CLOCK + _FRACTION + rb"(?: (UTC|GMT))?(?!\d)", _year_mon),
    (rb"(\d{1,2})[ /-]" + _MON + rb"[ /-](\d{4})[ :]" + _CLOCK + _FRACTION + _END, _day_mon),
    (rb"(\d{10})\.(\d{3,9})(?=[\s\]:])", _epoch_text),
    (rb"(\d\d)-(\d\d) " + _CLOCK + _FRACTION + _END, _month_day),
    (_CLOCK + _FRACTION + rb"(?=[\s\]|,]|$)", _only_clock),
)
_LETTER_FORMS = _forms(
    (
        _WEEKDAY + rb",? " + _MON + rb" {1,2}(\d{1,2}) " + _CLOCK + _FRACTION + rb"(?: ([AP]M))?(?: ([A-Z]{3,5}))?"
        rb" (\d{4})" + _END,
        _asctime,
    ),
    (_WEEKDAY + rb" (\d{4})-(\d\d)-(\d\d) " + _CLOCK + _FRACTION + rb"(?: (UTC|GMT|[+-]\d{4}))?" + _END, _weekday_iso),
    (_MON + rb" {1,2}(\d{1,2}) " + _CLOCK + rb" (\d{6})(?= \[)", _opensm),
    (_MON + rb" {1,2}(\d{1,2})(?:,? (\d{4}))? " + _CLOCK + _FRACTION + _END, _syslog),
)
_GLOG_FORMS = _forms(
    (rb"[IWEFDVC]0000 00:00:(\d{10})\.(\d{1,9})", _glog_epoch),
    (rb"[IWEFDVC](\d{4})?(\d{4}) " + _CLOCK + rb"(?:\.(\d{1,9}))?(?=\s)", _glog),
)
_FORMS: dict[bytes, tuple[tuple[re.Pattern[bytes], _Read], ...]] = {
    **{b"%d" % digit: _DIGIT_FORMS for digit in range(10)},
    **{bytes([letter]): _LETTER_FORMS for letter in b"JFMASONDTW"},
    **{bytes([letter]): _GLOG_FORMS for letter in b"IEVC"},
}
for _letter in b"WFD":
    _FORMS[bytes([_letter])] = (*_FORMS[bytes([_letter])], *_GLOG_FORMS)
