"""What can go wrong while telemetry is brought in, as one tree.

    ConnectorError                what, where, remedy; `permanent` says whether asking again can help
     |-- Misconfigured            the connector's settings; `.fields` names each field              permanent
     |-- BadValue                 a job id, node or user with characters that may not go further    permanent
     |-- UnknownConnector         no connector has this slug                                        permanent
     |-- SecretMissing            `env:NAME` or `file:/path` leads to nothing                       permanent
     |-- NotFound                 a file, folder or program that should be there                    permanent
     |-- SeveralJobs              the id fits several jobs; `.choices` holds them                   permanent
     |-- AccessDenied             there, but this account may not read it                           permanent
     |-- Unreachable              a server, host or database that does not answer
     |-- TimedOut                 it was still busy when its time was over
     |-- BadAnswer                it answered, in a form that cannot be read                        permanent
     |-- Unsupported              the other side is too old, or cannot do this                      permanent
     |-- LimitReached             a bound of this console on bytes, lines, time or jobs             permanent
     `-- Cancelled                somebody stopped the run                                          permanent

Nothing else leaves a connector on purpose: `mapped()` turns what the operating system, the decompressors, the parsers
and the bundle writer raise into this tree. A different exception is a programming error and is meant to be seen.
"""

from __future__ import annotations

import errno
import json
import lzma
import subprocess
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

import zstandard

from telemetry.decoding import ReadError
from telemetry.problems import BundleError

if TYPE_CHECKING:
    from telemetry.job import JobContext


class ConnectorError(Exception):
    """An expected failure, told as what happened, where, and what to do about it.

    `reason` is the word that coverage uses for it (design: truncated, denied, unreachable, timeout, unsupported ...).
    """

    permanent: ClassVar[bool] = False
    reason: ClassVar[str] = "failed"

    def __init__(self, what: str, where: str = "", remedy: str = "") -> None:
        super().__init__(what, where, remedy)
        self.what = what
        self.where = where
        self.remedy = remedy

    def __str__(self) -> str:
        place = f" ({self.where})" if self.where else ""
        return f"{self.what}{place}. {self.remedy}".strip() if self.remedy else f"{self.what}{place}"


class Misconfigured(ConnectorError):
    """The settings of a connector do not hold; `fields` maps a field's name to what is wrong with it."""

    permanent = True
    reason = "misconfigured"

    def __init__(self, what: str, where: str = "", remedy: str = "", fields: Mapping[str, str] | None = None) -> None:
        super().__init__(what, where, remedy)
        self.fields: dict[str, str] = dict(fields or {})


class BadValue(ConnectorError):
    """A value that would go into a path or a command has characters that must not."""

    permanent = True
    reason = "refused"


class UnknownConnector(ConnectorError):
    permanent = True
    reason = "misconfigured"


class SecretMissing(ConnectorError):
    permanent = True
    reason = "misconfigured"


class NotFound(ConnectorError):
    permanent = True
    reason = "not_found"


class SeveralJobs(ConnectorError):
    """The key fits several jobs, such as all elements of an array; `choices` lists them in the scheduler's order."""

    permanent = True
    reason = "not_unique"

    def __init__(self, what: str, where: str = "", remedy: str = "", choices: tuple[JobContext, ...] = ()) -> None:
        super().__init__(what, where, remedy)
        self.choices = choices


class AccessDenied(ConnectorError):
    permanent = True
    reason = "denied"


class Unreachable(ConnectorError):
    reason = "unreachable"


class TimedOut(ConnectorError):
    reason = "timeout"


class BadAnswer(ConnectorError):
    permanent = True
    reason = "bad_answer"


class Unsupported(ConnectorError):
    permanent = True
    reason = "unsupported"


class LimitReached(ConnectorError):
    permanent = True
    reason = "truncated"


class Cancelled(ConnectorError):
    permanent = True
    reason = "cancelled"


FOREIGN: tuple[type[BaseException], ...] = (
    OSError,
    EOFError,
    zlib.error,
    lzma.LZMAError,
    zstandard.ZstdError,
    json.JSONDecodeError,
    UnicodeError,
    RecursionError,
    subprocess.SubprocessError,
    ReadError,
    BundleError,
)
"""Every exception of a lower level that connectors meet on hostile input; `translate` knows each of them."""

_NETWORK = {
    errno.ECONNREFUSED,
    errno.ECONNRESET,
    errno.ECONNABORTED,
    errno.EHOSTUNREACH,
    errno.ENETUNREACH,
    errno.EHOSTDOWN,
    errno.EPIPE,
    errno.ESTALE,
    errno.ENOTCONN,
}


EXPECTED: tuple[type[BaseException], ...] = (ConnectorError, *FOREIGN)


def translate(error: BaseException, where: str) -> ConnectorError:
    """Give the error of this tree that says what `error` means; `where` is the file, program or server at hand."""
    if isinstance(error, ConnectorError):
        return error
    if isinstance(error, BundleError):
        return BadAnswer(error.what, error.where or where, error.remedy)
    if isinstance(error, subprocess.TimeoutExpired | TimeoutError):
        return TimedOut("No answer in time", where, "Try again, or give the connector a longer time-out.")
    if isinstance(error, OSError):
        return _translate_os(error, where)
    if isinstance(error, ReadError):
        return BadAnswer(f"The file cannot be read to its end: {error}", where, "Check that it was written completely.")
    if isinstance(error, EOFError):
        return BadAnswer("The compressed data ends too early", where, "Check that the file was written completely.")
    if isinstance(error, zlib.error | lzma.LZMAError | zstandard.ZstdError):
        return BadAnswer("The compressed data is damaged", where, "Test it with gzip -t, xz -t or zstd -t.")
    if isinstance(error, json.JSONDecodeError):
        place = f"{where}, line {error.lineno}, column {error.colno}"
        return BadAnswer("The answer is not JSON", place, "Run the same request by hand and look at what it prints.")
    if isinstance(error, RecursionError):
        return BadAnswer("The answer is nested too deeply to be read", where, "Look at it by hand.")
    if isinstance(error, UnicodeError):
        return BadAnswer("The text is not in the encoding it should be in", where, "Expected UTF-8.")
    if isinstance(error, subprocess.SubprocessError):
        return BadAnswer("The program could not be run to its end", where, "Run it by hand as the console's account.")
    raise TypeError(f"no translation for {type(error).__name__}") from error


def _translate_os(error: OSError, where: str) -> ConnectorError:
    text = error.strerror or type(error).__name__
    if error.errno in {errno.EACCES, errno.EPERM}:
        return AccessDenied("Permission denied", where, "Let the account that runs the console read it.")
    if error.errno in {errno.ENOENT, errno.ENOTDIR}:
        return NotFound("There is no such file or folder", where, "Check the path in the connector's settings.")
    if error.errno == errno.ELOOP:
        return AccessDenied("Too many symbolic links", where, "Point the connector at the real path.")
    if error.errno == errno.ENAMETOOLONG:
        return BadValue("The name is too long for this file system", where, "Check the placeholders in the path.")
    if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
        return LimitReached("There is no room left to store telemetry", where, "Free some space for bundles.")
    if error.errno in {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN}:
        return Unreachable(f"This machine is out of resources: {text}", where, "Try again when it is less busy.")
    if error.errno in _NETWORK:
        return Unreachable(text, where, "Check that the service runs and that this machine can reach it.")
    if error.errno is None:  # gzip.BadGzipFile and its kin carry a sentence only
        return BadAnswer("The data cannot be read", where, "Test the file with the tool that made it.")
    return Unreachable(f"Input or output failed: {text}", where, "Check the disk or mount behind it.")


@contextmanager
def mapped(where: str) -> Iterator[None]:
    """Run a block and re-raise what lower levels throw as an error of this tree."""
    try:
        yield
    except FOREIGN as error:
        raise translate(error, where) from error
