"""What anybody meets before signing in: health, headers, and a closed door."""

import pytest
from django.db import OperationalError, connection
from django.test import Client

CSP = (
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; img-src 'self' data: blob:; "
    "object-src 'none'; script-src 'self'; style-src 'self'"
)


def test_a_living_server_says_so_without_a_database(client):
    answer = client.get("/livez")
    assert (answer.status_code, answer.content) == (200, b"ok\n")


@pytest.mark.django_db
@pytest.mark.both_databases
def test_a_server_is_ready_when_database_and_broker_answer(client, redis_server):
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()) == (200, {"database": True, "broker": True})


@pytest.mark.django_db
def test_a_server_without_its_database_is_not_ready(client, redis_server, monkeypatch):
    def gone():
        raise OperationalError("the server closed the connection")

    monkeypatch.setattr(connection, "cursor", gone)
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()) == (503, {"database": False, "broker": True})


@pytest.mark.django_db
def test_a_server_without_its_broker_is_not_ready(client, settings, tmp_path):
    settings.CACHES = {"default": {**settings.CACHES["default"], "LOCATION": f"unix://{tmp_path / 'nothing.sock'}"}}
    assert client.get("/readyz").json() == {"database": True, "broker": False}


@pytest.mark.parametrize("path", ["/", "/no/such/page"])
@pytest.mark.django_db
def test_a_stranger_is_sent_to_the_sign_in_page_or_told_nothing(client, path):
    answer = client.get(path)
    assert answer.status_code == 404 or answer["Location"].startswith("/sign-in/")


@pytest.mark.django_db
def test_every_page_forbids_inline_code_foreign_hosts_and_frames(client):
    answer = client.get("/sign-in/")
    assert sorted(answer["Content-Security-Policy"].split("; ")) == sorted(CSP.split("; "))
    assert answer["X-Frame-Options"] == "DENY"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Referrer-Policy"] == "same-origin"


@pytest.mark.django_db
def test_a_form_without_its_token_is_refused():
    answer = Client(enforce_csrf_checks=True).post("/sign-in/", {"username": "x", "password": "y"})
    assert answer.status_code == 403


@pytest.mark.parametrize("host", ["evil.example.com", "127.0.0.1.evil.example.com"])
def test_a_foreign_host_name_is_refused(client, settings, host):
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1"]
    assert client.get("/livez", headers={"host": host}).status_code == 400
