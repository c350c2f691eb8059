"""`make run`, `first-fault run`: the whole console on this machine, until Ctrl-C."""

import argparse
import atexit
import os
import shutil
import signal
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from attribution.launch import valkey
from attribution.launch.children import spawn
from attribution.launch.folder import DataFolder, DataFolderError
from attribution.launch.ports import LOCAL, first_free, port_number
from attribution.launch.supervisor import GaveUp, Interrupted, Service, Supervisor

ROOT = Path(__file__).resolve().parents[2]
IS_CHECKOUT = (ROOT / "manage.py").is_file()


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="first-fault run", description="Run the console on this machine.")
    parser.add_argument("--port", default="8000", help="port on 127.0.0.1; the next free one when it is taken")
    parser.add_argument("--no-sample", action="store_true", help="do not load the sample cluster on the first start")
    options = parser.parse_args(arguments)

    supervisor = Supervisor(say)
    _heed_signals(supervisor)
    try:
        _run(supervisor, port_number(options.port), sample=not options.no_sample)
    except Interrupted:
        pass
    except (DataFolderError, GaveUp, RuntimeError) as wrong:
        say(str(wrong))
        return 1
    finally:
        if supervisor.services:
            say("Stopping ...")
        supervisor.end()
        if supervisor.services:
            say("Stopped. Nothing is left running; the data is kept.")
    return 0


def say(text: str) -> None:
    print(text, flush=True)  # noqa: T201 - this program speaks on the terminal


def _heed_signals(supervisor: Supervisor) -> None:
    """Ctrl-C, TERM and a closed terminal end everything in order; a second one ends it at once."""

    def heed(number: int, frame: FrameType | None) -> None:
        supervisor.in_haste = supervisor.stopping.is_set()
        supervisor.stopping.set()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, heed)


def _run(supervisor: Supervisor, wanted_port: int, *, sample: bool) -> None:
    began = time.monotonic()
    folder = DataFolder(
        Path(os.environ.get("FIRST_FAULT_DATA") or (ROOT if IS_CHECKOUT else Path.cwd()) / "data").absolute()
    )
    folder.make()
    port = first_free(wanted_port)
    url = f"http://{LOCAL}:{port}"
    folder.take(url)
    if port != wanted_port:
        say(f"Port {wanted_port} is taken; using {port}.")
    env = _environment(folder, url)

    if "REDIS_URL" not in os.environ:
        _start_valkey(supervisor, folder, env)
    say("Preparing the database and the pages ..." if sample and not folder.sample_loaded else "Starting ...")
    _ = folder.password  # made here, so that the first user gets it
    supervisor.run_once([sys.executable, "-m", "attribution.launch.prepare"], env, folder.log / "prepare.log")
    worker = _start_worker(supervisor, folder, env)
    web = _start_web(supervisor, folder, env, port)
    _wait(supervisor, web, lambda: _answers(f"{url}/livez"))
    _wait(supervisor, worker, lambda: b" ready." in worker.log.read_bytes())

    if sample and not folder.sample_loaded:
        say("Loading the sample cluster and finding what came first in its failed jobs ...")
        command = [sys.executable, "-m", "attribution", "sample_cluster", "--wait", "60"]
        supervisor.run_once(command, env, folder.log / "sample.log")
        folder.mark_sample_loaded()

    say(
        f"\n  First Fault is running at  {url}   ({time.monotonic() - began:.0f} s)\n"
        f"  Sign in as                 admin\n"
        f"  with the password          {folder.password}\n"
        f"  (as first made, kept in    {folder.password_file})\n\n"
        f"  Logs: {folder.log}   Ctrl-C stops everything.\n"
    )
    supervisor.watch()


def _environment(folder: DataFolder, url: str) -> dict[str, str]:
    """What the worker and the web server are started with; what the user has set stands."""
    env = dict(os.environ)
    env["FIRST_FAULT_DATA"] = str(folder.path)
    env["DJANGO_SETTINGS_MODULE"] = "attribution.settings"
    env.setdefault("FIRST_FAULT_URL", url)
    if not env.get("SECRET_KEY_FILE"):
        env.setdefault("SECRET_KEY", folder.secret_key)
    if IS_CHECKOUT:
        env["PYTHONPATH"] = os.pathsep.join(part for part in (str(ROOT), env.get("PYTHONPATH")) if part)
    return env


def _start_valkey(supervisor: Supervisor, folder: DataFolder, env: dict[str, str]) -> None:
    socket = valkey.socket_in(folder.run)
    if socket.parent != folder.run:
        atexit.register(shutil.rmtree, socket.parent, ignore_errors=True)
    env["REDIS_URL"] = f"unix://{socket}?db=0"
    service = Service("Valkey", folder.log / "valkey.log", lambda output: valkey.start(socket, output=output))
    supervisor.add(service)
    assert service.child is not None
    valkey.wait_until_ready(socket, service.child)


def _start_worker(supervisor: Supervisor, folder: DataFolder, env: dict[str, str]) -> Service:
    command = [sys.executable, "-m", "celery", "-A", "attribution.celery", "worker", "-l", "INFO", "-c", "2"]
    # On one machine the schedule may live in the only worker; elsewhere `celery beat` is a process of its own.
    command += ["-B", "--schedule", str(folder.run / "schedule"), "--without-gossip", "--without-mingle"]
    start = lambda output: spawn(command, env=env, output=output)  # noqa: E731 - one line says it
    return supervisor.add(Service("The Celery worker", folder.log / "worker.log", start))


def _start_web(supervisor: Supervisor, folder: DataFolder, env: dict[str, str], port: int) -> Service:
    command = [sys.executable, "-m", "gunicorn", "attribution.wsgi", "--bind", f"{LOCAL}:{port}", "--no-control-socket"]
    command += ["--worker-class", "gthread", "--workers", "2", "--threads", "4", "--timeout", "120"]
    command += ["--graceful-timeout", "5", "--access-logfile", "-"]
    start = lambda output: spawn(command, env=env, output=output)  # noqa: E731 - one line says it
    return supervisor.add(Service("The web server", folder.log / "web.log", start))


def _wait(supervisor: Supervisor, service: Service, is_up: Callable[[], bool]) -> None:
    """Return when `is_up`; RuntimeError with the end of the service's log after a minute."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if supervisor.stopping.wait(0.1):
            raise Interrupted
        supervisor.look()
        if is_up():
            return
    raise RuntimeError(f"{service.name} was not ready within 60 s. The end of {service.log}:\n{service.last_lines()}")


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2):  # noqa: S310 - our own http address
            return True
    except (urllib.error.URLError, OSError):
        return False


if __name__ == "__main__":
    sys.exit(main())
