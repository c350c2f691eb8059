"""Carrying out one step of a plan: the one place where connectors are asked again after a failure."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from connectors.contract import Connector, Context, Step
from connectors.errors import EXPECTED, Cancelled, ConnectorError, translate
from telemetry.coverage import Coverage
from telemetry.job import JobContext
from telemetry.writer import BundleWriter

_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 30.0


@dataclass(frozen=True, slots=True)
class StepResult:
    """What a step gave. `error` is set when it could give nothing at all; its coverage then says failed."""

    coverage: tuple[Coverage, ...]
    error: ConnectorError | None = None
    attempts: int = 1


def run_step(
    connector: Connector,
    config: Any,
    job: JobContext,
    step: Step,
    writer: BundleWriter,
    context: Context,
    attempts: int = 3,
    sleep: Callable[[float], None] = time.sleep,
) -> StepResult:
    """Collect, and ask again with growing, jittered pauses while the error may pass.

    Never more than `attempts` times nor beyond `context.limits.seconds`. Raises Cancelled; an exception that is not
    known to `connectors.errors` is a fault of the program and passes through.
    """
    deadline = time.monotonic() + context.limits.seconds
    for attempt in range(1, max(1, attempts) + 1):
        context.check_cancelled()
        try:
            return StepResult(connector.collect(config, job, step, writer, context), None, attempt)
        except Cancelled:
            raise
        except EXPECTED as raised:
            error = translate(raised, connector.label)
        pause = pause_before(attempt + 1)
        if error.permanent or attempt >= attempts or time.monotonic() + pause >= deadline:
            break
        sleep(pause)
    return StepResult((failed_coverage(step, error),), error, attempt)


def pause_before(attempt: int) -> float:
    """Seconds to wait before the second, third ... attempt: doubled each time, half of it by chance so that many
    workers do not come back at once."""
    ceiling = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** (attempt - 2))
    return ceiling * (0.5 + random.random() / 2)  # noqa: S311 - spreads load, guards nothing


def failed_coverage(step: Step, error: ConnectorError) -> Coverage:
    """The coverage of a step that could not look."""
    return Coverage(source=step.source, status="failed", reason=error.reason, detail=str(error), target=step.target)
