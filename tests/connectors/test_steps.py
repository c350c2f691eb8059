"""Asking again after a failure: in one place, bounded, and never when it cannot help."""

from __future__ import annotations

from typing import Any

import pytest

from connectors import Context, Limits, Step, run_step
from connectors.errors import AccessDenied, Cancelled, Unreachable
from connectors.files.logs import LogFiles
from connectors.steps import pause_before
from telemetry.coverage import Coverage
from telemetry.writer import BundleWriter
from tests.connectors.conftest import job_at

GOOD = (Coverage("syslog", "complete"),)
STEP = Step("syslog")


class Scripted(LogFiles):
    """Raises or returns, in order, what it was given."""

    def __init__(self, *outcomes: Any) -> None:
        self.outcomes = list(outcomes)

    def collect(self, *_: Any) -> tuple[Coverage, ...]:
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome  # type: ignore[no-any-return]


def carry_out(connector: Scripted, writer: BundleWriter, context: Context | None = None, **options: Any) -> Any:
    pauses: list[float] = []
    result = run_step(connector, None, job_at(), STEP, writer, context or Context(), sleep=pauses.append, **options)
    return result, pauses


def test_a_passing_failure_is_asked_again_with_growing_pauses(writer: BundleWriter) -> None:
    result, pauses = carry_out(Scripted(Unreachable("down"), ConnectionResetError(104, "reset"), GOOD), writer)
    assert (result.coverage, result.error, result.attempts) == (GOOD, None, 3)
    assert len(pauses) == 2
    assert 0.25 <= pauses[0] <= 0.5 <= pauses[1] <= 1.0


def test_a_permanent_failure_is_not_asked_again_and_becomes_failed_coverage(writer: BundleWriter) -> None:
    connector = Scripted(AccessDenied("Permission denied", "/var/log", "Let it read."), GOOD)
    result, pauses = carry_out(connector, writer)
    (report,) = result.coverage
    assert (report.status, report.reason, report.source) == ("failed", "denied", "syslog")
    assert report.detail == "Permission denied (/var/log). Let it read."
    assert pauses == []


def test_it_gives_up_after_the_last_attempt(writer: BundleWriter) -> None:
    result, pauses = carry_out(Scripted(*[Unreachable("down")] * 5), writer, attempts=3)
    assert (result.attempts, len(pauses)) == (3, 2)
    assert result.error is not None
    assert result.coverage[0].reason == "unreachable"


def test_it_does_not_wait_beyond_the_time_of_the_step(writer: BundleWriter) -> None:
    result, pauses = carry_out(Scripted(Unreachable("down"), GOOD), writer, Context(limits=Limits(seconds=0.01)))
    assert (result.attempts, pauses) == (1, [])


def test_lower_level_exceptions_become_coverage_and_bugs_do_not(writer: BundleWriter) -> None:
    result, _ = carry_out(Scripted(PermissionError(13, "Permission denied")), writer)
    assert result.coverage[0].reason == "denied"
    with pytest.raises(ZeroDivisionError):
        carry_out(Scripted(ZeroDivisionError()), writer)


def test_being_stopped_passes_through(writer: BundleWriter) -> None:
    with pytest.raises(Cancelled):
        carry_out(Scripted(Cancelled("stopped")), writer)
    with pytest.raises(Cancelled):
        carry_out(Scripted(GOOD), writer, Context(cancelled=lambda: True))


def test_pauses_have_a_ceiling() -> None:
    assert all(15 <= pause_before(attempt) <= 30 for attempt in range(12, 40))
