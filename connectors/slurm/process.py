"""Running a program whose answer is bounded in time and size, and that leaves nothing running behind."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from connectors.errors import mapped

_TICK = 0.2  # seconds between two looks at whether the run was cancelled
_PIECE = 64 * 1024
_MOST_STDERR = 64 * 1024


@dataclass(frozen=True, slots=True)
class Answer:
    """What a program printed. `status` is its exit code, negative for a signal, None when it was ended by us:
    `late` (its time was over) or `cut` (it printed more than it may)."""

    out: bytes
    err: str
    status: int | None
    late: bool = False
    cut: bool = False


def run(
    argv: Sequence[str],
    environment: Mapping[str, str],
    seconds: float,
    most_bytes: int,
    check: Callable[[], None],
) -> Answer:
    """Run without a shell, in a process group of its own that is killed as a whole when time or size runs out, or
    when `check` raises. Raises NotFound, AccessDenied and their kin when it cannot be started."""
    with mapped(argv[0]):
        process = subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environment),
            start_new_session=True,
            close_fds=True,
        )
    try:
        return _read(process, time.monotonic() + seconds, most_bytes, check)
    finally:
        _end(process)


def _read(process: subprocess.Popen[bytes], deadline: float, most_bytes: int, check: Callable[[], None]) -> Answer:
    assert process.stdout is not None
    assert process.stderr is not None
    out, err = bytearray(), bytearray()
    with selectors.DefaultSelector() as waiting:
        waiting.register(process.stdout, selectors.EVENT_READ, (out, most_bytes))
        waiting.register(process.stderr, selectors.EVENT_READ, (err, _MOST_STDERR))
        while waiting.get_map():
            check()
            left = deadline - time.monotonic()
            if left <= 0:
                return Answer(bytes(out), _text(err), None, late=True)
            for key, _ in waiting.select(min(_TICK, left)):
                piece = os.read(key.fd, _PIECE)
                kept, most = key.data
                if not piece:
                    waiting.unregister(key.fileobj)
                elif len(kept) < most:
                    kept += piece[: most - len(kept)]
                elif kept is out:
                    return Answer(bytes(out), _text(err), None, cut=True)
    while process.poll() is None:  # its output is closed, but it still runs
        check()
        if time.monotonic() >= deadline:
            return Answer(bytes(out), _text(err), None, late=True)
        time.sleep(0.01)
    return Answer(bytes(out), _text(err), process.returncode)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill what is left of the group: children too, which would else keep running or hold the pipes."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
    process.wait()


def _text(raw: bytearray) -> str:
    return raw.decode("utf-8", "replace").strip()
