"""The clocks and bounds of background work. A site sets them in the settings' FIRST_FAULT dictionary."""

from __future__ import annotations

from dataclasses import dataclass, fields

from django.conf import settings


@dataclass(frozen=True, slots=True)
class Limits:
    """All in seconds unless the name says otherwise."""

    lease_seconds: int = 60  # a step whose worker was silent for so long is taken over
    heartbeat_seconds: int = 10  # how often a worker extends its lease
    step_attempts: int = 3  # lost workers after which a step is given up
    step_seconds: int = 1800  # the longest that one step may take
    sweep_seconds: int = 30  # how often runs without a living worker are looked for
    discovery_seconds: int = 300  # how often the schedulers are asked for newly failed jobs
    discovery_window_hours: int = 24  # how far back a first discovery looks
    parallel_steps: int = 4  # messages sent at once for the steps of one run


def limits() -> Limits:
    chosen = getattr(settings, "FIRST_FAULT", {})
    known = {field.name.upper(): field.name for field in fields(Limits)}
    return Limits(**{known[key]: value for key, value in chosen.items() if key in known})
