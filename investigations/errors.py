"""What can go wrong for a reason that the reader of a page can act on.

ServiceError            what, where, remedy: three plain sentences or phrases
├── InvalidInput        what was typed cannot be used; `field` names it
│   └── SeveralJobs     the id fits several jobs; `choices` lists how each is written
├── JobNotFound         no connector of the cluster knows the job
├── SourceUnavailable   the connectors could not be asked, so nobody knows
└── Conflict            somebody or something else got there first
NotAllowed              the user's role does not permit it (answered with 403)
"""

from django.core.exceptions import PermissionDenied


class ServiceError(Exception):
    """An expected failure: what happened, where, and what to do about it."""

    def __init__(self, what: str, where: str = "", remedy: str = "") -> None:
        super().__init__(what)
        self.what, self.where, self.remedy = what, where, remedy

    def __str__(self) -> str:
        return " ".join(part for part in (self.what, f"({self.where})" if self.where else "", self.remedy) if part)

    def as_dict(self) -> dict[str, str]:
        return {"what": self.what, "where": self.where, "remedy": self.remedy}


class InvalidInput(ServiceError):
    def __init__(self, what: str, where: str = "", remedy: str = "", field: str = "") -> None:
        super().__init__(what, where, remedy)
        self.field = field


class SeveralJobs(InvalidInput):
    def __init__(self, what: str, where: str = "", remedy: str = "", choices: tuple[str, ...] = ()) -> None:
        super().__init__(what, where, remedy, field="job")
        self.choices = choices


class JobNotFound(ServiceError):
    pass


class SourceUnavailable(ServiceError):
    pass


class Conflict(ServiceError):
    pass


class NotAllowed(PermissionDenied):
    """The user's role does not carry the permission."""


def problem_of(error: BaseException) -> dict[str, str] | None:
    """The {what, where, remedy} of an expected failure from any layer, or None when the error is a crash.

    Connectors and telemetry raise their own errors with the same three attributes; they are told from
    crashes by having them, so that this layer needs no list of their classes.
    """
    what = getattr(error, "what", None)
    if not isinstance(what, str):
        return None
    return {
        "what": what,
        "where": str(getattr(error, "where", "") or ""),
        "remedy": str(getattr(error, "remedy", "") or ""),
    }
