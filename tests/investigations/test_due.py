"""Open questions are due one business day later, by the cluster's calendar."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from investigations.review.due import due_after

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("arrived", "due"),
    [
        ("2026-11-30T10:00+01:00", "2026-12-01T10:00+01:00"),  # Monday
        ("2026-12-04T16:30+01:00", "2026-12-07T16:30+01:00"),  # Friday
        ("2026-12-05T09:00+01:00", "2026-12-08T00:00+01:00"),  # Saturday
        ("2026-12-06T23:30+00:00", "2026-12-08T00:30+01:00"),  # Monday already, in Berlin
    ],
)
def test_it_is_due_one_business_day_later(arrived, due):
    assert due_after(datetime.fromisoformat(arrived), BERLIN) == datetime.fromisoformat(due)


def test_the_hour_stays_when_clocks_change():
    before = datetime.fromisoformat("2026-03-27T12:00+01:00")  # the Friday before summer time
    assert due_after(before, BERLIN).isoformat() == "2026-03-30T12:00:00+02:00"
