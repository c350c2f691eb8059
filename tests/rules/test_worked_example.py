"""The worked example: one NVLink fault on one GPU of one node ends 32 ranks on four."""

import re
import shutil

import pytest

from rules import attribute_path
from tests.rules.bundles import WORKED_EXAMPLE, copied


@pytest.fixture(scope="module")
def verdict():
    return attribute_path(WORKED_EXAMPLE)


def test_it_names_the_one_node_gpu_and_link(verdict):
    assert (verdict["outcome"], verdict["cause"]) == ("attributed", "gpu_link_signal_integrity")
    (culprit,) = verdict["culprits"]
    assert culprit["node"] == "gpu-node-07"
    assert culprit["device"] == "GPU 3 (0000:5d:00) link 8"
    assert culprit["ranks"] == [19]


def test_the_other_gpus_of_the_node_and_the_far_end_are_symptoms(verdict):
    roles = {(e["node"], e["device"]): e["role"] for e in verdict["evidence"] if "xid" in e["signature"]}
    assert roles[("gpu-node-07", "GPU 5 (0000:c3:00)")] == "symptom"
    for number, address in enumerate(("1b", "43", "52")):
        assert roles[("gpu-node-07", f"GPU {number} (0000:{address}:00)")] == "symptom"


def test_the_first_nccl_line_of_another_node_has_no_time_and_no_lead_is_claimed(verdict):
    """NCCL before 2.26 prints no times: its place in the output bounds it, and no number is made up."""
    first = min(
        (e for e in verdict["evidence"] if e["layer"] == "communication" and e["time"] and e["node"] != "gpu-node-07"),
        key=lambda e: e["time"],
    )
    cause = next(e for e in verdict["evidence"] if e["role"] == "cause")
    assert cause["time"] == "2026-03-11T10:02:11.418000Z"
    assert first["text"].find("NCCL") >= 0
    assert first["time_error"] > 60
    assert verdict["lead_seconds"] is None
    assert any("has no time of its own" in reason["text"] for reason in verdict["reasons"])


def test_where_nccl_prints_times_the_lead_is_3_2_seconds(tmp_path):
    copy = copied(WORKED_EXAMPLE, tmp_path / "b")
    output = next((copy / "applog").iterdir())
    stamped = re.sub(
        r"(?m)^(\s*\d+: )(\S+ \[\d\] \S+ NCCL WARN)", r"\1[2026-03-11 10:02:14.618] \2", output.read_text()
    )
    output.write_text(stamped)
    verdict = attribute_path(copy)
    assert verdict["lead_seconds"] == pytest.approx(3.2, abs=0.001)
    assert "3.2 s before NCCL lost the connection to a peer (rank 5)" in verdict["summary"]


def test_the_ranks_elsewhere_are_linked_to_it_as_effects(verdict):
    by_id = {e["id"]: e for e in verdict["evidence"]}
    effects = {by_id[link["to"]]["node"] for link in verdict["chain"] if by_id[link["from"]]["role"] == "cause"}
    assert {"gpu-node-05", "gpu-node-06", "gpu-node-08"} <= effects


def test_the_old_xid_of_another_process_is_not_a_symptom(verdict):
    old = [e for e in verdict["evidence"] if e["node"] == "gpu-node-06" and e["signature"].startswith("xid_31")]
    assert all(e["role"] in ("rejected", "context") for e in old)


def test_without_that_nodes_syslog_nobody_else_is_blamed_and_it_says_what_it_could_not_see(tmp_path):
    copy = copied(WORKED_EXAMPLE, tmp_path / "b")
    (copy / "syslog" / "gpu-node-07.log").unlink()
    verdict = attribute_path(copy)
    assert verdict["outcome"] in ("ambiguous", "insufficient_evidence")
    assert {c["node"] for c in verdict["culprits"]} <= {"gpu-node-07"}
    syslog = next(c for c in verdict["coverage"] if c["source"] == "syslog")
    assert syslog["nodes_missing"] == ["gpu-node-07"]
    assert "gpu_link_signal_integrity" in syslog["could_have_shown"]
    assert syslog["could_change_answer"]
    assert any(step["node"] == "gpu-node-07" and step["source"] == "syslog" for step in verdict["settle"])


def test_without_any_syslog_it_abstains(tmp_path):
    copy = copied(WORKED_EXAMPLE, tmp_path / "b")
    shutil.rmtree(copy / "syslog")
    assert attribute_path(copy)["outcome"] in ("ambiguous", "insufficient_evidence")
