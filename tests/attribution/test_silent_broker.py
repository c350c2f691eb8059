"""A broker that takes connections and never answers: hung, or behind a firewall that swallows packets."""

import socket
import time
from pathlib import Path

import pytest
from celery import Celery
from kombu.exceptions import OperationalError

from attribution import settings


def test_a_broker_that_never_answers_holds_a_page_for_seconds_only(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(tmp_path / "broker.sock"))
        silent.listen(8)
        app = Celery(broker=f"redis+socket://{tmp_path}/broker.sock", set_as_current=False)
        app.conf.broker_transport_options = settings.CELERY_BROKER_TRANSPORT_OPTIONS
        begun = time.monotonic()
        with pytest.raises(OperationalError):
            app.send_task("anything", retry=False)
        assert time.monotonic() - begun < 15
