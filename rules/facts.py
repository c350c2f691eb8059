"""What the engine itself reads from a job's streams, beside the rules: who sat where.

NCCL's INFO lines say which rank ran on which GPU of which host; Kubernetes records say on which node a pod ran.
From these a kernel line's PCI address gets its GPU number and rank, and a rank's line its node.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from telemetry.formats.prefix import Stamp
from telemetry.job import JobContext

# Message of src/init.cc, NCCL 2.12 to 2.27: "comm 0x.. rank 3 nranks 32 cudaDev 3 nvmlDev 3 busId 5d000".
NCCL_INIT: Final = r"NCCL INFO (?:ncclCommInitRank(?:Config)? )?comm 0x[0-9a-f]+ rank \d+ n[Rr]anks \d+ "
NCCL_FIELDS: Final = (
    r"(?P<host>[A-Za-z0-9_.-]{1,64}):\d+:\d+ \[\d+\] NCCL INFO .{0,120}? rank (?P<rank>\d+) n[Rr]anks \d+"
    r".{0,60}?(?:nvmlDev (?P<device>\d+) )?busId (?P<bus>[0-9a-f]{1,9})"
)
# slurmd's log line when a step of a job starts on its node (src/slurmd/slurmd/req.c, 20.11 on; older: "task 12.0").
SLURMD_LAUNCH: Final = r"launch task (?:StepId=)?\d{1,12}\."
LAUNCHED_JOB: Final = r"launch task (?:StepId=)?(?P<job>\d{1,12})\."
PATTERNS: Final = {"nccl_init": ("applog", NCCL_INIT), "slurmd_launch": ("kernel", SLURMD_LAUNCH)}

_PCI = re.compile(r"(?:([0-9a-f]{4,8}):)?([0-9a-f]{2}):([0-9a-f]{2})(?:\.[0-7])?$")


def short_name(host: str | None) -> str | None:
    """``node07.cluster.example`` -> ``node07``; addresses stay whole."""
    if not host or host.replace(".", "").isdigit():
        return host
    return host.split(".", 1)[0]


def pci_address(text: str) -> str | None:
    """``00000000:5D:00.0`` and ``5d:00`` -> ``0000:5d:00``: domain, bus and device, without the function."""
    found = _PCI.fullmatch(text.strip().lower().removeprefix("pci:"))
    if not found:
        return None
    domain = (found[1] or "0000")[-4:]
    return f"{domain}:{found[2]}:{found[3]}"


def bus_id_address(bus: str) -> str:
    """NCCL's ``busId 5d000``: the address as one hex number, domain bus device function."""
    number = int(bus, 16)
    return f"{number >> 20 & 0xFFFF:04x}:{number >> 12 & 0xFF:02x}:{number >> 4 & 0x1F:02x}"


@dataclass(slots=True)
class Topology:
    job: JobContext
    node_of_rank: dict[int, str] = field(default_factory=dict)
    rank_of_gpu: dict[tuple[str, str], int] = field(default_factory=dict)
    gpu_number: dict[tuple[str, str], int] = field(default_factory=dict)
    node_of_pod: dict[str, str] = field(default_factory=dict)
    logged: set[str] = field(default_factory=set)
    launches: list[tuple[str, Stamp]] = field(default_factory=list)

    def learn_nccl(self, host: str, rank: int, bus: str, device: int | None) -> None:
        node = self.job_node(host) or host
        address = bus_id_address(bus)
        self.node_of_rank.setdefault(rank, node)
        self.rank_of_gpu.setdefault((node, address), rank)
        if device is not None:
            self.gpu_number.setdefault((node, address), device)

    def job_node(self, host: str | None) -> str | None:
        """The job's own spelling of a host's name; None for a host outside the job."""
        if not host:
            return None
        if host in self.job.nodes:
            return host
        short = short_name(host)
        return next((n for n in self.job.nodes if short_name(n) == short), None)

    def node(self, host: str | None) -> str | None:
        """The job's spelling of a host, the node of a pod that prints its own name as host, or the name as it is."""
        return self.job_node(host) or self.pod_node(host) or host

    def rank_node(self, rank: int | None) -> str | None:
        if rank is None:
            return None
        return self.node_of_rank.get(rank) or self.job.node_of_rank(rank)

    def pod_node(self, name: str | None) -> str | None:
        return self.node_of_pod.get(name) if name else None

    def rank_on(self, node: str | None, device: str | None) -> int | None:
        return self.rank_of_gpu.get((node, device)) if node and device else None

    def shown_device(self, node: str | None, device: str | None) -> str | None:
        """``GPU 3 (0000:5d:00)`` where NCCL told the number; otherwise the device as the line names it."""
        if device is None:
            return None
        number = self.gpu_number.get((node, device)) if node else None
        if number is not None:
            return f"GPU {number} ({device})"
        return f"GPU {device}" if device.isdigit() else device

    def numbers_by_order(self, node: str, addresses: list[str]) -> None:
        """Give GPUs their number by PCI order when a whole node's addresses were seen but NCCL told none."""
        for number, address in enumerate(sorted(addresses)):
            self.gpu_number.setdefault((node, address), number)
