"""Reading the documents: sections, the tables in them, examples, links."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))

_HEADING = re.compile(r"^(#{1,4}) +(.+?) *$", re.M)
_FENCED = re.compile(r"^( *)```(\w*)\n(.*?)^\1```", re.M | re.S)
_LINK = re.compile(r"\]\(([^)\s]+)\)")


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def without_code(text: str) -> str:
    return _FENCED.sub("", text)


def section(name: str, heading: str, within: str = "") -> str:
    """The text below a heading, to the next heading of any depth; `within` names a heading that stands above it."""
    text = without_code(text_of(name))
    heads = list(_HEADING.finditer(text))
    begin = next((at for at, head in enumerate(heads) if head[2] == within), 0) if within else 0
    for at in range(begin, len(heads)):
        if heads[at][2] == heading:
            end = heads[at + 1].start() if at + 1 < len(heads) else len(text)
            return text[heads[at].end() : end]
    raise AssertionError(f"{name} has no section {heading!r}")


def rows(text: str) -> list[list[str]]:
    """The cells of the tables' rows, without their heads."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    heads = {at - 1 for at, row in enumerate(cells) if set("".join(row)) <= set("-: ")}
    return [row for at, row in enumerate(cells) if at not in heads and at - 1 not in heads]


def words(text: str) -> list[str]:
    """What stands in backticks in the first cells of the tables."""
    return [word for row in rows(text) for word in re.findall(r"`([^`]+)`", row[0])]


def examples(name: str, language: str) -> list[str]:
    """Fenced blocks in that language, without the indentation of the list that they stand in."""
    found = []
    for indent, tongue, body in _FENCED.findall(text_of(name)):
        if tongue == language:
            found.append("\n".join(line.removeprefix(indent) for line in body.splitlines()) + "\n")
    return found


def links(path: Path) -> list[str]:
    return _LINK.findall(without_code(path.read_text(encoding="utf-8")))


def anchors(path: Path) -> set[str]:
    """The names by which headings can be linked to, as common forges make them."""
    heads = [head[2] for head in _HEADING.finditer(without_code(path.read_text(encoding="utf-8")))]
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}
