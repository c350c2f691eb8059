"""Settings: messages that help, and secrets that stay where they are."""

from __future__ import annotations

import json
import traceback
from pathlib import Path
from typing import Any

import pytest
from pydantic import Field

from connectors import ConnectorConfig, SecretRef, SecretStore, load_registry, parse_config
from connectors.config import dump_config
from connectors.errors import ConnectorError, Misconfigured, SecretMissing
from connectors.files.logs import LogFiles

SECRET = "hunter2-very-secret"


class ServiceConfig(ConnectorConfig):
    url: str = Field(title="URL", description="Where it is.")
    token: SecretRef = Field(title="Token", description="A reference to it.")


class Service(LogFiles):
    slug = "service"
    label = "Service"
    Config = ServiceConfig


@pytest.mark.parametrize(
    ("slug", "values", "field", "says"),
    [
        ("bundles", {}, "path", "is required"),
        ("bundles", {"path": "relative"}, "path", "absolute"),
        ("bundles", {"path": "/x/../y"}, "path", "without `..`"),
        ("bundles", {"path": "/x", "pathh": "/y"}, "pathh", "no such setting"),
        ("files", {"roots": [], "patterns": []}, "roots", "at least 1"),
        (
            "files",
            {"roots": ["/x"], "patterns": [{"source": "kernel", "path": "/x/a"}]},
            "patterns.0.source",
            "scheduler, applog, syslog",
        ),
        ("files", {"roots": ["/x"], "patterns": [{"source": "syslog", "path": "/x/{a}"}]}, "patterns.0.path", "{a}"),
        (
            "files",
            {"roots": ["/x"], "patterns": [{"source": "syslog", "path": "/x/a"}], "timezone": "Mars/Base"},
            "timezone",
            "IANA",
        ),
        ("slurm", {"command": []}, "command", "at least 1"),
        ("slurm", {"command": ["sacct; reboot"]}, "command.0", "may hold letters"),
        ("slurm", {"command": "sacct"}, "command", "tuple"),
        ("slurm", {"timeout": 0}, "timeout", "greater than 0"),
        ("slurm", {"cluster": "a b"}, "cluster", "letters, digits"),
        ("slurm", {"states": ["SAD"]}, "states.0", "must be one of"),
        ("slurm", {"origin": "files"}, "settings", "paths and their allowed folders"),
    ],
)
def test_bad_settings_name_the_field_and_the_reason(slug: str, values: dict[str, Any], field: str, says: str) -> None:
    with pytest.raises(Misconfigured) as caught:
        parse_config(load_registry([]).get(slug), values)
    assert says in caught.value.fields[field]
    assert field in str(caught.value)


@pytest.mark.parametrize(
    "typed", [SECRET, f"env: {SECRET}", f"file:{SECRET}", f"env:{SECRET}", "", f"file:/x\n{SECRET}"]
)
def test_a_secret_typed_in_the_place_of_a_reference_is_refused_and_never_repeated(typed: str) -> None:
    with pytest.raises(Misconfigured) as caught:
        parse_config(Service(), {"url": "http://x", "token": typed})
    error = caught.value
    assert "never the secret itself" in error.fields["token"]
    shown = "".join(traceback.format_exception(error)) + repr(error) + str(error) + repr(vars(error))
    assert SECRET not in shown


def test_settings_hold_references_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_TOKEN", SECRET)
    config = parse_config(Service(), {"url": "http://x", "token": "env:SERVICE_TOKEN"})
    assert isinstance(config, ServiceConfig)
    assert json.loads(json.dumps(dump_config(config))) == {"url": "http://x", "token": "env:SERVICE_TOKEN"}
    assert SECRET not in repr(config)
    assert parse_config(Service(), dump_config(config)) == config
    assert SecretStore().resolve(config.token) == SECRET
    assert SECRET not in repr(SecretStore({"SERVICE_TOKEN": SECRET}))


def test_the_form_knows_which_field_is_a_reference() -> None:
    assert ServiceConfig.model_json_schema()["properties"]["token"]["format"] == "secret-reference"


def test_a_secret_in_a_file_is_read_when_needed(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(SECRET + "\n")
    assert SecretStore().resolve(SecretRef(f"file:{tmp_path}/token")) == SECRET


@pytest.mark.parametrize("content", [None, b"", b"\n", b"\xff\xfe\x00"])
def test_a_secret_that_is_not_there_names_the_reference(content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "token"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConnectorError, match="token") as caught:
        SecretStore().resolve(SecretRef(f"file:{path}"))
    assert caught.value.remedy


def test_the_consoles_own_secrets_are_not_handed_to_connectors() -> None:
    store = SecretStore({"SECRET_KEY": SECRET, "EMPTY": ""})
    for name in ("SECRET_KEY", "DATABASE_URL", "REDIS_URL", "EMPTY", "NOT_SET"):
        with pytest.raises(SecretMissing) as caught:
            store.resolve(SecretRef(f"env:{name}"))
        assert SECRET not in str(caught.value)
