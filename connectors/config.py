"""Settings of a connector: a Pydantic model that describes its own form and never holds a secret."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from connectors.errors import Misconfigured

if TYPE_CHECKING:
    from connectors.contract import Connector


class ConnectorConfig(BaseModel):
    """Base of every connector's `Config`. Unknown fields are refused: a misspelt one would silently do nothing.

    Every field has a title and a description; a form is built from `model_json_schema()`. A secret is a field of type
    `SecretRef`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True, str_max_length=4096)


def parse_config(connector: Connector, values: Mapping[str, Any]) -> ConnectorConfig:
    """Read settings as they come from a form, a YAML file or the database.

    Raises Misconfigured with one message a field; none repeats what was typed.
    """
    try:
        return connector.Config.model_validate(dict(values))
    except ValidationError as error:
        fields: dict[str, str] = {}
        for detail in error.errors(include_url=False, include_input=False, include_context=False):
            fields.setdefault(".".join(str(part) for part in detail["loc"]) or "settings", _sentence(detail))
    # Raised outside the handler: the validation error holds what was typed, and must not hang on to this one.
    listed = "; ".join(f"{name}: {message}" for name, message in fields.items())
    raise Misconfigured(
        f"The settings of {connector.label} do not hold: {listed}",
        f"connector {connector.slug}",
        "Correct the fields named here.",
        fields,
    )


def dump_config(config: ConnectorConfig) -> dict[str, Any]:
    """Plain JSON types, for the database. Secrets are references in it, as everywhere."""
    return config.model_dump(mode="json")


def _sentence(detail: ErrorDetails) -> str:
    if detail["type"] == "extra_forbidden":
        return "there is no such setting"
    if detail["type"] == "missing":
        return "is required"
    return detail["msg"].removeprefix("Value error, ")
