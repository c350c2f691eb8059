"""Rule packs: folders of YAML in which each document is one fault.

``core_pack()`` is the one shipped; a site's local pack lies over it (``load_pack(core, local)``): a rule of the
same id replaces the core's, ``disable: [ids]`` in its pack.yaml switches rules off. A pack is loaded whole: every error
is collected, with file and line, and raised at once as ``PackError``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from rules import patterns, taxonomy
from rules.schema import GROUPS, RuleModel, SignatureModel

CORE = Path(__file__).parent / "packs" / "core"
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with a pack: where, and in words."""

    file: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text}"


class PackError(Exception):
    """A pack that cannot be used; ``faults`` lists everything found."""

    def __init__(self, faults: list[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in faults))


@dataclass(frozen=True, slots=True)
class Signature:
    """A signature with the rule that it belongs to. ``number`` is its Hyperscan id: its place in the pack."""

    model: SignatureModel
    rule: RuleModel
    number: int

    @property
    def id(self) -> str:
        return self.model.id

    def kinds(self) -> frozenset[str]:
        streams = self.model.streams
        if "any" in streams:
            return frozenset(("kernel", "applog", "fabric", "scheduler", "metrics"))
        return frozenset(streams)


@dataclass(frozen=True)
class Pack:
    name: str
    version: str
    rules: tuple[RuleModel, ...]
    places: dict[str, tuple[str, int]]
    sha256: str

    @cached_property
    def signatures(self) -> tuple[Signature, ...]:
        pairs = [(model, rule) for rule in self.rules for model in rule.signatures]
        return tuple(Signature(model, rule, number) for number, (model, rule) in enumerate(pairs))

    @cached_property
    def by_id(self) -> dict[str, RuleModel]:
        return {rule.rule: rule for rule in self.rules}

    def scanned(self, kind: str) -> tuple[Signature, ...]:
        """The signatures looked for in one kind of stream, in pack order."""
        return tuple(s for s in self.signatures if s.model.pattern and kind in s.kinds())

    def derived(self, name: str) -> tuple[Signature, ...]:
        return tuple(s for s in self.signatures if s.model.derived == name)

    @cached_property
    def _reach(self) -> dict[str, frozenset[str]]:
        """For each name that a rule file may use (rule, signature, @group): the rules that it reaches."""
        reach: dict[str, set[str]] = {}
        for rule in self.rules:
            for name in (rule.rule, *(s.id for s in rule.signatures), *(f"@{g}" for g in rule.groups)):
                reach.setdefault(name, set()).add(rule.rule)
        return {name: frozenset(rules) for name, rules in reach.items()}

    def reached(self, name: str) -> frozenset[str]:
        return self._reach.get(name, frozenset())

    def where(self, rule: str) -> tuple[str, int]:
        return self.places.get(rule, ("?", 0))


@dataclass(frozen=True, slots=True)
class _Document:
    file: str
    line: int
    data: dict[str, Any]
    node: yaml.Node


def _documents(file: Path, shown: str, faults: list[Fault]) -> Iterator[_Document]:
    try:
        text = file.read_text(encoding="utf-8")
        for node in yaml.compose_all(text, Loader=_Loader):
            data = yaml.SafeLoader("").construct_document(node)
            line = node.start_mark.line + 1
            if isinstance(data, dict):
                yield _Document(shown, line, data, node)
            else:
                faults.append(Fault(shown, line, "a rule document is a mapping that begins with `rule:`"))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        faults.append(Fault(shown, mark.line + 1 if mark else 1, f"not YAML: {error.problem}"))
    except (OSError, UnicodeDecodeError) as error:
        faults.append(Fault(shown, 1, f"cannot be read: {error}"))


def _line_of(node: yaml.Node, path: tuple[int | str, ...]) -> int:
    """The line in which the value at ``path`` begins, or of the nearest parent."""
    for step in path:
        found: yaml.Node | None = None
        if isinstance(node, yaml.MappingNode):
            found = next((value for key, value in node.value if key.value == step), None)
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            found = node.value[step]
        if found is None:
            break
        node = found
    return int(node.start_mark.line) + 1


def _rules(document: _Document, faults: list[Fault]) -> Iterator[RuleModel]:
    try:
        yield RuleModel.model_validate(document.data)
    except ValidationError as error:
        name = document.data.get("rule", "?")
        for problem in error.errors():
            path = tuple(problem["loc"])
            field = ".".join(str(part) for part in path)
            faults.append(
                Fault(document.file, _line_of(document.node, path), f"rule {name}: {field}: {problem['msg']}")
            )


def _references(
    rules: list[RuleModel], places: dict[str, tuple[str, int]], ever: set[str], faults: list[Fault]
) -> None:
    """Causes must be the taxonomy's; ids unique; names that rules point to must exist; patterns must be usable."""
    causes = taxonomy.causes()
    # A name that a lower pack has and a higher one took away stays known: it then reaches nothing.
    known = ever | {r.rule for r in rules} | {s.id for r in rules for s in r.signatures}
    groups = {f"@{g}" for r in rules for g in r.groups}
    seen: dict[str, str] = {}
    for rule in rules:
        at = places[rule.rule]

        def add(text: str, at: tuple[str, int] = at, name: str = rule.rule) -> None:
            faults.append(Fault(*at, f"rule {name}: {text}"))

        for cause in (rule.cause, *rule.rivals):
            if cause is not None and cause not in causes:
                add(f"unknown cause {cause!r}: the taxonomy has no such word")
        pointed = [n for e in rule.explains for n in e.effects] + [n for o in rule.overrules for n in o.rules]
        pointed += [n for r in rule.requires for n in r.any]
        for name in pointed:
            if name.startswith("@"):
                if name[1:] not in GROUPS and name not in groups:
                    add(f"unknown group {name!r}")
            elif name not in known:
                add(f"points to {name!r}, which is neither a rule nor a signature")
        for signature in rule.signatures:
            if signature.id in seen:
                add(f"signature id {signature.id!r} is used by rule {seen[signature.id]} too")
            seen[signature.id] = rule.rule
            for text in (
                signature.pattern,
                *signature.extract,
                signature.only or "",
                signature.unless or "",
                signature.header or "",
            ):
                if text and (why := _pattern_fault(text, text == signature.pattern)):
                    add(f"signature {signature.id}: {why}")
            if signature.clears and signature.clears not in known:
                add(f"signature {signature.id}: clears {signature.clears!r}, which does not exist")


def _pattern_fault(text: str, scanned: bool) -> str | None:
    if scanned:
        return patterns.fault_in(text)
    try:
        patterns.compiled(text)
    except Exception as error:  # re2.error carries bytes; its text is all that is wanted
        return f"RE2 refuses {text!r}: {error}"
    return None


def load_pack(*folders: Path, check: bool = True) -> Pack:
    """Packs laid one over the other, the last on top. Raises ``PackError`` with every fault found."""
    faults: list[Fault] = []
    rules: dict[str, RuleModel] = {}
    places: dict[str, tuple[str, int]] = {}
    digest = hashlib.sha256()
    names, versions = [], []
    ever: set[str] = set()
    for folder in folders:
        head = _head(folder, faults)
        names.append(str(head.get("name", folder.name)))
        versions.append(str(head.get("version", "0")))
        faults += [
            Fault(f"{folder.name}/pack.yaml", 1, f"switches off {name!r}, which no pack below has")
            for name in head.get("disable", ())
            if rules.pop(str(name), None) is None
        ]
        own: set[str] = set()
        for file in sorted(folder.rglob("*.yaml")):
            shown = f"{folder.name}/{file.relative_to(folder).as_posix()}"
            digest.update(shown.encode() + b"\0" + file.read_bytes() + b"\0")
            if file.name == "pack.yaml" and file.parent == folder:
                continue
            for document in _documents(file, shown, faults):
                for rule in _rules(document, faults):
                    if rule.rule in own:
                        faults.append(Fault(shown, document.line, f"rule {rule.rule} stands twice in this pack"))
                    own.add(rule.rule)
                    ever.update((rule.rule, *(s.id for s in rule.signatures)))
                    rules[rule.rule] = rule
                    places[rule.rule] = (shown, document.line)
    ordered = [rules[name] for name in sorted(rules) if rules[name].maturity != "deprecated"]
    if check:
        _references(ordered, places, ever, faults)
    if faults:
        raise PackError(faults)
    return Pack("+".join(names), "+".join(versions), tuple(ordered), places, digest.hexdigest())


def _head(folder: Path, faults: list[Fault]) -> dict[str, Any]:
    try:
        head = yaml.safe_load((folder / "pack.yaml").read_text(encoding="utf-8"))
        if isinstance(head, dict):
            return head
        faults.append(Fault(f"{folder.name}/pack.yaml", 1, "must be a mapping with name and version"))
    except (OSError, yaml.YAMLError) as error:
        faults.append(Fault(f"{folder.name}/pack.yaml", 1, f"cannot be read: {error}"))
    return {}


@cache
def core_pack() -> Pack:
    """The rules that First Fault ships with."""
    return load_pack(CORE, check=False)
