"""The Celery worker as a real process on the tests' database."""

import time

import pytest

from attribution.celery import app


@pytest.mark.worker
@pytest.mark.both_databases
def test_a_worker_process_takes_the_periodic_sweep_and_finishes_it(celery_worker):
    start = celery_worker.stat().st_size
    app.send_task("investigations.sweep")
    deadline = time.monotonic() + 20
    while b"succeeded" not in celery_worker.read_bytes()[start:]:
        assert time.monotonic() < deadline, celery_worker.read_text()
        time.sleep(0.05)


def test_a_worker_knows_every_task_on_the_schedule(settings):
    app.loader.import_default_modules()
    assert {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()} <= set(app.tasks)


def test_messages_are_json_and_nothing_else(settings):
    assert app.conf.task_serializer == "json"
    assert app.conf.accept_content == ["json"]
    assert app.conf.task_acks_late
