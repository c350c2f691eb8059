"""Keeps a few processes running: restarts one that ends, ends all together, and gives up aloud."""

import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from attribution.launch.children import spawn, stop

LOOK_EVERY = 0.25  # seconds
STEADY_AFTER = 60.0  # seconds of life after which earlier falls are forgotten
MOST_FALLS = 5
LONGEST_WAIT = 30.0  # seconds between restarts


class GaveUp(Exception):
    """A process kept ending; the message names it and shows the end of its log."""


class Interrupted(Exception):
    """The user asked to stop while something was still being prepared."""


@dataclass(slots=True)
class Service:
    """One process to keep running. `start` gets the open log file and returns the new child."""

    name: str
    log: Path
    start: Callable[[IO[bytes]], subprocess.Popen[bytes]]
    patience: float = 10.0  # seconds to end by itself before it is killed
    child: subprocess.Popen[bytes] | None = None
    falls: int = 0
    started: float = 0.0
    again_at: float = field(default=0.0)

    def up(self) -> None:
        with self.log.open("ab") as output:
            self.child = self.start(output)
        self.started = time.monotonic()

    def last_lines(self, count: int = 15) -> str:
        try:
            lines = self.log.read_bytes()[-20_000:].decode(errors="replace").splitlines()
        except OSError:
            return ""
        return "\n".join(f"    {line}" for line in lines[-count:])


class Supervisor:
    """Services in the order in which they were added; they end in the reverse order."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self.in_haste = False
        self.services: list[Service] = []
        self.stopping = threading.Event()
        self._say = say

    def add(self, service: Service) -> Service:
        """Start `service` and keep it from now on."""
        _turn_over(service.log)
        service.up()
        self.services.append(service)
        return service

    def run_once(self, command: Sequence[str], env: Mapping[str, str], log: Path) -> str:
        """Run `command` to its end and give its output.

        RuntimeError shows the end of the output when it fails; Interrupted when `stopping` was set meanwhile.
        """
        with log.open("w+b") as output:
            child = spawn(command, env=env, output=output)
            while child.poll() is None:
                if self.stopping.wait(0.05):
                    stop(child, patience=2.0)
                    raise Interrupted
            output.seek(0)
            text = output.read().decode(errors="replace")
        if child.returncode != 0:
            tail = "\n".join(f"    {line}" for line in text.splitlines()[-15:])
            raise RuntimeError(f"`{' '.join(command[1:])}` failed (log: {log}):\n{tail}")
        return text

    def watch(self) -> None:
        """Return when `stopping` is set; GaveUp when a service cannot be kept running."""
        while not self.stopping.wait(LOOK_EVERY):
            self.look()

    def look(self) -> None:
        """One look at every service: restart what ended, with a growing pause between its falls."""
        now = time.monotonic()
        for service in self.services:
            if service.child is None:
                if now >= service.again_at:
                    service.up()
            elif (code := service.child.poll()) is not None:
                self._fell(service, code, now)

    def _fell(self, service: Service, code: int, now: float) -> None:
        assert service.child is not None
        stop(service.child)  # what is left of its process group
        service.child = None
        service.falls = 1 if now - service.started > STEADY_AFTER else service.falls + 1
        if service.falls >= MOST_FALLS:
            raise GaveUp(
                f"{service.name} ended {service.falls} times in a row, last with code {code}. "
                f"The end of {service.log}:\n{service.last_lines()}"
            )
        pause = min(2.0 ** (service.falls - 1), LONGEST_WAIT)
        service.again_at = now + pause
        self._say(f"{service.name} ended with code {code}; starting it again in {pause:g} s (log: {service.log})")

    def end(self) -> None:
        """End every service, the last one first."""
        for service in reversed(self.services):
            if service.child is not None:
                stop(service.child, patience=0.0 if self.in_haste else service.patience)
                service.child = None


def _turn_over(log: Path) -> None:
    """Keep the log of the last start beside the new one."""
    if log.exists():
        log.replace(log.with_suffix(".previous.log"))
