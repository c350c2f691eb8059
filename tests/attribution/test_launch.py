"""`make run`, from the first start to the last process: what a person at the terminal would see."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlencode

import psutil
import pytest

ROOT = Path(__file__).resolve().parents[2]
OURS = ("DJANGO_", "SECRET_KEY", "DATABASE_URL", "REDIS_URL", "FIRST_FAULT_")

pytestmark = pytest.mark.slow


class Console:
    """The launcher as a process, with what it has printed so far."""

    def __init__(self, data: Path, port: int, *options: str) -> None:
        env = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
        env["FIRST_FAULT_DATA"] = str(data)
        self.data = data
        self.log = data.with_suffix(f".{time.monotonic_ns()}.txt")
        self.began = time.monotonic()
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "attribution.launch", "--port", str(port), *options],
                cwd=ROOT,
                env=env,
                stdout=output,
                stderr=subprocess.STDOUT,
                process_group=0,
            )

    @property
    def said(self) -> str:
        return self.log.read_text()

    def wait_until_up(self, seconds: float = 120) -> str:
        """The address that it tells."""
        while not (found := re.search(r"running at +(http://\S+)", self.said)):
            assert self.process.poll() is None, self.said
            assert time.monotonic() - self.began < seconds, self.said
            time.sleep(0.05)
        self.took = time.monotonic() - self.began
        return found.group(1)

    def family(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def stop(self, number: int = signal.SIGINT) -> int:
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(30)


@pytest.fixture
def start(tmp_path):
    consoles = []

    def start(*options, data=tmp_path / "data", port=None):
        console = Console(data, port or _some_port(), *options)
        consoles.append(console)
        return console

    yield start
    for console in consoles:
        if console.process.poll() is None:
            console.stop()


def _some_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _sign_in(url: str, user: str, password: str) -> str:
    """The page after signing in, as a browser would get it."""
    jar = CookieJar()
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
    form = opener.open(f"{url}/sign-in/", timeout=10).read().decode()
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', form).group(1)
    body = urlencode({"username": user, "password": password, "csrfmiddlewaretoken": token}).encode()
    return opener.open(f"{url}/sign-in/", data=body, timeout=10).read().decode()


def test_the_first_start_shows_the_sample_cluster_and_the_second_is_quick_and_keeps_it(start):
    first = start()
    url = first.wait_until_up()
    password = re.search(r"with the password +(\S+)", first.said).group(1)
    assert (first.data / "password").read_text().strip() == password
    assert "88213" in _sign_in(url, "admin", password)
    family = first.family()
    assert {"valkey-server"} <= {process.name() for process in family}
    assert first.stop() == 0
    assert psutil.wait_procs(family, timeout=5)[1] == []
    assert "Nothing is left running" in first.said

    second = start()
    url = second.wait_until_up()
    assert second.took < 30  # 1 s on an idle machine
    assert "sample" not in second.said.lower()
    assert "88213" in _sign_in(url, "admin", password)


def test_a_taken_port_a_second_console_a_dead_server_and_a_killed_launcher_are_all_survived(start):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        console = start("--no-sample", port=port)
        url = console.wait_until_up()
    assert f"Port {port} is taken" in console.said
    assert not url.endswith(f":{port}")

    second = start("--no-sample")
    assert second.process.wait(20) == 1
    assert f"Already running on {console.data}, at {url}" in second.said

    server = next(process for process in console.family() if process.name() == "valkey-server")
    server.kill()
    _until(lambda: "Valkey ended with code -9; starting it again" in console.said)
    _until(lambda: _is_ready(url))
    assert server.pid not in {process.pid for process in console.family()}

    family = console.family()
    assert len(family) >= 6  # Valkey, the web server and its two workers, the Celery worker and its children
    assert console.stop(signal.SIGKILL) == -signal.SIGKILL
    assert psutil.wait_procs(family, timeout=15)[1] == []


def _until(condition, seconds=20.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.1)


def _is_ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/readyz", timeout=10):
            return True
    except HTTPError as wrong:
        wrong.close()
        return False
