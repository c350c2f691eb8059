"""One verdict in a process of its own, for the bench: seconds, peak memory and what was hit, as one JSON line."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path


def peak_memory() -> int:
    """VmHWM of this process, in bytes."""
    status = Path("/proc/self/status").read_text()
    line = next(row for row in status.splitlines() if row.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def main(path: str) -> None:
    began = time.perf_counter()
    from rules import attribute_path, core_pack

    verdict = attribute_path(Path(path), core_pack())
    took = time.perf_counter() - began
    places = sorted({c["node"] for c in verdict["culprits"]})
    said = {
        "seconds": took,
        "peak": peak_memory(),
        "outcome": verdict["outcome"],
        "cause": verdict["cause"],
        "nodes": places,
    }
    sys.stdout.write(json.dumps(said) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
