"""What went wrong while reading a bundle, said so that a person can act on it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One thing that could not be read as it should.

    stream: path in the bundle, or "" for the bundle as a whole; where: line, offset or key, "" when it is the whole.
    """

    stream: str
    what: str
    where: str = ""
    remedy: str = ""

    def as_dict(self) -> dict[str, str]:
        return {"stream": self.stream, "what": self.what, "where": self.where, "remedy": self.remedy}


class BundleError(Exception):
    """The bundle cannot be read at all. `what`, `where` and `remedy` are sentences or paths for the user."""

    def __init__(self, what: str, where: str, remedy: str) -> None:
        super().__init__(f"{what} ({where}). {remedy}")
        self.what = what
        self.where = where
        self.remedy = remedy
