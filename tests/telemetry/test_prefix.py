"""Times, hosts and ranks at the start of log lines."""

import time
from datetime import UTC, datetime

import pytest

from telemetry.formats.prefix import Prefix, parse_prefix
from telemetry.formats.stamps import Stamp, resolve

NEAR = datetime(2025, 6, 1, tzinfo=UTC).timestamp()
HOSTS = {"node03", "worker-1"}


def read(line: str) -> Prefix:
    return parse_prefix(line.encode(), near=NEAR, hosts=HOSTS)


def shown(stamp: Stamp | None) -> str | None:
    if stamp is None:
        return None
    if stamp.zone == "boot":
        return f"boot {stamp.seconds}"
    text = datetime.fromtimestamp(stamp.seconds, UTC).isoformat(timespec="milliseconds").removesuffix("+00:00")
    return f"{text} {stamp.zone} {stamp.precision:g}"


@pytest.mark.parametrize(
    ("line", "time"),
    [
        # journald, rsyslog, kernel
        ("2026-02-10T21:05:10.233439+00:00 n1 kernel: x", "2026-02-10T21:05:10.233 offset 1e-06"),
        ("2026-06-08T01:43:08+0200 n1 systemd[1]: x", "2026-06-07T23:43:08.000 offset 1"),
        ("Jan 21 03:40:10 nv-03 kernel: x", "2025-01-21T03:40:10.000 local 1"),
        ("Jan  1 03:40:10 nv-03 kernel: x", "2025-01-01T03:40:10.000 local 1"),
        ("May 21 15:43:02.118237 n1 kernel: x", "2025-05-21T15:43:02.118 local 1e-06"),
        ("Wed 2025-05-21 15:43:02 UTC n1 kernel: x", "2025-05-21T15:43:02.000 utc 1"),
        ("1747842182.118237 n1 prog[12]: x", "2025-05-21T15:43:02.118 utc 1e-06"),
        ("[Tue Apr 22 05:34:12 2025] EXT4-fs", "2025-04-22T05:34:12.000 local 1"),
        ("[12345.678901] oom-kill", "boot 12345.678901"),
        ("[    0.000000] Linux version", "boot 0.0"),
        ("<6>[   12.345678] foo", "boot 12.345678"),
        ("<13>1 2025-05-21T15:43:02.118Z n1 app 12 - - x", "2025-05-21T15:43:02.118 utc 0.001"),
        # c10d, torchrun, glog
        ("[rank3]:[E813 12:25:31.213133402 P.cpp:1746] x", "2025-08-13T12:25:31.000 local 1"),
        ("[rank3]:[E1104 12:25:31.213133402 P.cpp:1746] x", "2025-11-04T12:25:31.000 local 1"),
        ("E0521 15:43:02.118000 14690 torch/api.py:874] x", "2025-05-21T15:43:02.118 local 0.001"),
        ("E0521 15:43:02.118237   14690 agent.cc:33] x", "2025-05-21T15:43:02.118 local 1e-06"),
        ("I0000 00:00:1742493752.004413      77 c.cc:500] x", "2025-03-20T18:02:32.004 utc 1e-06"),
        ("[2023-11-02 10:11:12,345] torch.distributed: [ERROR] x", "2023-11-02T10:11:12.345 local 0.001"),
        ("  time      : 2025-05-21_15:43:03", "2025-05-21T15:43:03.000 local 1"),
        # Python and others
        ("2025-05-21 15:43:03,118 - root - INFO - x", "2025-05-21T15:43:03.118 local 0.001"),
        ("[INFO|trainer.py:1] 2025-05-21 15:43:03,118 >> x", "2025-05-21T15:43:03.118 local 0.001"),
        ("05/21/2025 15:43:03 - INFO - x", "2025-05-21T15:43:03.000 local 1"),
        ("INFO 02-10 21:12:40 [core.py:93] x", "2025-02-10T21:12:40.000 local 1"),
        ("submitit INFO (2021-03-28 22:11:21,114) - x", "2021-03-28T22:11:21.114 local 0.001"),
        ("2025:02:24-02:11:40:(104411) |CCL_WARN| x", "2025-02-24T02:11:40.000 local 1"),
        ('{"level":"info","time":"2025-05-21T15:43:03Z","msg":"x"}', "2025-05-21T15:43:03.000 utc 1"),
        ('time="2025-05-21T15:43:02Z" level=error msg=x', "2025-05-21T15:43:02.000 utc 1"),
        # NCCL, UCX, libfabric, MPI
        ("[2025-05-21 15:43:03] node03:3468:3905 [4] NCCL WARN x", "2025-05-21T15:43:03.000 local 1"),
        ("node03:3468:3905 [4] NCCL WARN x", None),
        ("[1747842182.118237] [node03:3468 :0] ib.c:171 UCX ERROR", "2025-05-21T15:43:02.118 utc 1e-06"),
        ("libfabric:380114:1740117672::core:x", "2025-02-21T06:01:12.000 utc 1"),
        ("MPICH ERROR [Rank 3] [job id 6.0] [Tue Jan 14 03:02:50 2025] [nid01] - A", "2025-01-14T03:02:50.000 local 1"),
        # schedulers, fabric, containers, baseboard controllers
        ("[2026-12-01T12:46:44.458] _job_complete: x", "2026-12-01T12:46:44.458 local 0.001"),
        (
            "0: slurmstepd: error: *** STEP 13.0 ON n CANCELLED AT 2026-12-01T12:46:44 ***",
            "2026-12-01T12:46:44.000 local 1",
        ),
        ("[Mar 11 2026 10:02:11] [ERROR] [tid 77125] x", "2026-03-11T10:02:11.000 local 1"),
        ("May 21 15:43:02 118237 [B3F00700] 0x01 -> x", "2025-05-21T15:43:02.118 local 1e-06"),
        ("2025 May 21 15:43:02.118 UTC: %ETHPORT-5: x", "2025-05-21T15:43:02.118 utc 0.001"),
        ("2025-05-21T15:43:03.118237456Z stdout F x", "2025-05-21T15:43:03.118 utc 1e-06"),
        ("(raylet) [2025-05-21 15:43:02,118 E 14690 14690] x", "2025-05-21T15:43:02.118 local 0.001"),
        ("  1 | 05/21/2025 | 15:43:03 | Memory #0x53 | x", "2025-05-21T15:43:03.000 local 1"),
        # none
        ("Traceback (most recent call last):", None),
        ('  File "x.py", line 3, in main', None),
        ("1234567890 tokens", None),
        ("2025-13-45 99:99:99 x", None),
        ("", None),
    ],
)
def test_the_time_of_a_line_and_how_far_it_can_be_trusted(line: str, time: str | None) -> None:
    assert shown(read(line).time) == time


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("Apr 30 13:32:38 gpu-1 kernel: [ 89.25] audit: x", {"host": "gpu-1", "program": "kernel", "boot": 89.25}),
        ("2026-06-08T01:43:08+0000 b3 systemd[1]: x", {"host": "b3", "program": "systemd", "pid": 1}),
        (" 3: gpu-05:733100:733400 [0] NCCL INFO x", {"host": "gpu-05", "rank": 3, "pid": 733100, "device": 0}),
        ("[default3]:[rank11]:[E1104 01:02:03.2 x.cpp:1] x", {"rank": 11, "local_rank": 3}),
        ("[E ProcessGroupNCCL.cpp:456] [Rank 3] Watchdog", {"rank": 3}),
        ("[1,3]<stderr>:boom", {"rank": 3}),
        ("rank 5: iter 0 ok", {"rank": 5}),
        ("[node03:01234] *** An error occurred in MPI_Allreduce", {"host": "node03", "pid": 1234}),
        ("(RayTrainWorker pid=123, ip=10.0.0.2) x", {"host": "10.0.0.2", "pid": 123, "container": "RayTrainWorker"}),
        ("(worker0, rank=0, pid=7710, ip=10.42.1.17) x", {"rank": 0, "host": "10.42.1.17"}),
        ("\x1b[36m(EngineCore_DP0 pid=31402)\x1b[0m x", {"pid": 31402, "container": "EngineCore_DP0"}),
        ("worker-1: [2024-07-15 11:40:12,671] [INFO] [launch.py:1] x", {"host": "worker-1"}),
        ("[pod/train-0/main] 2025-05-21T15:43:03Z hello", {"container": "train-0"}),
        ("0: slurmstepd: error: *** STEP 13.0 ON n CANCELLED AT x ***", {"rank": None, "program": "slurmstepd"}),
        ("22: slurmstepd: error: pyxis: couldn't start container", {"rank": None, "task": 22}),
        ("srun: error: node03: task 2: Killed", {"rank": None, "host": None, "program": "srun"}),
        ("[core.py:93] x", {"host": None, "rank": None}),
        ("[cuda:0] x", {"host": None, "rank": None}),
        ("2026-05-06T05:02:19.310Z step=2000 loss=2.3100", {"host": None}),
        ("2025-05-21T15:43:03.118237456+02:00 NCCL error: x", {"host": None, "program": None}),
        ("RuntimeError: x", {"host": None, "rank": None, "program": None}),
    ],
)  # fmt: skip
def test_who_wrote_a_line(line: str, wanted: dict[str, object]) -> None:
    prefix = read(line)
    assert {name: getattr(prefix, name) for name in wanted} == wanted


@pytest.mark.parametrize(
    ("line", "body"),
    [
        ("Apr 30 13:32:38 gpu-1 kernel: [ 8978.853720] audit: x", "audit: x"),
        ("[rank3]:[E813 12:25:31.2 P.cpp:1] [PG ID 0 PG GUID 0(default_pg) Rank 3] Watchdog", "Watchdog"),
        ('3:   File "train.py"', '  File "train.py"'),
        ("no prefix: here", "no prefix: here"),
        ("Epoch 1: 10%|# |\rEpoch 1: 20%|## |\r[rank3]: Traceback", "Traceback"),
    ],
)
def test_where_the_message_begins(line: str, body: str) -> None:
    assert line.encode()[read(line).body :].decode() == body


def test_a_stamp_without_year_is_put_next_to_the_jobs_end_and_says_so() -> None:
    new_year = datetime(2026, 1, 1, 0, 10, tzinfo=UTC).timestamp()
    before = parse_prefix(b"Dec 31 23:59:59 n1 kernel: x", near=new_year).time
    after = parse_prefix(b"Jan  1 00:00:03 n1 kernel: x", near=new_year).time
    assert before
    assert after
    assert not before.year_known
    assert after.seconds - before.seconds == 4
    leap = parse_prefix(b"Feb 29 12:00:00 n1 kernel: x", near=datetime(2024, 3, 1, tzinfo=UTC).timestamp()).time
    assert shown(leap) == "2024-02-29T12:00:00.000 local 1"
    assert parse_prefix(b"Feb 29 12:00:00 n1 kernel: x", year=2023).time is None


def test_a_clock_without_date_says_that_the_date_is_not_known() -> None:
    stamp = read("20:37:42 worker 0 shard 1180").time
    assert stamp
    assert not stamp.date_known
    assert shown(stamp) == "2025-05-31T20:37:42.000 local 1"
    assert resolve(stamp, "UTC") is None


def test_the_runtimes_stamp_goes_before_the_programs_own_when_only_it_has_a_zone() -> None:
    prefix = read("2026-05-06T05:27:31.018Z E0506 05:27:31.018200 1 agent.cc:771] x")
    assert shown(prefix.time) == "2026-05-06T05:27:31.018 utc 0.001"
    assert prefix.inner
    assert prefix.inner.form == "glog"
    assert prefix.pid == 1


def test_a_local_time_lies_in_an_interval_as_wide_as_what_is_not_known() -> None:
    stamp = read("2025-07-01 12:00:00 x").time
    assert stamp
    noon = datetime(2025, 7, 1, 10, tzinfo=UTC).timestamp()
    assert resolve(stamp, "Europe/Berlin") == (noon, noon + 1)
    low, high = resolve(stamp) or (0, 0)
    assert high - low == 26 * 3600 + 1
    twice = read("2025-10-26 02:30:00 x").time
    assert twice
    low, high = resolve(twice, "Europe/Berlin") or (0, 0)
    assert high - low == 3601


def test_hostile_lines_are_read_fast() -> None:
    lines = [
        b"[" * 100_000,
        b"2025-05-21 " * 9000,
        b"(" + b"a=b," * 9000,
        b"\x1b[" * 9000,
        b"{" + b'"t":' * 9000,
        b"*** " * 9000,
    ]
    lines += [bytes([at]) * 600 for at in range(256)]
    start = time.perf_counter()
    for line in lines:
        read(line.decode("latin-1"))
    assert time.perf_counter() - start < 1.5
