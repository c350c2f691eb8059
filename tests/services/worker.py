"""A real Celery worker process, working on the tests' own database and broker."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from django.db import connection

from attribution.launch.children import spawn, stop
from tests.services import environment


def database_url() -> str:
    """The address of the test database that this process uses, for another process."""
    settings = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{settings['NAME']}"
    password = f":{quote(settings['PASSWORD'], safe='')}" if settings["PASSWORD"] else ""
    port = f"&port={settings['PORT']}" if settings["PORT"] else ""
    return f"postgresql://{settings['USER']}{password}@/{settings['NAME']}?host={quote(settings['HOST'])}{port}"


def start_worker(name: str, *options: str) -> tuple[subprocess.Popen[bytes], Path]:
    """Start a worker and wait until it takes messages; its process and its log."""
    log = environment.FOLDER / f"{name}{environment.PROCESS}.log"
    env = {**os.environ, "DATABASE_URL": database_url(), "DJANGO_SETTINGS_MODULE": "attribution.settings"}
    command = [sys.executable, "-m", "celery", "-A", "attribution.celery", "worker", "-n", f"{name}@%h", "-c", "2"]
    with log.open("wb") as output:
        process = spawn(
            [*command, "-l", "INFO", "--without-gossip", "--without-mingle", *options], env=env, output=output
        )
    deadline = time.monotonic() + 60
    while b" ready." not in log.read_bytes():
        if process.poll() is not None or time.monotonic() > deadline:
            stop(process)
            raise RuntimeError(f"the Celery worker did not start:\n{log.read_text(errors='replace')}")
        time.sleep(0.05)
    return process, log


@pytest.fixture(scope="module")  # no longer: a module that starts workers of its own must have the queue to itself
def _worker(django_db_setup: None, redis_server: None) -> Iterator[Path]:
    process, log = start_worker("worker")
    yield log
    stop(process, first=signal.SIGQUIT)


@pytest.fixture
def celery_worker(_worker: Path, transactional_db: None) -> Iterator[Path]:
    """A worker process with two children that sees what the test commits. Gives its log, which a failed test shows."""
    start = _worker.stat().st_size
    yield _worker
    with _worker.open("rb") as log:
        log.seek(start)
        print("--- log of the Celery worker ---", log.read().decode(errors="replace"), sep="\n")
