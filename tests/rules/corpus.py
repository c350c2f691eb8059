"""The benign corpus: real lines of healthy jobs and nodes, and how its lines and kinds of line are counted."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Final, NamedTuple

import yaml

BENIGN: Final = Path(__file__).parents[1] / "data" / "benign"
INDEX: Final = BENIGN / "INDEX.tsv"
KNOWN_HITS: Final = BENIGN / "known_hits.yaml"

# What differs between two lines of one kind. Quoted text, paths, and words that hold a digit or are joined by signs are
# names: of files, hosts, packages, modules, functions, settings.
_MASKS: Final = (
    (re.compile(r"\x1b\[[0-9;]*m"), ""),
    (re.compile(r"\"[^\"]*\"|'[^']*'|`[^`']*[`']"), '"'),
    (re.compile(r"[\w.+-]*:?/[^\s:,;)\]}]*"), "/"),
    (re.compile(r"\b[0-9a-fA-F]{6,}\b|[\w.+:@%~-]*\d[\w.+:@%~-]*"), "#"),
    (re.compile(r"\b\w+(?:[._+@~-]\w+)+\b|\b_+\w+\b"), "~"),
    (re.compile(r"\b[a-z]+[A-Z]\w*\b"), "~"),
    (re.compile(r"([\"/#~])(?:[\s,;:|=*()\[\]{}<>.+-]*[\"/#~])+"), r"\1"),
    (re.compile(r"[^\w\"/#~]+"), " "),
)


class File(NamedTuple):
    name: str
    kinds: tuple[str, ...]
    lines: int
    templates: int
    origin: str

    @property
    def path(self) -> Path:
        return BENIGN / self.name


class KnownHit(NamedTuple):
    rule: str
    reason: str


def template(line: str) -> str:
    """A line with its numbers, hex, quoted texts, paths and names masked; "" when no word is left."""
    for pattern, mask in _MASKS:
        line = pattern.sub(mask, line[:600])
    return line.strip() if re.search(r"[A-Za-z]{3}", line) else ""


def files() -> list[File]:
    with INDEX.open(newline="") as rows:
        return [
            File(r["file"], tuple(r["kinds"].split(",")), int(r["lines"]), int(r["templates"]), r["origin"])
            for r in csv.DictReader(rows, delimiter="\t")
        ]


def known_hits() -> list[KnownHit]:
    entries = yaml.safe_load(KNOWN_HITS.read_text()) or []
    return [KnownHit(entry["rule"], entry["reason"]) for entry in entries]


def lines_of(file: File) -> list[str]:
    return file.path.read_text(encoding="utf-8", errors="replace").splitlines()
