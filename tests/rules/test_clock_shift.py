"""One node's clock is wrong: the answer may fall back, it never becomes another confident cause."""

import sys

import pytest

from rules import attribute_path
from tests.rules.bundles import JOB, QUIET, XID_79, copied, samples, written
from tests.rules.shifting import nodes_with_streams, shift_node, shifted_line

SHIFTS = {"1 s": 1.0, "30 s": 30.0, "5 min": 300.0, "1 h": 3600.0, "1 day": 86400.0}
CASES = [(bundle, node) for bundle in samples() for node in nodes_with_streams(bundle)]


def places(verdict):
    return {c["node"] for c in verdict["culprits"] if c["node"]}


def assert_no_other_confident_cause(whole, changed):
    if changed["outcome"] not in ("attributed", "no_failure"):
        return
    assert (changed["outcome"], changed["cause"]) == (whole["outcome"], whole["cause"])
    assert places(changed) <= places(whole)


@pytest.mark.parametrize("name", SHIFTS)
@pytest.mark.parametrize(("bundle", "node"), CASES, ids=[f"{bundle.name}-{node}" for bundle, node in CASES])
def test_a_node_whose_clock_is_off_never_makes_another_confident_cause(bundle, node, name, tmp_path):
    whole = attribute_path(bundle)
    for sign in (1, -1):
        copy = copied(bundle, tmp_path / f"{sign}")
        shifted = shift_node(copy, node, sign * SHIFTS[name])
        print(f"{bundle.name} {node} {sign * SHIFTS[name]:+.0f} s: {shifted.moved} moved, {shifted.left} not")
        assert_no_other_confident_cause(whole, attribute_path(copy))


def test_nearly_all_lines_of_the_samples_hosts_can_be_shifted(tmp_path):
    moved = left = 0
    for number, (bundle, node) in enumerate(CASES):
        copy = copied(bundle, tmp_path / str(number))
        shifted = shift_node(copy, node, 3600.0)
        if (copy / "syslog" / f"{node}.log").exists():
            moved, left = moved + shifted.moved, left + shifted.left
    print(f"{moved} lines moved, {left} bear no stamp that is known", file=sys.stderr)
    assert left * 50 <= moved


@pytest.mark.parametrize(
    ("line", "later"),
    [
        ("2026-03-01T10:30:00.25+00:00 n1 kernel: x", "2026-03-01T11:30:00.25+00:00 n1 kernel: x"),
        ("Mar  9 23:30:00 n1 kernel: x", "Mar 10 00:30:00 n1 kernel: x"),
        ("[Tue Apr 22 05:34:12 2025] x", "[Tue Apr 22 06:34:12 2025] x"),
        ("[Mar 11 2026 10:02:11] [ERROR] x", "[Mar 11 2026 11:02:11] [ERROR] x"),
        ("E0521 15:43:02.118000 1 f.py] x", "E0521 16:43:02.118000 1 f.py] x"),
        ("no stamp", None),
    ],
)
def test_stamps_are_moved_in_their_own_form(line, later):
    from datetime import timedelta

    assert shifted_line(line, timedelta(hours=1), 2026) == later


LINES = [f"2026-03-01T{hour:02}:{minute:02}:00.000000+00:00 {{n}} systemd[1]: Started Session {hour}{minute} of user root.\n"
         for hour in (9, 10, 11) for minute in range(0, 60, 5)]  # fmt: skip


def quiet(node):
    return "".join(LINES).replace("{n}", node)


def three_nodes(tmp_path, name, faulty):
    logs = {f"syslog/{n}.log": quiet(n) for n in ("n1", "n2", "n3")}
    for node, line in faulty.items():
        logs[f"syslog/{node}.log"] = "".join(sorted((quiet(node) + line).splitlines(keepends=True)))
    return written(tmp_path / name, logs, **{**JOB, "nodes": ["n1", "n2", "n3"]})


LATER = XID_79.replace("T10:30", "T10:35").replace(" n1 ", " n2 ").replace("79, pid", "95, pid")


def test_a_log_that_covers_another_span_than_all_others_orders_nothing(tmp_path):
    bundle = three_nodes(tmp_path, "right", {"n1": XID_79, "n2": LATER})
    assert (attribute_path(bundle)["cause"], places(attribute_path(bundle))) == ("gpu_fell_off_bus", {"n1"})
    shift_node(bundle, "n2", -3600.0)
    verdict = attribute_path(bundle)
    assert verdict["outcome"] == "ambiguous"
    assert [(c["node"], c["basis"]) for c in verdict["clocks"]] == [
        ("n2", "its log covers another span than the other nodes' logs")
    ]
    assert verdict["clocks"][0]["error_seconds"] == pytest.approx(3600)


def test_a_node_that_died_early_keeps_its_clock(tmp_path):
    bundle = three_nodes(tmp_path, "b", {"n1": XID_79})
    log = bundle / "syslog" / "n1.log"
    log.write_text("".join(line for line in log.read_text().splitlines(keepends=True) if line < "2026-03-01T10:31"))
    verdict = attribute_path(bundle)
    assert (verdict["outcome"], verdict["clocks"]) == ("attributed", [])
    assert verdict["first_fault_at"] == "2026-03-01T10:30:00Z"


LAUNCH = "2026-03-01T{at}+00:00 n1 slurmd[7]: launch task StepId=7.0 request from UID:1 GID:1 HOST:10.0.0.1 PORT:1\n"


def test_a_job_that_its_node_launched_after_its_end_shows_that_clock_to_be_off(tmp_path):
    log = QUIET.replace("{n}", "n1") + XID_79 + LAUNCH.replace("{at}", "13:00:02")
    verdict = attribute_path(written(tmp_path / "b", {"syslog/n1.log": log}, **JOB))
    assert verdict["clocks"][0]["basis"] == "its own line that launches this job"
    assert verdict["clocks"][0]["error_seconds"] == pytest.approx(3 * 3600 + 2)
    assert verdict["first_fault_at"] is None


def test_the_launch_of_an_earlier_attempt_says_nothing_of_the_clock(tmp_path):
    log = LAUNCH.replace("{at}", "07:00:02") + LAUNCH.replace("{at}", "10:00:02") + XID_79
    verdict = attribute_path(written(tmp_path / "b", {"syslog/n1.log": log}, **JOB))
    assert verdict["clocks"] == []
    assert verdict["first_fault_at"] == "2026-03-01T10:30:00Z"


def test_a_likely_cause_that_only_another_machines_clock_sets_aside_is_an_alternative(tmp_path):
    """The node's own log puts its lockup after the moment at which the scheduler had lost it."""
    ctl = "[2026-03-01T10:30:00.000] error: Nodes n1 not responding, setting DOWN\n[2026-03-01T10:30:00.100] Killing JobId=7 on failed node n1\n"
    log = "2026-03-01T10:34:00.000000+00:00 n1 kernel: watchdog: Watchdog detected hard LOCKUP on cpu 12\n"
    files = {"scheduler/slurmctld.log": ctl, "syslog/n1.log": QUIET.replace("{n}", "n1") + log}
    files["syslog/n2.log"] = QUIET.replace("{n}", "n2")
    verdict = attribute_path(written(tmp_path / "b", files, **{**JOB, "state": "NODE_FAIL", "timezone": "UTC"}))
    assert verdict["outcome"] == "ambiguous"
    assert {"host_hang", "node_unresponsive"} <= {a["cause"] for a in verdict["alternatives"]}
    assert "if one of them is wrong" in verdict["alternatives"][0]["why"]
