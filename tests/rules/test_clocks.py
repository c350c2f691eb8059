"""Times are intervals: what two clocks cannot prove is unknown."""

from datetime import UTC, datetime

import pytest

from rules import attribute_path
from rules.clocks import StreamClock, iso, read, stream_clock, zone_fit
from telemetry.formats.prefix import Stamp
from telemetry.job import JobContext
from tests.rules.bundles import JOB, QUIET, XID_79, written

START = datetime(2026, 3, 1, 10, tzinfo=UTC)
END = datetime(2026, 3, 1, 11, tzinfo=UTC)
JOB_CONTEXT = JobContext(started=START, ended=END, nodes=("n1", "n2"))


def local(moment: datetime) -> Stamp:
    return Stamp(moment.timestamp(), 1.0, "local")


def test_a_whole_second_is_an_interval_of_one_second():
    interval = read(Stamp(START.timestamp(), 1.0, "utc"), StreamClock(), JOB_CONTEXT)
    assert interval is not None
    assert interval.hi - interval.lo == 1.0


def test_the_hour_that_a_clock_lives_twice_stays_open():
    job = JobContext(started=START, ended=END, timezone="Europe/Berlin")
    twice = local(datetime(2026, 10, 25, 2, 30, tzinfo=UTC))
    interval = read(twice, StreamClock(), job)
    assert interval is not None
    assert interval.hi - interval.lo == pytest.approx(3601)


def test_a_zone_that_the_job_names_is_used():
    job = JobContext(started=START, ended=END, timezone="America/Los_Angeles")
    interval = read(local(datetime(2026, 3, 1, 2, 30, tzinfo=UTC)), StreamClock(), job)
    assert interval is not None
    assert iso(interval.lo) == "2026-03-01T10:30:00Z"


def test_zone_less_hosts_are_laid_into_the_job_by_their_launch_line():
    launched = datetime(2026, 3, 1, 3, 0, 2, tzinfo=UTC).timestamp()
    fit = zone_fit(JOB_CONTEXT, [launched + 100], [launched])
    assert fit is not None
    assert (fit.shift, fit.error) == (7 * 3600, 0)


def test_a_zone_that_only_the_jobs_length_bounds_widens_every_time():
    long_job = JobContext(started=START, ended=datetime(2026, 3, 1, 16, tzinfo=UTC))
    fit = zone_fit(long_job, [datetime(2026, 3, 1, 5, 30, tzinfo=UTC).timestamp()], [])
    assert fit is not None
    assert fit.error >= 5 * 3600


def test_zone_less_hosts_stay_at_utc_when_a_line_falls_into_the_job():
    assert zone_fit(JOB_CONTEXT, [START.timestamp() + 60, START.timestamp() - 7200], []) is None


def test_a_clock_three_years_off_proves_nothing():
    clock = stream_clock(JOB_CONTEXT, [local(datetime(2023, 3, 1, 10, 30, tzinfo=UTC))], None)
    assert not clock.trusted


def test_a_node_whose_clock_is_three_years_off_is_said_and_orders_nothing(tmp_path):
    old = XID_79.replace("2026-", "2023-")
    bundle = written(
        tmp_path / "b", {"syslog/n1.log": QUIET.replace("2026-", "2023-").replace("{n}", "n1") + old}, **JOB
    )
    verdict = attribute_path(bundle)
    assert verdict["first_fault_at"] is None
    assert verdict["clocks"][0]["node"] == "n1"
    assert "far from the job's time" in verdict["clocks"][0]["basis"]


def test_two_faults_whose_order_the_clocks_cannot_prove_are_ambiguous(tmp_path):
    panic = "2026-03-01T10:30:00.300000+00:00 n2 kernel: mce: [Hardware Error]: CPU 3: Machine Check Exception: 5 Bank 7: be00000000800400\n"
    panic += "2026-03-01T10:30:00.310000+00:00 n2 kernel: Kernel panic - not syncing: Fatal machine check\n"
    bundle = written(tmp_path / "b", {"syslog/n1.log": XID_79, "syslog/n2.log": panic}, **JOB)
    verdict = attribute_path(bundle)
    assert verdict["outcome"] == "ambiguous"
    assert "gpu_fell_off_bus" in {a["cause"] for a in verdict["alternatives"]}
    assert len({c["node"] for c in verdict["culprits"]}) == 2


def test_of_two_faults_minutes_apart_the_earlier_is_the_answer(tmp_path):
    later = XID_79.replace("T10:30", "T10:35").replace(" n1 ", " n2 ").replace("79, pid", "95, pid")
    bundle = written(tmp_path / "b", {"syslog/n1.log": XID_79, "syslog/n2.log": later}, **JOB)
    verdict = attribute_path(bundle)
    assert (verdict["outcome"], [c["node"] for c in verdict["culprits"]]) == ("attributed", ["n1"])


def test_hosts_that_do_not_keep_the_sites_zone_are_laid_into_the_job_and_it_is_said(tmp_path):
    """The cluster says UTC, its nodes log in local time seven hours behind."""
    fault = XID_79.replace("2026-03-01T10:30:00.000000+00:00", "Mar  1 03:30:00")
    bundle = written(tmp_path / "b", {"syslog/n1.log": fault}, **{**JOB, "timezone": "UTC"})
    verdict = attribute_path(bundle)
    assert verdict["first_fault_at"] == "2026-03-01T10:30:00Z"
    assert verdict["clocks"][0]["offset_seconds"] == -7 * 3600
