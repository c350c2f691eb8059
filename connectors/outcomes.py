"""Which ends of a job are failures that somebody may ask about, in Slurm's words (other schedulers' are close)."""

from __future__ import annotations

FAILED_ENDS = (
    "BOOT_FAIL",
    "CANCELLED",
    "DEADLINE",
    "FAILED",
    "LAUNCH_FAILED",
    "NODE_FAIL",
    "OUT_OF_MEMORY",
    "PREEMPTED",
    "TIMEOUT",
)
"""CANCELLED and PREEMPTED too: a job that hangs is often ended by its owner. Source: sacct(1), JOB STATE CODES."""


def is_failed_end(state: str | None) -> bool:
    """Whether a state, such as "CANCELLED by 1001", is a failed end. Not known is not failed."""
    return bool(state) and str(state).split(" ")[0].rstrip("+").upper() in FAILED_ENDS
