"""Logs are written by strangers: whatever they hold, the rest of the verdict still comes."""

import subprocess
import sys

from rules import attribute_path
from tests.rules.bundles import JOB, XID_79, written


def verdict_with(tmp_path, noise: bytes):
    return attribute_path(written(tmp_path / "b", {"syslog/n1.log": XID_79, "applog/out.log": noise}, **JOB))


def attributed(verdict):
    return (verdict["outcome"], verdict["cause"]) == ("attributed", "gpu_fell_off_bus")


def test_binary_junk_beside_it_does_not_hide_a_fault(tmp_path):
    assert attributed(verdict_with(tmp_path, bytes(range(256)) * 4000))


def test_an_empty_file_is_no_trouble(tmp_path):
    assert attributed(verdict_with(tmp_path, b""))


def test_windows_line_ends_are_read(tmp_path):
    bundle = written(tmp_path / "b", {"syslog/n1.log": XID_79.replace("\n", "\r\n")}, **JOB)
    assert attributed(attribute_path(bundle))


def test_utf_16_is_read(tmp_path):
    bundle = written(tmp_path / "b", {"syslog/n1.log": XID_79.encode("utf-16")}, **JOB)
    assert attributed(attribute_path(bundle))


def test_a_last_line_cut_in_the_middle_is_read_as_far_as_it_goes(tmp_path):
    bundle = written(tmp_path / "b", {"syslog/n1.log": XID_79 + XID_79[:40]}, **JOB)
    assert attributed(attribute_path(bundle))


def test_a_line_of_50_megabytes_is_named_as_a_problem_and_the_rest_is_read(tmp_path):
    verdict = verdict_with(tmp_path, b"x" * 50_000_000 + b"\n")
    assert attributed(verdict)
    assert verdict["problems"][0]["stream"] == "applog/out.log"
    assert verdict["problems"][0]["remedy"]


def test_a_file_that_cannot_be_opened_is_named_and_the_rest_is_read(tmp_path):
    bundle = written(tmp_path / "b", {"syslog/n1.log": XID_79, "applog/out.log": "x\n"}, **JOB)
    (bundle / "applog" / "broken.log").symlink_to(tmp_path / "nowhere")
    assert attributed(attribute_path(bundle))


def test_half_a_json_answer_is_named_and_the_rest_is_read(tmp_path):
    bundle = written(
        tmp_path / "b", {"syslog/n1.log": XID_79, "scheduler/pods.json": '{"items": [{"kind": "Pod", '}, **JOB
    )
    verdict = attribute_path(bundle)
    assert attributed(verdict)
    assert any(p["stream"] == "scheduler/pods.json" for p in verdict["problems"])


def test_peak_memory_stays_bounded_with_a_large_log(tmp_path):
    line = (
        b"2026-03-01T10:10:00+00:00 n1 systemd[1]: Started Session 1 of user root with a long enough line to be real.\n"
    )
    bundle = written(tmp_path / "b", {"syslog/n1.log": line * 3_000_000 + XID_79.encode()}, **JOB)
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.verdict", str(bundle)], capture_output=True, text=True, check=True
    )
    assert '"cause": "gpu_fell_off_bus"' in done.stdout
    peak = int(done.stdout.split('"peak": ')[1].split(",")[0])
    assert peak < 400 * 1024 * 1024


def test_a_kernel_line_printed_by_the_program_blames_no_gpu_when_the_nodes_log_does_not_show_it(tmp_path):
    claimed = "NVRM: Xid (PCI:0000:5d:00): 79, pid=7, name=python, GPU has fallen off the bus.\n"
    quiet = "".join(
        f"2026-03-01T10:{m:02d}:00+00:00 n1 systemd[1]: Started Session {m} of user root.\n" for m in range(60)
    )
    one_node = {**JOB, "nodes": ["n1"]}
    seen = written(tmp_path / "a", {"syslog/n1.log": quiet, "applog/out.log": claimed}, **one_node)
    assert attribute_path(seen)["outcome"] == "insufficient_evidence"
    unseen = written(tmp_path / "b", {"applog/out.log": claimed}, **one_node)
    assert attributed(attribute_path(unseen))


def test_a_log_that_stopped_years_ago_blames_nobody(tmp_path):
    bundle = written(tmp_path / "b", {"syslog/n1.log": XID_79.replace("2026-", "2023-")}, **JOB)
    verdict = attribute_path(bundle)
    assert verdict["outcome"] == "insufficient_evidence"
    assert verdict["clocks"][0]["node"] == "n1"


def test_a_table_of_the_whole_clusters_jobs_is_read_as_text_and_said(tmp_path):
    head = "JobID|User|State|ExitCode|Start|End|NodeList\n"
    rows = "".join(f"{n}|user1|FAILED|1:0|2026-03-01T10:00:00|2026-03-01T11:00:00|n[1-64]\n" for n in range(260_000))
    bundle = written(tmp_path / "b", {"syslog/n1.log": XID_79, "scheduler/sacct.txt": head + rows}, **JOB)
    verdict = attribute_path(bundle)
    assert attributed(verdict)
    assert "read as lines of text" in verdict["problems"][0]["what"]
