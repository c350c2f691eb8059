"""Small things that many templates print: icons, verdict words, times with their exact UTC, counts of sources."""

from datetime import UTC, datetime
from typing import Any

from django import template
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from investigations import taxonomy
from investigations.reading import times, words

register = template.Library()

STANDINGS = {
    "new": ("clock", "New"),
    "collecting": ("collecting", "Collecting"),
    "attributed": ("attributed", "Attributed"),
    "ambiguous": ("ambiguous", "Ambiguous"),
    "insufficient_evidence": ("insufficient_evidence", "Insufficient"),
    "no_failure": ("no_failure", "No failure"),
    "failed": ("failed", "Failed"),
    "errored": ("failed", "Errored"),
    "confirmed": ("confirmed", "Confirmed"),
    "overridden": ("overridden", "Overridden"),
}


@register.simple_tag
def icon(name: str, css: str = "i") -> SafeString:
    """A drawing of the page's sprite. It is always decoration: the word stands beside it or in aria-label."""
    return format_html('<svg class="{}" aria-hidden="true"><use href="#{}"/></svg>', css, name)


@register.simple_tag
def mark(layer: str) -> SafeString:
    """The timeline's mark of a layer, or `first` for the first fault."""
    return format_html('<svg class="g" aria-hidden="true"><use href="#m-{}"/></svg>', layer)


@register.simple_tag
def standing(value: str, word: str = "") -> SafeString:
    """Icon and word of a standing; an unknown one is shown by its own word."""
    drawing, usual = STANDINGS.get(value, ("clock", words.plain(value).capitalize()))
    return format_html('<span class="v v-{}">{}{}</span>', value, icon(drawing), word or usual)


@register.filter(name="words")
def taxonomy_words(slug: str | None) -> str:
    return taxonomy.words(slug) if slug else ""


@register.filter
def plain(slug: str | None) -> str:
    return words.plain(slug)


@register.filter
def source_word(source: str) -> str:
    return words.SOURCE_WORDS.get(source, source)


@register.filter
def device_name(device: str | None) -> str:
    return words.device_name(device)


@register.filter
def short_place(place: str | None) -> str:
    """`gpu-node-07 GPU 3 (0000:5d:00) link 8` -> `gpu-node-07 GPU 3`, for a narrow column."""
    return words.device_name(words.device_itself(place))


@register.filter
def span(seconds: float | None) -> str:
    return times.span(seconds) if seconds is not None else ""


@register.filter
def after_stamp(stamp: str | None) -> str:
    """The time of day of a verdict's stamp."""
    at = times.seconds(stamp)
    return times.clock(at, 0) if at is not None else ""


@register.filter
def hours(value: float | None) -> str:
    """GPU-hours: `96`, `1,906`, `0.4`."""
    if value is None:
        return "\N{EN DASH}"
    return f"{value:,.1f}" if 0 < value < 10 and value != round(value) else f"{value:,.0f}"


def _time(at: datetime, text: str) -> SafeString:
    utc = at.astimezone(UTC)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', utc.isoformat(), utc.strftime("%Y-%m-%d %H:%M:%S UTC"), text
    )


@register.filter
def age(at: datetime | None) -> SafeString | str:
    """How long ago: `2 m`, `14 h`, `3 d`; the exact time in the title."""
    if at is None:
        return "\N{EN DASH}"
    passed = max((timezone.now() - at).total_seconds(), 0)
    if passed < 90:
        return _time(at, f"{passed:.0f} s")
    if passed < 90 * times.MINUTE:
        return _time(at, f"{passed / times.MINUTE:.0f} m")
    if passed < 2 * times.DAY:
        return _time(at, f"{passed / times.HOUR:.0f} h")
    return _time(at, f"{passed / times.DAY:,.0f} d")


@register.filter
def at(value: datetime | None) -> SafeString | str:
    """`11 Mar 10:12`, with the year when it is another one; the exact time in the title."""
    if value is None:
        return ""
    utc = value.astimezone(UTC)
    form = "%d %b %H:%M" if utc.year == timezone.now().year else "%d %b %Y %H:%M"
    return _time(value, utc.strftime(form).lstrip("0"))


@register.filter
def period(job: Any) -> str:
    """`08:41 to 10:12 UTC, 11 Mar 2026` for a job."""
    start, end = job.started_at, job.ended_at
    if start is None and end is None:
        return ""
    if start is None or end is None:
        only = (start or end).astimezone(UTC)
        return f"{'since' if end is None else 'ended'} {only:%H:%M} UTC, {only:%d %b %Y}"
    start, end = start.astimezone(UTC), end.astimezone(UTC)
    if start.date() == end.date():
        return f"{start:%H:%M} to {end:%H:%M} UTC, {end:%d %b %Y}"
    return f"{start:%d %b %H:%M} to {end:%d %b %H:%M} UTC, {end:%Y}"


@register.simple_tag
def due(at: datetime | None, overdue: bool = False) -> SafeString | str:
    """What is owed and by when; empty when nothing is."""
    if at is None:
        return ""
    left = (at - timezone.now()).total_seconds()
    if overdue or left < 0:
        return format_html('<span class="due late">{}{}</span>', icon("alert"), _time(at, f"{times.span(left)} late"))
    length = times.span(left).split(" ")
    return format_html('<span class="due">{}{}</span>', icon("clock"), _time(at, " ".join(length[:2])))


@register.filter
def source_bars(coverage: Any) -> SafeString:
    """Five bars in fixed order (scheduler, applog, syslog, fabric, metrics): full, half, dotted; then `4/5`."""
    status = dict(coverage or ())
    if not status:
        return mark_safe('<span class="mute">\N{EN DASH}</span>')
    bars = []
    for number, source in enumerate(words.SOURCES):
        bars.append(_bar(status.get(source, ""), number * 6))
    full = sum(1 for source in words.SOURCES if status.get(source) == "complete")
    gaps = [
        f"{words.SOURCE_WORDS[source]} {words.STATUSES.get(status.get(source, ''), 'not asked')}"
        for source in words.SOURCES
        if status.get(source) != "complete"
    ]
    told = "; ".join(gaps) or "all sources complete"
    return format_html(
        '<span class="cov" title="{}"><svg viewBox="0 0 29 11" aria-hidden="true">{}</svg>{}/5'
        '<span class="vh"> sources complete: {}</span></span>',
        told,
        format_html_join("", "{}", ((bar,) for bar in bars)),
        full,
        told,
    )


def _bar(status: str, x: int) -> SafeString:
    if status == "complete":
        return format_html('<rect class="on" x="{}" y="0" width="5" height="11"/>', x)
    if status == "partial":
        return format_html(
            '<rect class="half" x="{}.5" y=".5" width="4" height="10"/>'
            '<rect class="low" x="{}" y="5" width="5" height="6"/>',
            x,
            x,
        )
    return format_html('<rect class="off" x="{}.5" y=".5" width="4" height="10"/>', x)


@register.filter
def initials(user: Any) -> str:
    """Two letters for a person: of the full name, else of the user name."""
    name = (user.get_full_name() if hasattr(user, "get_full_name") else "") or str(user or "")
    parts = [part for part in name.replace(".", " ").replace("_", " ").split() if part]
    letters = parts[0][:1] + parts[-1][:1] if len(parts) > 1 else name[:2]
    return letters.upper()


@register.filter
def of_key(mapping: Any, key: str) -> Any:
    """`mapping|of_key:name`: a value by a key that the template holds in a variable."""
    return mapping.get(key) if mapping else None
