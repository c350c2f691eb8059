"""Opening files only where it is allowed: below given folders, whatever links lie on the way.

The path is judged after opening, by what the system says was opened. So a link that is swapped between check and use
gains nothing.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from connectors.errors import AccessDenied, BadAnswer, BadValue, LimitReached, Misconfigured, NotFound, mapped

_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK
MOST_ENTRIES = 100_000


@dataclass(frozen=True, slots=True)
class AllowedRoots:
    """Folders below which files may be read, with every link resolved."""

    roots: tuple[str, ...]

    @classmethod
    def of(cls, configured: Iterable[Path], site: Iterable[Path] | None) -> AllowedRoots:
        """The connector's own roots, each of which must lie in one of the site's. Raises Misconfigured."""
        within = None if site is None else cls(tuple(os.path.realpath(root) for root in site))
        roots = []
        for root in configured:
            real = os.path.realpath(root)
            if within is not None and not within.holds(real):
                raise Misconfigured(
                    "This folder is outside what the site allows connectors to read",
                    str(root),
                    f"Use a folder below {', '.join(within.roots) or 'a folder that the site must first allow'}.",
                    {"roots": "outside what the site allows"},
                )
            roots.append(real)
        return cls(tuple(roots))

    def holds(self, real: str) -> bool:
        """Whether a path without links lies below one of the roots."""
        return any(real == root or real.startswith(root.rstrip("/") + "/") for root in self.roots)

    def open_file(self, path: str) -> int:
        """A descriptor of a regular file, for reading. Raises NotFound, AccessDenied, BadValue or BadAnswer."""
        descriptor = self._open(path, _FLAGS)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise BadAnswer("This is not a regular file", path, "Point the connector at the log file itself.")
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def names_in(self, folder: str) -> list[str]:
        """Sorted names in a folder. Raises like `open_file`, and LimitReached for a folder too full to go through."""
        descriptor = self._open(folder, _FLAGS | os.O_DIRECTORY)
        names: list[str] = []
        try:
            with mapped(folder), os.scandir(descriptor) as entries:
                for entry in entries:
                    names.append(entry.name)
                    if len(names) > MOST_ENTRIES:
                        raise LimitReached(
                            f"More than {MOST_ENTRIES:,} entries in one folder",
                            folder,
                            "Name the file with placeholders instead of wildcards.",
                        )
        finally:
            os.close(descriptor)
        return sorted(names)

    def exists(self, path: str) -> bool:
        """Whether something is there. Where it may not be looked, AccessDenied is raised rather than no said."""
        try:
            with mapped(path):
                os.stat(path)
        except NotFound:
            return False
        return True

    def _open(self, path: str, flags: int) -> int:
        if "\0" in path or ".." in path.split("/"):
            raise BadValue("The path has a part that may not be in it", repr(path), "Use a plain absolute path.")
        if not self.holds(os.path.normpath(path)) and not self.holds(os.path.realpath(path)):
            raise _outside(path)
        with mapped(path):
            if not stat.S_ISREG(os.stat(path).st_mode) and not flags & os.O_DIRECTORY:
                # A device may act on being opened, and a pipe never ends.
                raise BadAnswer("This is not a regular file", path, "Point the connector at the log file itself.")
            descriptor = os.open(path, flags)
        try:
            real = _opened_path(descriptor, path)
            if not self.holds(real):
                raise _outside(path)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor


def _opened_path(descriptor: int, path: str) -> str:
    """Where the opened file really is. Raises NotFound when it was moved away meanwhile."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        pass  # no /proc: the name must then lead to the same file a second time
    with mapped(path):
        real = os.path.realpath(path)
        if os.path.samestat(os.stat(real), os.fstat(descriptor)):
            return real
    raise NotFound("The file was replaced while it was being opened", path, "Collect again.")


def _outside(path: str) -> AccessDenied:
    return AccessDenied(
        "This path leads outside the folders that may be read",
        path,
        "Add its real folder to the connector's roots, or remove the link.",
    )
