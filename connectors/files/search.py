"""Finding the files that a path template means for one job."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from connectors.errors import ConnectorError, LimitReached, NotFound
from connectors.files.allowed import AllowedRoots
from connectors.files.placeholders import PathTemplate, fill

_WILD = re.compile(r"[*?\[]")
_RANK = "{rank}"
# logrotate and its kin: messages.1, messages.2.gz, messages-20260310, messages-20260310-1796129201.xz
_NUMBER = r"\.[0-9]{1,4}"
_DATE = r"[.-][0-9]{8}(?:-?[0-9]{1,10})?"
_PACKED = r"(?:\.(?:gz|xz|zst|bz2))?"
_ROTATED = re.compile(rf"(?P<base>.+?)(?:(?P<number>{_NUMBER})|(?P<date>{_DATE}))?{_PACKED}\Z", re.DOTALL)
MOST_FILES = 50_000


@dataclass(frozen=True, slots=True)
class Found:
    """A file that exists. `rank` is set when it was told apart by {rank}."""

    path: str
    rank: int | None = None


class FileSearch:
    """Looks files up, remembering folders that it listed: many nodes' logs may lie in one.

    `errors`: folders that wildcards led to and that could not be looked into, while others could.
    """

    def __init__(self, roots: AllowedRoots) -> None:
        self.errors: list[ConnectorError] = []
        self._roots = roots
        self._listed: dict[str, list[str]] = {}

    def find(self, template: PathTemplate, values: dict[str, str], rotated: bool = False) -> list[Found]:
        """Existing files for these values, sorted by path.

        {rank} without a value matches any number. With `rotated`, a last part without wildcards also finds its
        rotated and compressed kin. A folder that is not there gives nothing. Raises BadValue, AccessDenied,
        LimitReached and their kin.
        """
        found = [Found("")]
        for position, part in enumerate(template.parts):
            last = position == len(template.parts) - 1
            found = list(islice(self._one_part(found, part, values, rotated and last, last), MOST_FILES + 1))
            if len(found) > MOST_FILES:
                raise LimitReached(
                    f"More than {MOST_FILES:,} files fit this path", template.text, "Make the path more exact."
                )
        return sorted(found, key=lambda each: each.path)

    def _one_part(
        self, found: list[Found], part: str, values: dict[str, str], rotated: bool, last: bool
    ) -> Iterator[Found]:
        open_rank = _RANK in part and "rank" not in values
        exact = not open_rank and not rotated and not _WILD.search(part)
        name = fill(part, values) if exact else ""
        pattern = _pattern(part, values, rotated)
        for each in found:
            try:
                if exact:
                    path = f"{each.path}/{name}"
                    if not last or self._roots.exists(path):
                        yield Found(path, each.rank)
                    continue
                names = self._names(each.path or "/")
            except NotFound:
                continue
            except ConnectorError as error:
                if len(found) == 1:
                    raise
                self.errors.append(error)  # such as one user's link that leads elsewhere
                continue
            for name in names:
                match = pattern.match(name)
                if match is None or name.startswith(".") > part.startswith("."):
                    continue
                rank = int(match.group("rank")) if open_rank else each.rank
                if each.rank is None or rank == each.rank:
                    yield Found(f"{each.path}/{name}", rank)

    def _names(self, folder: str) -> list[str]:
        if folder not in self._listed:
            self._listed[folder] = self._roots.names_in(folder)
        return self._listed[folder]


def _pattern(part: str, values: dict[str, str], rotated: bool) -> re.Pattern[str]:
    """A pattern for names in a folder. Names are short and stars few, so matching stays cheap."""
    pieces = []
    seen_rank = False
    for piece in re.split(r"(\{[^{}]*\}|\*|\?|\[[^\]]*\])", part):
        if piece == _RANK and "rank" not in values:
            pieces.append("(?P=rank)" if seen_rank else "(?P<rank>[0-9]{1,7})")
            seen_rank = True
        elif piece.startswith("{"):
            pieces.append(re.escape(fill(piece, values)))
        elif piece in {"*", "?"} or piece.startswith("["):
            pieces.append(fnmatch.translate(piece).removeprefix("(?s:").removesuffix(r")\Z"))
        else:
            pieces.append(re.escape(piece))
    kin = rf"(?:{_NUMBER}|{_DATE})?{_PACKED}" if rotated else ""
    return re.compile("".join(pieces) + kin + r"\Z", re.DOTALL)


def in_order(paths: list[str]) -> list[tuple[str, tuple[str, ...]]]:
    """Group a log with its rotated files: (name of the log, its files from the oldest to the newest)."""
    groups: dict[str, list[str]] = {}
    for path in paths:
        groups.setdefault(_split(path).group("base"), []).append(path)
    return [(base, tuple(sorted(members, key=_age))) for base, members in sorted(groups.items())]


def _split(path: str) -> re.Match[str]:
    match = _ROTATED.match(path)
    assert match is not None, "the pattern matches every path"
    return match


def _age(path: str) -> tuple[int, int, str]:
    match = _split(path)
    if match.group("date"):
        return (0, int(re.sub(r"[.-]", "", match.group("date")).ljust(18, "0")[:18]), path)
    if match.group("number"):
        return (1, -int(match.group("number")[1:]), path)
    return (2, 0, path)
