"""Verdicts as the engine writes them, made by hand: one for each outcome, the worked example first."""

from typing import Any

NODES = ["gpu-node-05", "gpu-node-06", "gpu-node-07", "gpu-node-08"]
SYSLOG = "syslog/gpu-node-07.log"
APPLOG = "applog/slurm-88213.out"


def evidence(number: int, role: str, title: str, layer: str, time: str | None, **more: Any) -> dict[str, Any]:
    """One piece of evidence; `time` is the clock time on 2026-03-11, UTC."""
    stamp = f"2026-03-11T{time}Z" if time else None
    return {
        "id": f"E{number}",
        "role": role,
        "signature": "signature",
        "rule": "rule",
        "title": title,
        "layer": layer,
        "source": "syslog",
        "stream": SYSLOG,
        "line": 1,
        "offset": 0,
        "time": stamp,
        "time_error": 0.001 if time else None,
        "time_logged": stamp,
        "node": None,
        "rank": None,
        "device": None,
        "count": 1,
        "first": stamp,
        "last": stamp,
        "text": title,
        "fields": {},
    } | more


def link(start: int, end: int, rule: str, relation: str, gap: float | None, order: str = "certain") -> dict[str, Any]:
    return {
        "from": f"E{start}",
        "to": f"E{end}",
        "rule": rule,
        "relation": relation,
        "gap_seconds": gap,
        "order": order,
    }


def source(name: str, status: str = "complete", **more: Any) -> dict[str, Any]:
    return {
        "source": name,
        "status": status,
        "nodes_missing": [],
        "detail": "",
        "could_have_shown": [],
        "could_change_answer": False,
    } | more


def verdict(**more: Any) -> dict[str, Any]:
    """A verdict with every key there, empty where nothing was said."""
    return {
        "schema": "first-fault/verdict/1",
        "engine_version": "0.1.0",
        "pack": {"name": "core", "version": "2026.12.0", "sha256": "ab" * 32},
        "bundle_sha256": "cd" * 32,
        "error": None,
        "job": {
            "cluster": "cluster-a",
            "id": "88213",
            "user": "user1",
            "nodes": NODES,
            "state": "FAILED",
            "exit_code": "134:0",
            "started": "2026-03-11T08:41:02Z",
            "ended": "2026-03-11T10:12:47Z",
        },
        "outcome": "insufficient_evidence",
        "terminal_state": "failed",
        "domain": "unknown",
        "sub_domain": "unknown",
        "cause": None,
        "title": "Only symptoms seen",
        "summary": "Only symptoms were seen.",
        "action": "Collect more.",
        "reasons": [],
        "provisional": False,
        "culprits": [],
        "first_fault_at": None,
        "first_fault_error": None,
        "lead_seconds": None,
        "evidence": [],
        "chain": [],
        "alternatives": [],
        "rejected": [],
        "coverage": [source(name) for name in ("scheduler", "applog", "syslog", "fabric", "metrics")],
        "settle": [],
        "clocks": [],
        "signals_total": 0,
        "problems": [],
    } | more


def worked_example() -> dict[str, Any]:
    """A link fault on one GPU ends a job of 32 ranks; one clock runs slow, one node has no syslog."""
    gpu3 = {"node": "gpu-node-07", "device": "GPU 3 (0000:5d:00)"}
    first = "NVRM: Xid (PCI:0000:5d:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 08 (0x004505c6 0x00000000)"
    closed = "misc/socket.cc:80 NCCL WARN socketProgress: Connection closed by remote peer gpu-node-07<41005>"
    return verdict(
        outcome="attributed",
        domain="infrastructure",
        sub_domain="gpu_fabric",
        cause="gpu_link_signal_integrity",
        title="NVLink signal-integrity fault (XID 149)",
        summary="NVLink signal-integrity fault (XID 149) on gpu-node-07, GPU 3 (0000:5d:00) at 10:02:11, 3.2 s before "
        "the first NCCL error (rank 5).",
        action="Drain gpu-node-07 and reset GPU 3. If link 08 fails again, swap the GPU tray.",
        reasons=[
            {
                "text": "Only GPU 3 gives a signal reason in XID 149; the far end and six neighbours follow it.",
                "evidence": ["E1", "E2", "E3", "E5"],
            },
            {"text": "Every NCCL error comes later: 3.2 s, and the order is certain.", "evidence": ["E6"]},
            {
                "text": "The time-outs at 10:12 are 24 ranks waiting for collective 91822, not a second fault.",
                "evidence": ["E8"],
            },
        ],
        culprits=[
            gpu3 | {"kind": "gpu", "serial": "1653924017734", "link_peer": "GPU 5 (0000:c3:00) link 11", "ranks": [19]}
        ],
        first_fault_at="2026-03-11T10:02:11.418Z",
        first_fault_error=0.001,
        lead_seconds=3.2,
        evidence=[
            evidence(
                1,
                "cause",
                "XID 149 on GPU 3, link 08",
                "gpu",
                "10:02:11.418000",
                line=24,
                offset=2800,
                text=first,
                **gpu3,
            ),
            evidence(
                2,
                "symptom",
                "XID 149, far end of the link",
                "gpu",
                "10:02:11.418900",
                line=25,
                node="gpu-node-07",
                device="GPU 5 (0000:c3:00)",
            ),
            evidence(
                3,
                "symptom",
                "XID 145 on the other GPUs",
                "gpu",
                "10:02:11.419000",
                line=26,
                node="gpu-node-07",
                device="GPU 0 (0000:1b:00)",
                count=6,
                last="2026-03-11T10:02:11.421100Z",
            ),
            evidence(
                4,
                "symptom",
                "XID 45: channels torn down",
                "gpu",
                "10:02:11.702000",
                line=32,
                node="gpu-node-07",
                count=16,
                last="2026-03-11T10:02:11.717000Z",
            ),
            evidence(5, "symptom", "XID 154: GPU reset required", "gpu", "10:02:11.822000", line=48, **gpu3),
            evidence(
                6,
                "symptom",
                "NCCL: connection closed by remote peer",
                "communication",
                "10:02:14.618000",
                source="applog",
                stream=APPLOG,
                line=89,
                node="gpu-node-05",
                rank=5,
                count=16,
                time_error=0.05,
                last="2026-03-11T10:02:15.700000Z",
                text=closed,
            ),
            evidence(
                7,
                "symptom",
                "CUDA: uncorrectable NVLink error",
                "application",
                "10:02:14.702000",
                source="applog",
                stream=APPLOG,
                line=73,
                rank=19,
                time_error=0.5,
                **gpu3,
            ),
            evidence(
                8,
                "symptom",
                "Watchdog time-out of a collective",
                "communication",
                "10:12:11.818000",
                source="applog",
                stream=APPLOG,
                line=121,
                node="gpu-node-08",
                rank=24,
                count=24,
                time_error=0.35,
                time_logged="2026-03-11T10:12:07.918000Z",
                last="2026-03-11T10:12:12.221000Z",
            ),
            evidence(
                9,
                "symptom",
                "Slurm: job FAILED, exit 134:0",
                "scheduler",
                "10:12:47",
                source="scheduler",
                stream="scheduler/sacct.txt",
                line=2,
                time_error=1.0,
            ),
            evidence(
                10,
                "context",
                "XID 31: MMU fault of another process",
                "gpu",
                "08:56:11.418000",
                stream="syslog/gpu-node-06.log",
                line=3,
                node="gpu-node-06",
                device="GPU 1 (0000:43:00)",
            ),
        ],
        chain=[
            link(1, 2, "nvlink_far_end", "link_peer", 0.0009),
            link(1, 3, "nvlink_domain_loss", "same_node", 0.001),
            link(1, 4, "xid45_cleanup", "same_node", 0.284),
            link(1, 5, "xid154_recovery", "same_device", 0.404),
            link(1, 6, "nccl_peer_lost", "same_job", 3.2),
            link(1, 7, "cuda_nvlink", "same_device", 3.284, "unknown"),
            link(6, 8, "nccl_watchdog", "same_job", 597.2),
            link(8, 9, "slurm_step_end", "same_job", 35.2),
        ],
        rejected=[
            {
                "cause": "network_transport_retry",
                "title": "Network fault",
                "why": "All NCCL errors name gpu-node-07 as their peer, and begin 3.2 s after E1.",
                "rule": "nccl_peer_lost",
                "evidence": ["E6"],
            },
            {
                "cause": "illegal_memory_access",
                "title": "Illegal memory access (XID 31)",
                "why": "Another process, 66 minutes earlier; training went on.",
                "rule": "xid_31",
                "evidence": ["E10"],
            },
        ],
        coverage=[
            source("scheduler"),
            source("applog"),
            source(
                "syslog",
                "partial",
                nodes_missing=["gpu-node-08"],
                detail="No syslog of gpu-node-08.",
                could_have_shown=["gpu_fell_off_bus", "host_reboot"],
            ),
            source("fabric", "not_collected", could_have_shown=["gpu_switch_fault", "network_link_flap"]),
            source(
                "metrics", "failed", detail="Prometheus did not answer within 30 s.", could_have_shown=["gpu_thermal"]
            ),
        ],
        settle=[
            {
                "text": "Read the Fabric Manager log of gpu-node-07",
                "source": "fabric",
                "node": "gpu-node-07",
                "start": "2026-03-11T10:00:00Z",
                "end": "2026-03-11T10:04:00Z",
            }
        ],
        clocks=[
            {"node": "gpu-node-08", "offset_seconds": -3.9, "error_seconds": 0.35, "basis": "4 shared events"},
            {"node": "gpu-node-07", "offset_seconds": 0.0, "error_seconds": 0.02, "basis": "NTP"},
        ],
        signals_total=94,
    )


def ambiguous() -> dict[str, Any]:
    """Two causes fit equally; no one is picked."""
    return verdict(
        outcome="ambiguous",
        title="GPU hang or stuck data loader",
        summary="Rank 12 on gpu-node-06 went quiet at 09:58:02; a GPU hang or a stuck data loader would explain it.",
        action="Read the stack of rank 12 before the next restart.",
        reasons=[{"text": "All other ranks wait for rank 12.", "evidence": ["E1"]}],
        evidence=[
            evidence(
                1,
                "symptom",
                "Watchdog time-out of a collective",
                "communication",
                "10:08:02",
                source="applog",
                stream=APPLOG,
                line=121,
                node="gpu-node-05",
                rank=0,
                count=31,
            ),
            evidence(
                2,
                "symptom",
                "No progress after step 5200",
                "application",
                "09:58:02",
                source="applog",
                stream=APPLOG,
                line=60,
                node="gpu-node-06",
                rank=12,
                time_error=12.0,
            ),
        ],
        alternatives=[
            {
                "cause": "gpu_hang",
                "sub_domain": "gpu",
                "title": "GPU hang",
                "culprits": [{"node": "gpu-node-06", "device": "GPU 4"}],
                "evidence": ["E1", "E2"],
                "why": "The rank stops inside a kernel; no driver line either way, because syslog was not collected.",
            },
            {
                "cause": "data_loader_failure",
                "sub_domain": "application",
                "title": "Stuck data loader",
                "culprits": [{"node": "gpu-node-06", "device": None}],
                "evidence": ["E2"],
                "why": "The last line of rank 12 is a data loader's warning.",
            },
        ],
        coverage=[
            source("scheduler"),
            source("applog"),
            source("syslog", "not_collected", could_have_shown=["gpu_hang", "host_hang"], could_change_answer=True),
            source("fabric", "not_configured"),
            source("metrics", "not_configured"),
        ],
        settle=[
            {
                "text": "Collect the kernel log of gpu-node-06",
                "source": "syslog",
                "node": "gpu-node-06",
                "start": None,
                "end": None,
            }
        ],
        signals_total=33,
    )


def insufficient() -> dict[str, Any]:
    """Only time-outs were seen, and the syslog that would decide is missing."""
    return verdict(
        title="All ranks timed out; no syslog",
        summary="All 32 ranks timed out at 10:12:11, and the syslog that would say why is missing.",
        action="Collect the syslog of gpu-node-07 from 09:55 to 10:15.",
        evidence=[
            evidence(
                1,
                "symptom",
                "Watchdog time-out of a collective",
                "communication",
                "10:12:11",
                source="applog",
                stream=APPLOG,
                line=121,
                count=32,
            )
        ],
        coverage=[
            source("scheduler"),
            source("applog", "partial", detail="Cut at 20 MB."),
            source(
                "syslog",
                "failed",
                detail="The log server refused the user.",
                could_have_shown=["gpu_fell_off_bus"],
                could_change_answer=True,
            ),
            source("fabric", "empty"),
            source("metrics", "not_configured"),
        ],
        settle=[
            {
                "text": "Collect the syslog of gpu-node-07",
                "source": "syslog",
                "node": "gpu-node-07",
                "start": "2026-03-11T09:55:00Z",
                "end": "2026-03-11T10:15:00Z",
            }
        ],
        problems=[
            {
                "stream": "applog/rank7.out",
                "what": "One line of 52 MB was cut.",
                "where": "line 8813",
                "remedy": "Nothing to do; what follows was read.",
            }
        ],
        signals_total=32,
    )


def no_failure() -> dict[str, Any]:
    """Cancelled by its own user."""
    return verdict(
        outcome="no_failure",
        domain="scheduling",
        sub_domain="scheduler",
        cause="cancelled_by_user",
        terminal_state="cancelled",
        title="Cancelled by its own user",
        summary="user1 cancelled the job at 10:12:47 while training went on.",
        action="Nothing to do.",
        evidence=[
            evidence(
                1,
                "cause",
                "Cancelled by its own user",
                "scheduler",
                "10:12:47",
                source="scheduler",
                stream="scheduler/sacct.txt",
                line=2,
                time_error=1.0,
            )
        ],
        signals_total=1,
    )


def crowded(nodes: int = 1024, signals: int = 5000) -> dict[str, Any]:
    """Far more evidence than a window can show: `signals` time-outs over `nodes` nodes after one fault."""
    names = [f"node{n:04d}" for n in range(nodes)]
    base = worked_example()
    items = [evidence(1, "cause", "XID 79", "gpu", "10:02:11.000", node=names[nodes // 2], device="GPU 3 (0000:5d:00)")]
    items += [
        evidence(
            n + 2,
            "symptom",
            "Watchdog time-out",
            "communication",
            f"10:{12 + n // 3000:02d}:{n // 50 % 60:02d}.{n % 50 * 20:03d}",
            node=names[n % nodes],
        )
        for n in range(signals)
    ]
    chain = [link(1, n + 2, "nccl_watchdog", "same_job", 600.0) for n in range(signals)]
    job = base["job"] | {"nodes": names}
    return base | {
        "job": job,
        "evidence": items,
        "chain": chain,
        "culprits": [
            {
                "node": names[nodes // 2],
                "device": "GPU 3 (0000:5d:00)",
                "kind": "gpu",
                "serial": None,
                "link_peer": None,
                "ranks": [],
            }
        ],
        "clocks": [],
        "coverage": [source(name) for name in ("scheduler", "applog", "syslog", "fabric", "metrics")],
        "rejected": [],
        "reasons": [],
    }
