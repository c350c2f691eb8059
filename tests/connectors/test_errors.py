"""Every exception of a lower level becomes an error with a place and a remedy."""

from __future__ import annotations

import errno
import gzip
import json
import lzma
import subprocess
import zlib

import pytest
import zstandard

from connectors import errors
from connectors.errors import FOREIGN, ConnectorError, mapped, translate
from telemetry.decoding import ReadError
from telemetry.problems import BundleError

RAISED: list[tuple[BaseException, type[ConnectorError]]] = [
    (PermissionError(errno.EACCES, "Permission denied"), errors.AccessDenied),
    (FileNotFoundError(errno.ENOENT, "No such file"), errors.NotFound),
    (NotADirectoryError(errno.ENOTDIR, "Not a directory"), errors.NotFound),
    (OSError(errno.ELOOP, "Too many links"), errors.AccessDenied),
    (OSError(errno.ENAMETOOLONG, "Too long"), errors.BadValue),
    (OSError(errno.ENOSPC, "No space left"), errors.LimitReached),
    (OSError(errno.EMFILE, "Too many open files"), errors.Unreachable),
    (OSError(errno.EIO, "Input/output error"), errors.Unreachable),
    (OSError(errno.ESTALE, "Stale file handle"), errors.Unreachable),
    (ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"), errors.Unreachable),
    (TimeoutError(), errors.TimedOut),
    (gzip.BadGzipFile("Not a gzipped file"), errors.BadAnswer),
    (EOFError(), errors.BadAnswer),
    (zlib.error("invalid block"), errors.BadAnswer),
    (lzma.LZMAError("corrupt"), errors.BadAnswer),
    (zstandard.ZstdError("corrupt"), errors.BadAnswer),
    (json.JSONDecodeError("Expecting value", "x", 0), errors.BadAnswer),
    (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid"), errors.BadAnswer),
    (RecursionError(), errors.BadAnswer),
    (subprocess.TimeoutExpired("sacct", 5), errors.TimedOut),
    (subprocess.SubprocessError(), errors.BadAnswer),
    (ReadError("cut"), errors.BadAnswer),
    (BundleError("nothing in it", "/x", "put something in"), errors.BadAnswer),
]


@pytest.mark.parametrize(("raised", "expected"), RAISED, ids=lambda each: getattr(each, "__name__", repr(each)))
def test_it_becomes_the_right_error(raised: BaseException, expected: type[ConnectorError]) -> None:
    with pytest.raises(expected) as caught, mapped("/var/log/messages"):
        raise raised
    assert caught.value.what
    assert caught.value.where
    assert caught.value.remedy
    assert caught.value.reason != "failed"


def test_no_known_lower_level_exception_is_left_out() -> None:
    assert {kind for kind in FOREIGN if not any(isinstance(raised, kind) for raised, _ in RAISED)} == set()


def test_errors_of_the_tree_pass_unchanged() -> None:
    error = errors.SeveralJobs("two jobs", "sacct", "choose")
    assert translate(error, "elsewhere") is error


def test_a_programming_error_is_not_hidden() -> None:
    with pytest.raises(KeyError), mapped("x"):
        raise KeyError("a bug")


def _tree(kind: type[ConnectorError]) -> set[type[ConnectorError]]:
    return {kind}.union(*(_tree(each) for each in kind.__subclasses__()))


def test_the_docstring_draws_the_whole_tree() -> None:
    assert errors.__doc__ is not None
    for kind in _tree(ConnectorError):
        if kind.__module__ == "connectors.errors":
            assert kind.__name__ in errors.__doc__
            (drawn,) = [line for line in errors.__doc__.splitlines() if f" {kind.__name__} " in line][:1] or [""]
            assert drawn.endswith("permanent") == (kind.permanent and kind is not ConnectorError)
