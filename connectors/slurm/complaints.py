"""What `sacct`, `ssh` and the like say when they fail, and what that means.

Texts recorded from Slurm 22.05.8 and OpenSSH 9; matched in lower case, the first that fits.
"""

from __future__ import annotations

import re

from connectors.errors import (
    AccessDenied,
    BadAnswer,
    BadValue,
    ConnectorError,
    NotFound,
    TimedOut,
    Unreachable,
    Unsupported,
)
from connectors.slurm.process import Answer
from telemetry.redaction import Redactor

_FIELD = re.compile(r'invalid field requested: "?([A-Za-z0-9_]+)', re.IGNORECASE)

_KNOWN: tuple[tuple[str, type[ConnectorError], str, str], ...] = (
    (
        "accounting storage is disabled",
        Unsupported,
        "This Slurm keeps no accounting",
        "Set AccountingStorageType=accounting_storage/slurmdbd in slurm.conf, or use exported files.",
    ),
    (
        "problem talking to the database",
        Unreachable,
        "Slurm's accounting database (slurmdbd) does not answer",
        "Check that slurmdbd runs on the AccountingStorageHost of slurm.conf and can be reached from here.",
    ),
    (
        "failed to open persistent connection",
        Unreachable,
        "Slurm's accounting database (slurmdbd) does not answer",
        "Check that slurmdbd runs on the AccountingStorageHost of slurm.conf and can be reached from here.",
    ),
    (
        "could not establish a configuration source",
        Unreachable,
        "Slurm's client tools find no configuration",
        "Put slurm.conf on this machine or set SLURM_CONF, or use a wrapper such as ssh login1.",
    ),
    (
        "unable to process configuration file",
        Unreachable,
        "Slurm's client tools cannot read their configuration",
        "Check /etc/slurm/slurm.conf on the machine that runs sacct.",
    ),
    (
        "protocol authentication error",
        AccessDenied,
        "Slurm did not accept this machine's credentials",
        "Check that munge runs here with the cluster's key, and that the clocks agree.",
    ),
    (
        "munge",
        Unreachable,
        "Slurm's authentication service (munge) does not answer",
        "Check that munged runs on the machine that runs sacct.",
    ),
    (
        "host key verification failed",
        AccessDenied,
        "ssh does not know the host's key",
        "Connect once by hand as the console's account, or put the key into known_hosts.",
    ),
    (
        "permission denied (",
        AccessDenied,
        "ssh was not let in",
        "Give the console's account a key that the host accepts; no password can be typed here.",
    ),
    (
        "could not resolve hostname",
        Unreachable,
        "The wrapper's host has no address",
        "Check the host's name in the wrapper.",
    ),
    (
        "connection timed out",
        Unreachable,
        "The host does not answer",
        "Check the network between this machine and it.",
    ),
    (
        "connection refused",
        Unreachable,
        "The connection was refused",
        "Check that the service runs and which port it listens on.",
    ),
    (
        "access/permission denied",
        AccessDenied,
        "Slurm does not let this account see the job",
        "Make the console's account a Slurm operator, or relax PrivateData in slurmdbd.conf.",
    ),
    (
        "bad job/step specified",
        BadValue,
        "Slurm does not take this for a job id",
        "Give the id as squeue or sacct prints it.",
    ),
    ("command not found", NotFound, "The command is not installed there", "Give its absolute path."),
    ("no such file or directory", NotFound, "The command is not installed there", "Give its absolute path."),
    (
        "unrecognized option",
        Unsupported,
        "This sacct does not know one of the options",
        "Use the other form, text or json.",
    ),
    (
        "unable to find plugin: serializer/json",
        Unsupported,
        "This sacct was built without JSON",
        "Use the text form.",
    ),
    (
        "json support",
        Unsupported,
        "This sacct was built without JSON",
        "Use the text form.",
    ),
)


def refused_field(answer: Answer) -> str | None:
    """The name of a field that this sacct does not have, when that is why it failed."""
    match = _FIELD.search(answer.err) if answer.status else None
    return match.group(1) if match else None


def error_of(answer: Answer, request: str, seconds: float) -> ConnectorError | None:
    """Why there is no usable answer; None when the program ended well."""
    if answer.late:
        return TimedOut(
            f"sacct gave no answer in {seconds:g} seconds and was ended",
            request,
            "Try again; if it stays so, look at slurmdbd's load, or give a longer time-out.",
        )
    if answer.status == 0 or answer.cut:
        return None
    said = answer.err.lower()
    for text, kind, what, remedy in _KNOWN:
        if text in said:
            return kind(what, request, remedy)
    how = f"signal {-answer.status}" if answer.status is not None and answer.status < 0 else f"exit {answer.status}"
    line = Redactor().redact(answer.err.strip().split("\n")[-1].encode())[:200].decode("utf-8", "replace")
    return BadAnswer(
        f"sacct failed ({how})" + (f": {line}" if line else " and said nothing"),
        request,
        "Run the command by hand as the console's account.",
    )
