"""Child processes that never outlive the process that started them."""

import ctypes
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


def spawn(
    command: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    output: IO[bytes] | int | None = None,
    folder: Path | None = None,
    user: tuple[int, int] | None = None,
) -> subprocess.Popen[bytes]:
    """Start `command` in a process group of its own, ended by the kernel (SIGTERM) should the caller be killed.

    `user` is (uid, gid) for a server that refuses to run as root. Call it from a thread that lives as long as the
    child should: the kernel watches the thread, not the process.
    """
    parent = os.getpid()

    def tie_to_parent() -> None:
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:  # it died before the line above
            os._exit(1)

    uid, gid = user or (None, None)
    return subprocess.Popen(
        command,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT if output is not None else None,
        cwd=folder,
        process_group=0,
        user=uid,
        group=gid,
        extra_groups=[] if user else None,
        preexec_fn=tie_to_parent,  # two system calls, no lock
    )


def stop(child: subprocess.Popen[bytes], *, patience: float = 10.0, first: int = signal.SIGTERM) -> int:
    """End `child` and its group: the signal `first`, then after `patience` seconds SIGKILL. Its exit code."""
    if child.poll() is None:
        child.send_signal(first)
        try:
            child.wait(patience)
        except subprocess.TimeoutExpired:
            pass
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    return child.wait()
