"""DATABASE_URL and REDIS_URL, as an administrator writes them."""

import subprocess

import pytest
from django.core.exceptions import ImproperlyConfigured

from attribution import services
from tests.services import postgresql


def test_a_postgresql_address_gives_every_part():
    settings = services.database("postgresql://us%40er:p%2Fw@db.example.org:5433/console?sslmode=require")
    assert settings["ENGINE"] == "django.db.backends.postgresql"
    assert (settings["USER"], settings["PASSWORD"]) == ("us@er", "p/w")
    assert (settings["HOST"], settings["PORT"], settings["NAME"]) == ("db.example.org", "5433", "console")
    assert settings["OPTIONS"] == {"sslmode": "require"}


@pytest.mark.parametrize(
    "url",
    ["postgresql://app@/console?host=/run/postgresql", "postgres://app@%2Frun%2Fpostgresql/console"],
)
def test_a_postgresql_server_is_reached_through_its_unix_socket(url):
    settings = services.database(url)
    assert (settings["HOST"], settings["NAME"], settings["OPTIONS"]) == ("/run/postgresql", "console", {})


def test_an_sqlite_path_is_absolute_with_four_slashes():
    assert services.database("sqlite:////var/lib/console.sqlite3")["NAME"] == "/var/lib/console.sqlite3"
    assert services.database("sqlite:///console.sqlite3")["NAME"] == "console.sqlite3"


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("mysql://root:secret@host/x", "mysql"),
        ("console.sqlite3", "no scheme"),
        ("postgresql://app:secret@host:abc/x", "port"),
        ("postgresql://app:secret@host", "names no database"),
    ],
)
def test_a_wrong_database_address_says_what_is_wrong_and_keeps_the_password(url, words):
    with pytest.raises(ImproperlyConfigured, match=words) as caught:
        services.database(url)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "broker", "cache"),
    [
        ("redis://:pw@host:6379/1", "redis://:pw@host:6379/1", "redis://:pw@host:6379/1"),
        ("rediss://host:6380/0", "rediss://host:6380/0", "rediss://host:6380/0"),
        ("unix:///run/v.sock?db=3", "redis+socket:///run/v.sock?virtual_host=3", "unix:///run/v.sock?db=3"),
        ("redis+socket:///run/v.sock", "redis+socket:///run/v.sock?virtual_host=0", "unix:///run/v.sock?db=0"),
    ],
)
def test_one_redis_address_serves_celery_and_the_cache(url, broker, cache):
    assert (services.broker(url), services.cache(url)) == (broker, cache)


def test_a_wrong_redis_address_is_refused():
    with pytest.raises(ImproperlyConfigured, match="amqp"):
        services.broker("amqp://host")


def test_postgresql_runs_from_a_copy_when_its_own_place_is_closed_to_others(tmp_path):
    programs = postgresql.copied_programs(postgresql.installed_package(), tmp_path)
    for name in ("initdb", "postgres"):
        done = subprocess.run([programs / name, "--version"], capture_output=True, text=True, check=True)
        assert "PostgreSQL" in done.stdout
