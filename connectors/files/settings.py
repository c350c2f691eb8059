"""Settings of the connectors that read files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field, field_validator, model_validator

from connectors.config import ConnectorConfig
from connectors.files.placeholders import PathTemplate
from telemetry.bundle import SOURCES


def _known_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        raise ValueError("this is not an IANA time zone, such as Europe/Berlin") from None
    return name


def _absolute(path: Path) -> Path:
    if not path.is_absolute() or ".." in path.parts or "\0" in str(path):
        raise ValueError("give an absolute path without `..`")
    if len(path.parts) < 2:
        raise ValueError("the whole file system is not a folder to allow; name the folders with logs")
    return path


def _template(text: str) -> str:
    PathTemplate.parse(text)
    return text


def _source(name: str) -> str:
    if name not in SOURCES:
        raise ValueError(f"must be one of {', '.join(SOURCES)}")
    return name


TimeZone = Annotated[str, AfterValidator(_known_zone)]
Folder = Annotated[Path, AfterValidator(_absolute)]
Template = Annotated[str, AfterValidator(_template)]
Source = Annotated[str, AfterValidator(_source)]


class BundleFoldersConfig(ConnectorConfig):
    """Where bundles lie."""

    path: Folder = Field(
        title="Folder",
        description="A folder whose entries are bundles: folders with scheduler/, applog/, syslog/ and so on, or "
        "archives of such folders (.tar.zst, .tar.gz).",
    )


class LogPattern(ConnectorConfig):
    """One kind of log file."""

    source: Source = Field(
        title="Source", description="What the files hold.", json_schema_extra={"enum": list(SOURCES)}
    )
    path: Template = Field(
        title="Path",
        description="Absolute path with {job_id}, {array_job_id}, {array_task_id}, {node}, {rank}, {user} and the "
        "wildcards * ? [..] within one part, for example /var/log/hosts/{node}/messages.",
    )
    window: Literal["auto", "cut", "whole"] = Field(
        default="auto",
        title="Time window",
        description="cut: only lines from the time of the job. whole: the whole file. auto: cut for syslog and fabric.",
    )
    rotated: bool | None = Field(
        default=None,
        title="Rotated files",
        description="Also read the log's rotated and compressed files (.1, .2.gz, -20260310.xz). Left open: for syslog "
        "and fabric.",
    )

    @property
    def template(self) -> PathTemplate:
        return PathTemplate.parse(self.path)

    @property
    def is_cut(self) -> bool:
        return self.window == "cut" or (self.window == "auto" and self.source in {"syslog", "fabric"})

    @property
    def is_rotated(self) -> bool:
        return self.source in {"syslog", "fabric"} if self.rotated is None else self.rotated


class LogFilesConfig(ConnectorConfig):
    """Which files belong to a job."""

    roots: tuple[Folder, ...] = Field(
        min_length=1,
        title="Allowed folders",
        description="Nothing outside these folders is read, whatever links lead there.",
    )
    patterns: tuple[LogPattern, ...] = Field(
        min_length=1, max_length=100, title="Log files", description="One entry for each kind of file."
    )
    timezone: TimeZone | None = Field(
        default=None,
        title="Time zone",
        description="IANA zone of times that carry none in these files; the cluster's own when left open.",
    )

    @field_validator("roots")
    @classmethod
    def _no_double(cls, roots: tuple[Path, ...]) -> tuple[Path, ...]:
        return tuple(dict.fromkeys(roots))

    @model_validator(mode="after")
    def _inside(self) -> LogFilesConfig:
        for pattern in self.patterns:
            if not any(pattern.path.startswith(f"{root}/") for root in self.roots):
                raise ValueError(f"{pattern.path} is outside the allowed folders")
        return self
