"""Less to see, or a log that is cut or late: the answer may fall back, it never becomes another confident cause.

And the other way: what is there and decides is not thrown away for a gap that could not have changed it.
"""

import random
from datetime import timedelta

import pytest

from rules import attribute_path
from tests.rules.bundles import JOB, QUIET, WORKED_EXAMPLE, XID_79, copied, samples, written
from tests.rules.shifting import shifted_line
from tests.rules.test_clock_shift import assert_no_other_confident_cause

SOURCES = ("scheduler", "applog", "syslog", "fabric", "metrics")
SEEDS = range(3)


def host_logs(bundle):
    return sorted(f for source in ("syslog", "fabric") for f in (bundle / source).glob("*"))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("bundle", samples(), ids=lambda path: path.name)
def test_half_of_the_nodes_logs_gone_never_makes_another_confident_cause(bundle, seed, tmp_path):
    copy = copied(bundle, tmp_path / "b")
    logs = host_logs(copy)
    for file in random.Random(seed).sample(logs, len(logs) // 2):
        file.unlink()
    assert_no_other_confident_cause(attribute_path(bundle), attribute_path(copy))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("end", ["end", "beginning"])
@pytest.mark.parametrize("bundle", samples(), ids=lambda path: path.name)
def test_a_file_that_lost_its_end_or_beginning_never_makes_another_confident_cause(bundle, end, seed, tmp_path):
    whole = attribute_path(bundle)
    chance = random.Random(seed)
    for number, file in enumerate(f for s in SOURCES for f in sorted((bundle / s).glob("*"))):
        copy = copied(bundle, tmp_path / str(number))
        data = file.read_bytes()
        at = chance.randrange(len(data))
        (copy / file.relative_to(bundle)).write_bytes(data[:at] if end == "end" else data[at:])
        assert_no_other_confident_cause(whole, attribute_path(copy))


@pytest.mark.parametrize("seconds", [30, 300, -300])
@pytest.mark.parametrize("bundle", samples(), ids=lambda path: path.name)
def test_a_source_that_is_late_or_early_as_a_whole_never_makes_another_confident_cause(bundle, seconds, tmp_path):
    whole = attribute_path(bundle)
    for source in ("applog", "syslog", "fabric"):
        files = [f for f in sorted((bundle / source).glob("*")) if f.suffix != ".json"]
        copy = copied(bundle, tmp_path / source)
        for file in files:
            lines = file.read_text(errors="surrogateescape").split("\n")
            moved = [shifted_line(line, timedelta(seconds=seconds), 2026) or line for line in lines]
            (copy / file.relative_to(bundle)).write_text("\n".join(moved), errors="surrogateescape")
        assert_no_other_confident_cause(whole, attribute_path(copy))


RETRY = "n1:2210:2655 [4] ib_plugin.c:1615 NCCL WARN NET/IB : Got completion from peer 10.0.0.2<4787> with status=12 opcode=32767 len=0 vendor err 129 (Send) localGid fe80::1 remoteGids fe80::2 hca mlx5_4\n"
NEAR_THE_END = "2026-03-01T10:59:00.000000+00:00 {n} systemd[1]: Started Session 2 of user root.\n"


def logs(*nodes, until_the_end=True):
    text = QUIET + (NEAR_THE_END if until_the_end else "")
    return {f"syslog/{node}.log": text.replace("{n}", node) for node in nodes}


def test_evidence_that_something_unseen_could_explain_decides_when_all_logs_are_there(tmp_path):
    verdict = attribute_path(written(tmp_path / "b", {"applog/out.log": RETRY, **logs("n1", "n2")}, **JOB))
    assert (verdict["outcome"], verdict["cause"]) == ("attributed", "network_transport_retry")


@pytest.mark.parametrize("there", [logs("n1"), {}, {**logs("n1"), **logs("n2", until_the_end=False)}])
def test_it_does_not_decide_when_a_nodes_log_is_missing_or_ends_long_before(there, tmp_path):
    verdict = attribute_path(written(tmp_path / "b", {"applog/out.log": RETRY, **there}, **JOB))
    assert verdict["outcome"] in ("ambiguous", "insufficient_evidence")
    assert "syslog" in {step["source"] for step in verdict["settle"]}


def test_evidence_that_stands_by_itself_decides_though_its_log_is_cut_right_after_it(tmp_path):
    log = QUIET.replace("{n}", "n1") + XID_79
    verdict = attribute_path(written(tmp_path / "b", {"syslog/n1.log": log[:-1]}, **JOB))
    assert (verdict["outcome"], verdict["cause"]) == ("attributed", "gpu_fell_off_bus")


APPLICATION_FAULT = "2026-03-01T10:{at}:00.000000+00:00 n2 kernel: NVRM: Xid (PCI:0000:43:00): 31, pid=9, name=python, Ch 00000012, intr 00000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_0 faulted @ 0x7f_c2a00000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ\n"
CRASH = "RuntimeError: CUDA error: an illegal memory access was encountered\n"


def test_an_earlier_fault_that_nothing_followed_does_not_win_over_a_later_one(tmp_path):
    early = APPLICATION_FAULT.replace("{at}", "05")
    files = {"syslog/n1.log": QUIET.replace("{n}", "n1") + XID_79, "syslog/n2.log": early + QUIET.replace("{n}", "n2")}
    verdict = attribute_path(written(tmp_path / "b", {**files, "applog/out.log": CRASH}, **JOB))
    assert verdict["cause"] != "illegal_memory_access"


def test_what_a_kernel_reports_minutes_after_the_program_died_is_no_cause(tmp_path):
    died = "2026-03-01 10:20:00,000 ERROR Worker proc VllmWorker-2 died unexpectedly, shutting down executor.\n"
    late = "2026-03-01T10:23:00.000000+00:00 n1 kernel: NVRM: Xid (PCI:0000:51:00): 119, pid=9, name=nvidia-device-p, Timeout waiting for RPC from GSP!\n"
    start = QUIET.replace("{n}", "n1").replace("T10:10", "T09:50")
    job = {**JOB, "nodes": ["n1"], "ended": "2026-03-01T10:25:00Z"}
    verdict = attribute_path(written(tmp_path / "b", {"applog/out.log": died, "syslog/n1.log": start + late}, **job))
    assert verdict["outcome"] == "insufficient_evidence"
    assert any("broken before it" in r["why"] for r in verdict["rejected"])


def test_the_same_report_before_the_program_died_is_the_cause(tmp_path):
    died = "2026-03-01 10:24:00,000 ERROR Worker proc VllmWorker-2 died unexpectedly, shutting down executor.\n"
    early = "2026-03-01T10:23:00.000000+00:00 n1 kernel: NVRM: Xid (PCI:0000:51:00): 119, pid=9, name=python, Timeout waiting for RPC from GSP!\n"
    start = QUIET.replace("{n}", "n1").replace("T10:10", "T09:50")
    job = {**JOB, "nodes": ["n1"], "ended": "2026-03-01T10:25:00Z"}
    verdict = attribute_path(written(tmp_path / "b", {"applog/out.log": died, "syslog/n1.log": start + early}, **job))
    assert (verdict["outcome"], verdict["cause"]) == ("attributed", "gpu_firmware_failure")


def test_a_fault_before_the_job_counts_when_the_state_it_left_behind_met_the_job(tmp_path):
    aer = "2026-03-01T09:50:00.000000+00:00 n1 kernel: pcieport 0000:00:02.0: AER: Uncorrected (Fatal) error received: 0000:00:02.0\n"
    lost = XID_79.replace("T10:30:00", "T09:50:01")
    met = "RuntimeError: CUDA error: unknown error\n"
    log = aer + lost + QUIET.replace("{n}", "n1")
    job = {**JOB, "nodes": ["n1"]}
    verdict = attribute_path(written(tmp_path / "b", {"applog/out.log": met, "syslog/n1.log": log}, **job))
    assert (verdict["outcome"], verdict["cause"]) == ("attributed", "host_pcie_error")


EXCEPTION = "RuntimeError: level_zero backend failed with error: 20 (UR_RESULT_ERROR_DEVICE_LOST)\n"


def test_an_exception_that_speaks_of_a_lost_device_is_not_the_programs_own(tmp_path):
    verdict = attribute_path(written(tmp_path / "b", {"applog/out.log": EXCEPTION}, **JOB))
    assert verdict["outcome"] in ("ambiguous", "insufficient_evidence")
    assert "python_exception" not in {a["cause"] for a in verdict["alternatives"]}


def test_an_exception_of_the_programs_own_is(tmp_path):
    verdict = attribute_path(written(tmp_path / "b", {"applog/out.log": "KeyError: 'labels'\n"}, **JOB))
    assert (verdict["outcome"], verdict["cause"]) == ("attributed", "python_exception")


def test_a_name_that_the_end_of_a_cut_log_halves_is_no_node(tmp_path):
    line = "[2026-03-01T10:00:02.000] error: validate_node_specs: Prolog or job env setup failure on node node1"
    job = {**JOB, "nodes": ["node10", "node11"], "timezone": "UTC"}
    verdict = attribute_path(written(tmp_path / "b", {"scheduler/slurmctld.log": line}, **job))
    assert {c["node"] for c in verdict["culprits"]} <= {None, "node10", "node11"}
    whole = attribute_path(written(tmp_path / "c", {"scheduler/slurmctld.log": line + "0\n"}, **job))
    assert [c["node"] for c in whole["culprits"]] == ["node10"]


def test_a_log_that_breaks_off_in_a_line_does_not_show_that_nothing_followed(tmp_path):
    quiet = logs("n1", "n2")
    cut = {**quiet, "syslog/n2.log": quiet["syslog/n2.log"][:-30]}
    verdict = attribute_path(written(tmp_path / "b", {"applog/out.log": RETRY, **cut}, **JOB))
    assert verdict["outcome"] in ("ambiguous", "insufficient_evidence")


def test_a_log_that_breaks_off_in_its_first_line_shows_nothing(tmp_path):
    torn = {**logs("n1"), "syslog/n2.log": "20"}
    verdict = attribute_path(written(tmp_path / "b", {"applog/out.log": RETRY, **torn}, **JOB))
    assert verdict["outcome"] in ("ambiguous", "insufficient_evidence")


def test_an_exception_whose_message_breaks_off_is_not_yet_a_cause(tmp_path):
    verdict = attribute_path(written(tmp_path / "b", {"applog/out.log": "ValueError: hos"}, **JOB))
    assert verdict["outcome"] == "insufficient_evidence"


def test_a_host_log_cut_inside_the_deciding_line_leaves_the_cause_open(tmp_path):
    copy = copied(WORKED_EXAMPLE, tmp_path / "b")
    log = copy / "syslog" / "gpu-node-07.log"
    data = log.read_bytes()
    log.write_bytes(data[: data.index(b"NETIR_LINK_EVT") + 40])
    (copy / "syslog" / "gpu-node-06.log").write_bytes(b"2026")
    assert attribute_path(copy)["outcome"] in ("ambiguous", "insufficient_evidence")
