"""Settings, read in a process of its own with the environment that an administrator would give."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OURS = ("DJANGO_", "SECRET_KEY", "DATABASE_URL", "REDIS_URL", "FIRST_FAULT_")
SHOW = """
import json, django
from django.conf import settings
names = ["DEBUG", "ALLOWED_HOSTS", "CSRF_TRUSTED_ORIGINS", "SESSION_COOKIE_SECURE", "SECURE_SSL_REDIRECT", "SECRET_KEY"]
values = {name: getattr(settings, name) for name in names}
values["ENGINE"] = settings.DATABASES["default"]["ENGINE"]
print(json.dumps(values))
"""


def _run(*command, **env):
    bare = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    env = {**bare, "DJANGO_SETTINGS_MODULE": "attribution.settings", **env}
    return subprocess.run([sys.executable, *command], cwd=ROOT, env=env, capture_output=True, text=True, check=False)


def _settings(**env):
    done = _run("-c", SHOW, **env)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_nothing_set_gives_sqlite_and_a_production_server_behind_tls():
    settings = _settings()
    assert settings["ENGINE"].endswith("sqlite3")
    assert not settings["DEBUG"]
    assert settings["SESSION_COOKIE_SECURE"]
    assert settings["SECURE_SSL_REDIRECT"]


def test_the_address_that_users_type_decides_hosts_and_cookies():
    settings = _settings(FIRST_FAULT_URL="https://faults.example.org:8443")
    assert "faults.example.org" in settings["ALLOWED_HOSTS"]
    assert settings["CSRF_TRUSTED_ORIGINS"] == ["https://faults.example.org:8443"]
    assert not _settings(FIRST_FAULT_URL="http://127.0.0.1:8000")["SESSION_COOKIE_SECURE"]


def test_a_secret_can_come_from_a_file(tmp_path):
    (tmp_path / "key").write_text("from-a-mounted-file\n")
    assert _settings(SECRET_KEY_FILE=str(tmp_path / "key"))["SECRET_KEY"] == "from-a-mounted-file"


@pytest.mark.parametrize(
    ("env", "words"),
    [
        ({"DJANGO_DEBUG": "flase"}, "DJANGO_DEBUG"),
        ({"FIRST_FAULT_URL": "faults.example.org"}, "give the whole address"),
        ({"SECRET_KEY_FILE": "/nowhere/key"}, "/nowhere/key"),
        ({"DATABASE_URL": "mysql://host/x"}, "give postgresql://"),
        ({"REDIS_URL": "amqp://host"}, "REDIS_URL"),
    ],
)
def test_a_wrong_value_is_named(env, words):
    done = _run("-c", SHOW, **env)
    assert done.returncode != 0
    assert words in done.stderr.strip().splitlines()[-1]


def test_the_web_server_refuses_to_serve_with_a_key_that_nobody_gave():
    done = _run("-c", "import attribution.wsgi")
    assert done.returncode != 0
    assert "SECRET_KEY is not set" in done.stderr
    assert _run("-c", "import attribution.wsgi", SECRET_KEY="x" * 50).returncode == 0


def test_reading_the_settings_writes_nothing(tmp_path):
    data = tmp_path / "data"
    _settings(FIRST_FAULT_DATA=str(data))
    assert not data.exists()
