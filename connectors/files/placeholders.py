"""Paths with placeholders: what may stand in them, and what their values may be.

A value comes from a scheduler or a person and ends up in a path, so each kind has a strict set of characters. Nothing
is ever handed to a shell.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from connectors.errors import BadValue
from connectors.keys import JobKey
from telemetry.job import JobContext

_NAME = re.compile(r"\{([^{}]*)\}")

ALLOWED = {
    "job_id": re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,127}\Z"),
    "array_job_id": re.compile(r"[0-9]{1,12}\Z"),
    "array_task_id": re.compile(r"[0-9]{1,10}\Z"),
    "node": re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,252}\Z"),
    "rank": re.compile(r"[0-9]{1,7}\Z"),
    "user": re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}\Z"),
}
"""What the value of a placeholder may look like. POSIX portable names; no separator, no leading dot or dash."""

_EXAMPLES = {"job_id": "88213 or 10_3", "node": "gpu-node-07", "rank": "12", "user": "user1"}
_MOST_STARS = 4  # in one component: file names are short, but many stars make matching them slow


@dataclass(frozen=True, slots=True)
class PathTemplate:
    """An absolute path; each of its parts may hold placeholders and the wildcards `*`, `?` and `[...]`."""

    text: str
    parts: tuple[str, ...]
    names: frozenset[str]

    @classmethod
    def parse(cls, text: str) -> PathTemplate:
        """Raises ValueError with a sentence that fits into a form."""
        if not text.startswith("/"):
            raise ValueError("the path must be absolute, beginning with /")
        if any(ord(character) < 32 or ord(character) == 127 for character in text):
            raise ValueError("the path holds a control character")
        names = _NAME.findall(text)
        if unknown := sorted(set(names) - set(ALLOWED)):
            known = ", ".join(f"{{{name}}}" for name in ALLOWED)
            raise ValueError(f"unknown placeholder {{{unknown[0]}}}; known are {known}")
        if "{" in _NAME.sub("", text) or "}" in _NAME.sub("", text):
            raise ValueError("a brace is open or left over")
        parts = tuple(part for part in text.split("/") if part and part != ".")
        if not parts:
            raise ValueError("the path names no file")
        for part in parts:
            if part == ".." or "**" in part:
                raise ValueError("`..` and `**` are not allowed in the path")
            if part.count("*") > _MOST_STARS:
                raise ValueError(f"at most {_MOST_STARS} stars in one part of the path")
        return cls(text, parts, frozenset(names))


def fill(part: str, values: dict[str, str]) -> str:
    """One part of a path with its values set in. Raises BadValue for a value with other characters than allowed."""
    return _NAME.sub(lambda match: checked(match.group(1), values[match.group(1)]), part)


def checked(name: str, value: str) -> str:
    """The value, when it is safe to stand in a path."""
    if not ALLOWED[name].match(value) or ".." in value:
        like = f", such as {_EXAMPLES[name]}" if name in _EXAMPLES else ""
        raise BadValue(
            f"{value[:80]!r} cannot stand for {{{name}}} in a path",
            "placeholder value",
            f"Only letters, digits and . _ - + may occur in it{like}.",
        )
    return value


def values_of(job: JobContext) -> dict[str, str]:
    """The placeholders that are the same for the whole job; those that the job does not have are left out.

    {job_id} is the id as the scheduler prints it: 10_3 for an array's element, as in `slurm-%A_%a.out`; for a
    component of a heterogeneous job the id of the whole, as in `slurm-%j.out` of its leader.
    """
    values: dict[str, str] = {}
    if job.id:
        key = JobKey.of(job)
        values["job_id"] = key.id if key.het_component is not None else str(key)
        values["array_job_id"] = key.id
        if key.array_task:
            values["array_task_id"] = key.array_task
    if job.user:
        values["user"] = job.user
    return values
