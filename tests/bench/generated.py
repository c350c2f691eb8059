"""A generated bundle of the size of a bad day: 64 nodes, 1 GiB of logs, one NVLink fault.

Lines are drawn from templates with a fixed seed, so that the same size gives the same bytes. Seven parts in ten are
the nodes' system logs (kernel, systemd, slurmd, chronyd, exporters, 1 line in 400 a corrected PCIe error), three in
ten the job's output (NCCL INFO and step counters of 512 ranks). Into it go the lines of one fault: an Xid 149 with its
Xid 145 and 45 neighbours on node 23, the closed sockets and the watchdog time-outs of every rank.
"""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

NODES = 64
RANKS_PER_NODE = 8
START = datetime(2026, 3, 11, 8, 0, tzinfo=UTC)
HOURS = 12
FAULT = START + timedelta(hours=11, minutes=30)
END = FAULT + timedelta(minutes=11)
CULPRIT = "gpu23"

SYSLOG = (
    "{t} {n} systemd[1]: session-{i}.scope: Deactivated successfully.",
    "{t} {n} chronyd[1502]: Selected source 10.20.0.{b}",
    "{t} {n} CRON[{i}]: (root) CMD (command -v debian-sa1 > /dev/null && debian-sa1 1 1)",
    '{t} {n} node-exporter[1820]: ts={t} caller=collector.go:169 level=debug msg="collector succeeded" name=cpu{b}',
    "{t} {n} slurmd[2210]: debug:  _rpc_ping: node {n} answers request {i}",
    "{t} {n} sshd[{i}]: Connection closed by 10.20.0.{b} port {i}",
    "{t} {n} kernel: perf: interrupt took too long ({i} > 2500), lowering kernel.perf_event_max_sample_rate",
    "{t} {n} kubelet[3301]: I0311 {b} kuberuntime_gc.go:362] Removing container {i}",
    "{t} {n} dbus-daemon[901]: [system] Successfully activated service 'org.freedesktop.hostname{b}'",
    "{t} {n} irqbalance[1201]: IRQ {b} affinity is now unmanaged",
)
CORRECTED = "{t} {n} kernel: pcieport 0000:15:01.0: AER: Correctable error message received from 0000:16:00.0"
OUTPUT = (
    "{r:>3}: [{t}] iteration {i}/ 500000 | consumed samples: {i}00 | elapsed time per iteration (ms): 812.{b} | lm loss: 2.{b}",
    "{r:>3}: {n}:73{b}:7340{b} [{g}] NCCL INFO Channel {b}/0 : {r}[{g}] -> {r}[{g}] via P2P/CUMEM",
    "{r:>3}: [{t}] INFO dataset shard {i} of rank {r} loaded from /scratch/tokens/shard_{i}.bin in {b} ms",
)


def nodes() -> list[str]:
    return [f"gpu{number:02d}" for number in range(1, NODES + 1)]


def write(root: Path, size: int) -> None:
    """Write the bundle; ``size`` is bytes in all. A bundle of that size that is already there is kept."""
    done = root / f".complete-{size}"
    if done.exists():
        return
    for folder in ("syslog", "applog", "scheduler"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    names = nodes()
    for number, name in enumerate(names):
        _syslog(root / "syslog" / f"{name}.log", name, int(size * 0.7) // NODES, number)
    for part in range(4):
        _output(root / "applog" / f"rank-{part * 128:03d}.out", part, int(size * 0.3) // 4, names)
    _scheduler(root, names)
    done.touch()


def _pool(templates: tuple[str, ...], count: int, seed: int, **fixed: str) -> list[str]:
    draw = random.Random(seed)
    return [
        draw.choice(templates).format(
            t="{t}",
            i=draw.randrange(10_000, 999_999),
            b=draw.randrange(1, 250),
            r=draw.randrange(512),
            g=draw.randrange(8),
            **fixed,
        )
        for _ in range(count)
    ]


def _syslog(file: Path, node: str, size: int, seed: int) -> None:
    pool = _pool(SYSLOG, 4000, seed, n=node)
    per_line = sum(map(len, pool)) / len(pool) + 33
    count = int(size / per_line)
    step = timedelta(hours=HOURS) / count
    fault = _fault_lines(node)
    with file.open("w", encoding="utf-8") as out:
        moment = START
        for number in range(count):
            text = CORRECTED.replace("{n}", node) if number % 400 == 399 else pool[number % len(pool)]
            out.write(text.replace("{t}", moment.isoformat(timespec="microseconds")) + "\n")
            moment += step
            if fault and moment >= FAULT:
                out.writelines(fault)
                fault = []


def _fault_lines(node: str) -> list[str]:
    if node != CULPRIT:
        return []
    lines = []
    buses = ("1b", "43", "52", "5d", "9d", "c3", "d1", "df")
    at = FAULT

    def say(text: str) -> None:
        nonlocal at
        lines.append(f"{at.isoformat(timespec='microseconds')} {node} kernel: {text}\n")
        at += timedelta(milliseconds=1)

    words = "0x00000000 0x00000000 0x00000000 0x00000000 0x00000000"
    say(f"NVRM: Xid (PCI:0000:5d:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 08 (0x004505c6 {words})")
    for bus in buses:
        if bus != "5d":
            say(f"NVRM: Xid (PCI:0000:{bus}:00): 145, RLW_REMAP Nonfatal XC0 i0 Link 15 (0x0409a0c2 {words})")
    for bus in buses:
        say(f"NVRM: Xid (PCI:0000:{bus}:00): 45, pid=733100, name=python, Ch 00000001")
    return lines


def _output(file: Path, part: int, size: int, names: list[str]) -> None:
    pool = _pool(OUTPUT, 4000, 900 + part, n=names[part * 16])
    per_line = sum(map(len, pool)) / len(pool) + 20
    count = int(size / per_line)
    step = (FAULT - START) / count
    ranks = range(part * 128, part * 128 + 128)
    with file.open("w", encoding="utf-8") as out:
        moment = START
        for number in range(count):
            out.write(pool[number % len(pool)].replace("{t}", moment.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]) + "\n")
            moment += step
        for rank in ranks:
            out.write(_closed(rank, names[rank // RANKS_PER_NODE]))
        for rank in ranks:
            out.write(_watchdog(rank))


def _closed(rank: int, node: str) -> str:
    at = (FAULT + timedelta(seconds=3.2, milliseconds=rank)).strftime("%Y-%m-%d %H:%M:%S")
    return (
        f"{rank:>3}: [{at}] {node}:733100:733400 [{rank % 8}] misc/socket.cc:71 NCCL WARN socketProgress: Connection closed by"
        f" remote peer {CULPRIT}<40123>\n"
    )


def _watchdog(rank: int) -> str:
    at = FAULT + timedelta(minutes=10, milliseconds=rank)
    return (
        f"{rank:>3}: [rank{rank}]:[E{at.month}{at.day:02d} {at:%H:%M:%S}.{at.microsecond * 1000:09d} ProcessGroupNCCL.cpp:632]"
        f" [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=91822, OpType=ALLREDUCE,"
        f" NumelIn=134217728, NumelOut=134217728, Timeout(ms)=600000) ran for 600047 milliseconds before timing out.\n"
    )


def _scheduler(root: Path, names: list[str]) -> None:
    head = "JobID|JobName|User|State|ExitCode|Start|End|NNodes|NodeList|AllocTRES"
    row = (
        f"1|bench|user1|FAILED|134:0|{START:%Y-%m-%dT%H:%M:%S}|{END:%Y-%m-%dT%H:%M:%S}|{NODES}|gpu[01-64]|gres/gpu=512"
    )
    (root / "scheduler" / "sacct.txt").write_text(f"{head}\n{row}\n", encoding="utf-8")
    listed = "".join(f"  - {name}\n" for name in names)
    (root / "incident.yaml").write_text(
        "job:\n  id: '1'\n  cluster: bench\n  scheduler: slurm\n  user: user1\n  state: FAILED\n  exit_code: '134:0'\n"
        f"  started: '{START:%Y-%m-%dT%H:%M:%SZ}'\n  ended: '{END:%Y-%m-%dT%H:%M:%SZ}'\n"
        f"  ranks_per_node: {RANKS_PER_NODE}\n  nodes:\n{listed}",
        encoding="utf-8",
    )
