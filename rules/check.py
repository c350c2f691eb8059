"""``rules check``: does a pack hold what it promises? Every finding names file, line and rule.

Beside what loading already refuses (unknown causes and names, patterns that are not linear, open-ended or cross
lines) this runs each rule's own examples and small bundles, and looks for rules that can never speak, circles of
explanation in which no edge has a condition of place or time, and two rules that set each other aside.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import yaml

from rules import patterns
from rules.attribution import attribute
from rules.pack import Fault, Pack, Signature
from rules.schema import BundleExample, RuleModel
from rules.signals import read_fields
from telemetry.bundle import open_bundle


def check(pack: Pack) -> list[Fault]:
    found: list[Fault] = []
    for signature in pack.signatures:
        found += _examples(pack, signature)
    for rule in pack.rules:
        found += _reachable(pack, rule)
        for number, example in enumerate(rule.bundles, 1):
            found += _bundle(pack, rule, number, example)
    found += _circles(pack)
    found += _mutual(pack)
    return found


def _at(pack: Pack, rule: RuleModel, text: str) -> Fault:
    file, line = pack.where(rule.rule)
    return Fault(file, line, f"rule {rule.rule}: {text}")


def _above(line: str | None) -> Callable[[str], dict[str, str]] | None:
    """Stands in for the earlier line of a log that a signature's header looks for."""
    if line is None:
        return None
    return lambda header: patterns.named_groups(header, line.encode()) or {}


def _examples(pack: Pack, signature: Signature) -> Iterator[Fault]:
    model = signature.model
    if model.derived:
        return
    scan = patterns.compiled(patterns.for_scan(model.pattern))
    if not model.examples.match:
        yield _at(pack, signature.rule, f"signature {model.id} has no example line that must match")
    for example in model.examples.match:
        text = example.line.encode()
        fields = read_fields(signature, text, _above(example.above))
        if fields is None or not scan.search(text):
            yield _at(pack, signature.rule, f"signature {model.id} does not match its example {example.line[:120]!r}")
            continue
        for name, wanted in example.fields.items():
            if fields.get(name) != wanted:
                yield _at(
                    pack, signature.rule, f"signature {model.id}: field {name} is {fields.get(name)!r}, not {wanted!r}"
                )
    for line in model.examples.no_match:
        if read_fields(signature, line.encode()) is not None:
            yield _at(pack, signature.rule, f"signature {model.id} matches what it must not: {line[:120]!r}")


def _reachable(pack: Pack, rule: RuleModel) -> Iterator[Fault]:
    """A rule that decides nothing, explains nothing and that nothing reaches is never heard."""
    if rule.standing == "context" or rule.is_cause:
        return
    reached = any(rule.rule in pack.reached(name) for other in pack.rules for e in other.explains for name in e.effects)
    usual = {"peer_loss", "collective_wait", "rank_abort", "teardown", "job_end"} & set(rule.groups)
    if not (reached or usual or rule.rivals or rule.explains):
        yield _at(pack, rule, "is unreachable: a symptom that no rule explains, in no group, with no rivals")


def _bundle(pack: Pack, rule: RuleModel, number: int, example: BundleExample) -> Iterator[Fault]:
    name = example.name or f"bundle {number}"
    with tempfile.TemporaryDirectory(prefix="first-fault-check-") as folder:
        root = Path(folder)
        for file, text in example.files.items():
            target = (root / file).resolve()
            if root.resolve() not in target.parents:
                yield _at(pack, rule, f"{name}: {file} leaves the bundle")
                return
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        if example.job:
            (root / "incident.yaml").write_text(yaml.safe_dump({"job": example.job}), encoding="utf-8")
        verdict = attribute(open_bundle(root), pack)
    expect = example.expect
    for key in ("outcome", "cause", "terminal_state"):
        if key in expect and verdict[key] != expect[key]:
            yield _at(pack, rule, f"{name}: {key} is {verdict[key]!r}, not {expect[key]!r}")
    if "culprits" in expect:
        nodes = sorted({c["node"] for c in verdict["culprits"] if c["node"]})
        wanted = sorted(str(n) for n in _listed(expect["culprits"]))
        if nodes != wanted:
            yield _at(pack, rule, f"{name}: culprits are {nodes}, not {wanted}")
    if "alternatives" in expect:
        causes = sorted({a["cause"] for a in verdict["alternatives"]})
        if causes != sorted(str(c) for c in _listed(expect["alternatives"])):
            yield _at(pack, rule, f"{name}: alternatives are {causes}, not {expect['alternatives']}")


def _listed(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _unconditional(pack: Pack) -> dict[str, set[str]]:
    """Explanations that hold for any place and any time, between rules."""
    edges: dict[str, set[str]] = {}
    for rule in pack.rules:
        for explains in rule.explains:
            if explains.where in ("same_job", "anywhere") and explains.within is None:
                for name in explains.effects:
                    edges.setdefault(rule.rule, set()).update(pack.reached(name) - {rule.rule})
    return edges


def _circles(pack: Pack) -> Iterator[Fault]:
    edges = _unconditional(pack)
    done: set[str] = set()

    def walk(name: str, path: list[str]) -> list[str] | None:
        if name in path:
            return path[path.index(name) :]
        if name in done:
            return None
        for follow in sorted(edges.get(name, ())):
            if circle := walk(follow, [*path, name]):
                return circle
        done.add(name)
        return None

    for rule in pack.rules:
        circle = walk(rule.rule, [])
        if circle:
            yield _at(
                pack,
                pack.by_id[circle[0]],
                f"explains itself with no condition of place or time: {' -> '.join([*circle, circle[0]])}",
            )
            return


def _mutual(pack: Pack) -> Iterator[Fault]:
    sets_aside: dict[str, set[str]] = {}
    for rule in pack.rules:
        for clause in rule.overrules:
            for name in clause.rules:
                sets_aside.setdefault(rule.rule, set()).update(pack.reached(name) - {rule.rule})
    for name, others in sorted(sets_aside.items()):
        for other in sorted(others):
            if name < other and name in sets_aside.get(other, ()):
                yield _at(pack, pack.by_id[name], f"it and {other} overrule each other")
