"""References to secrets, and where they are looked up at the moment of use.

A setting never holds a secret, only `env:NAME` or `file:/path`. The value lives in a variable for as long as the
request needs it; it is in no repr, error, log line, coverage or database row.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from connectors.errors import SecretMissing, mapped

_ENV = re.compile(r"env:([A-Za-z_][A-Za-z0-9_]{0,127})\Z")
_FILE = re.compile(r"file:(/[^\x00-\x1f]{1,1023})\Z")
_MAX_BYTES = 64 * 1024

CONSOLE_OWN = frozenset({"SECRET_KEY", "DATABASE_URL", "REDIS_URL"})
"""Names that are the console's own: a connector could be pointed at a stranger's server and would hand them over."""


@dataclass(frozen=True, slots=True)
class SecretRef:
    """`env:NAME` or `file:/absolute/path`. Raises ValueError for anything else, without repeating it: what was typed
    may be the secret itself."""

    reference: str

    def __post_init__(self) -> None:
        if not (_ENV.match(self.reference) or _FILE.match(self.reference)):
            object.__setattr__(self, "reference", "")
            raise ValueError("give a reference, env:NAME or file:/path, never the secret itself")

    def __str__(self) -> str:
        return self.reference

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            cls._read, serialization=core_schema.plain_serializer_function_ser_schema(str)
        )

    @classmethod
    def _read(cls, value: object) -> SecretRef:
        return value if isinstance(value, cls) else cls(value if isinstance(value, str) else "")

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"type": "string", "format": "secret-reference", "pattern": "^(env:[A-Za-z_]|file:/)"}


@dataclass(frozen=True, slots=True)
class SecretStore:
    """Looks references up: `env:` in the given mapping (the process environment by default), `file:` on disk."""

    environ: Mapping[str, str] | None = field(default=None, repr=False)
    read: Callable[[Path], bytes] = field(default=lambda path: _read_file(path), repr=False)

    def resolve(self, reference: SecretRef) -> str:
        """The secret itself, without a newline at its end. Raises SecretMissing."""
        text = reference.reference
        if match := _ENV.match(text):
            name = match.group(1)
            if name in CONSOLE_OWN:
                raise SecretMissing(f"{name} belongs to the console itself", text, "Use a variable of its own.")
            value = (os.environ if self.environ is None else self.environ).get(name, "")
            if not value:
                raise SecretMissing(
                    f"The environment variable {name} is not set", text, "Set it for the web and the worker process."
                )
            return value
        with mapped(text):
            raw = self.read(Path(text.removeprefix("file:")))
        try:
            value = raw.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError:
            raise SecretMissing("The secret's file is not text", text, "It must be UTF-8 on one line.") from None
        if not value:
            raise SecretMissing("The secret's file is empty", text, "Write the secret into it.")
        return value


def _read_file(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_MAX_BYTES)
