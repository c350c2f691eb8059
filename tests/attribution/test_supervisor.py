"""What is started is kept running, and nothing of it is left behind."""

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from attribution.launch.children import spawn, stop
from attribution.launch.supervisor import GaveUp, Interrupted, Service, Supervisor


def _until(condition, seconds=10.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


@pytest.fixture
def supervisor():
    said = []
    supervisor = Supervisor(said.append)
    supervisor.said = said
    yield supervisor
    supervisor.in_haste = True
    supervisor.end()


def _service(tmp_path, *command):
    return Service("The sleeper", tmp_path / "sleeper.log", lambda output: spawn(command, output=output))


def test_a_process_that_ends_is_started_again_after_a_pause(supervisor, tmp_path):
    service = supervisor.add(_service(tmp_path, "sleep", "60"))
    first = service.child.pid
    os.kill(first, signal.SIGKILL)
    service.child.wait()
    supervisor.look()
    assert service.child is None
    assert "The sleeper ended with code -9; starting it again in 1 s" in supervisor.said[0]
    _until(lambda: supervisor.look() or service.child is not None)
    assert service.child.pid != first


def test_a_process_that_keeps_ending_makes_the_supervisor_give_up_and_show_the_log(supervisor, tmp_path):
    service = supervisor.add(_service(tmp_path, "sh", "-c", "echo the port is on fire; exit 3"))

    def fall_again_and_again():
        for _ in range(20):
            service.again_at = 0.0
            supervisor.look()
            if service.child:
                service.child.wait()

    with pytest.raises(GaveUp, match="5 times in a row, last with code 3") as caught:
        fall_again_and_again()
    assert "the port is on fire" in str(caught.value)


def test_grandchildren_end_with_their_service(supervisor, tmp_path):
    service = supervisor.add(_service(tmp_path, "sh", "-c", "sleep 61 & sleep 61 & wait"))
    _until(lambda: len(psutil.Process(service.child.pid).children()) == 2)
    family = [psutil.Process(service.child.pid), *psutil.Process(service.child.pid).children()]
    supervisor.end()
    assert psutil.wait_procs(family, timeout=5)[1] == []


def test_a_process_that_ignores_the_polite_signal_is_killed(tmp_path):
    ready = tmp_path / "ready"
    child = spawn(["sh", "-c", f"trap '' TERM; touch {ready}; while :; do sleep 0.1; done"])
    _until(ready.exists)
    assert stop(child, patience=0.3) == -signal.SIGKILL


def test_children_do_not_outlive_a_supervisor_that_is_killed(tmp_path):
    script = (
        "from attribution.launch.children import spawn; c = spawn(['sleep', '62']); print(c.pid, flush=True); c.wait()"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    child = psutil.Process(int(parent.stdout.readline()))
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert psutil.wait_procs([child], timeout=5)[1] == []


def test_stopping_during_a_preparation_ends_it_at_once(supervisor, tmp_path):
    supervisor.stopping.set()
    with pytest.raises(Interrupted):
        supervisor.run_once(["sleep", "63"], dict(os.environ), tmp_path / "once.log")


def test_a_failed_preparation_shows_the_end_of_its_output(supervisor, tmp_path):
    with pytest.raises(RuntimeError, match="no such table: lamp"):
        supervisor.run_once(["sh", "-c", "echo no such table: lamp >&2; exit 1"], dict(os.environ), tmp_path / "o.log")


def test_the_log_of_the_start_before_is_kept(supervisor, tmp_path):
    (tmp_path / "sleeper.log").write_text("yesterday\n")
    supervisor.add(_service(tmp_path, "sleep", "60"))
    assert (tmp_path / "sleeper.previous.log").read_text() == "yesterday\n"
