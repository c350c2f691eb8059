"""Small bundles for the engine's tests: the sample cluster's, copied and changed, and ones written line by line."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import yaml

SAMPLES = Path(__file__).parents[2] / "investigations" / "samples" / "bundles"
WORKED_EXAMPLE = SAMPLES / "job-88213"


def samples() -> list[Path]:
    return sorted(path for path in SAMPLES.iterdir() if path.is_dir())


def copied(bundle: Path, to: Path) -> Path:
    shutil.copytree(bundle, to)
    return to


def job_of(bundle: Path) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((bundle / "incident.yaml").read_text())
    return document


def written(root: Path, files: dict[str, str | bytes], **job: object) -> Path:
    """A bundle of these files; ``job`` fills incident.yaml."""
    for name, text in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
    if job:
        (root / "incident.yaml").write_text(yaml.safe_dump({"job": job}))
    return root


JOB: dict[str, object] = {
    "id": "7",
    "cluster": "test",
    "scheduler": "slurm",
    "state": "FAILED",
    "exit_code": "1:0",
    "started": "2026-03-01T10:00:00Z",
    "ended": "2026-03-01T11:00:00Z",
    "nodes": ["n1", "n2"],
    "ranks_per_node": 2,
}
XID_79 = "2026-03-01T10:30:00.000000+00:00 n1 kernel: NVRM: Xid (PCI:0000:5d:00): 79, pid=7, name=python, GPU has fallen off the bus.\n"
QUIET = "2026-03-01T10:10:00.000000+00:00 {n} systemd[1]: Started Session 1 of user root.\n"
