"""Healthy jobs and nodes show no fault, also when the job that is asked about did fail."""

from __future__ import annotations

import functools
import shutil
import tempfile
from pathlib import Path

import pytest
import yaml

from rules import attribute, core_pack
from rules import faults as faulting
from rules.attribution import scanner_for
from rules.observation import observe
from telemetry.bundle import open_bundle
from tests.rules.corpus import BENIGN, File, files, known_hits, lines_of, template

CASES = [pytest.param(file, kind, id=f"{file.name}-{kind}") for file in files() for kind in file.kinds]
UNKNOWN_END: dict[str, object] = {}
FAILED: dict[str, object] = {"id": "4711", "scheduler": "slurm", "state": "FAILED", "exit_code": "1:0"}


def bundle_of(root: Path, placed: list[tuple[File, str]], job: dict[str, object]) -> Path:
    for file, kind in placed:
        (root / kind).mkdir(exist_ok=True)
        shutil.copy(file.path, root / kind / file.name)
    if job:
        (root / "incident.yaml").write_text(yaml.safe_dump({"job": job}))
    return root


def causes_and_hits(bundle: Path) -> tuple[list[str], set[str]]:
    """The faults that could be an answer, as "rule: line", and the names of all rules whose patterns hit."""
    observed = observe(open_bundle(bundle), core_pack(), scanner_for(core_pack()))
    faults = faulting.build(observed.signals, core_pack(), observed.topology)
    causes = [f"{fault.rule.rule}: {fault.first.text}" for fault in faults if fault.may_decide]
    return causes, {s.rule.rule for s in observed.signals if not s.signature.model.derived}


@functools.cache
def hits() -> dict[str, set[str]]:
    """Rule -> the files that hit it."""
    found: dict[str, set[str]] = {}
    for file in files():
        for kind in file.kinds:
            with tempfile.TemporaryDirectory() as folder:
                for rule in causes_and_hits(bundle_of(Path(folder), [(file, kind)], FAILED))[1]:
                    found.setdefault(rule, set()).add(file.name)
    return found


def test_the_corpus_holds_many_lines_of_many_kinds(capsys):
    lines = [line for file in files() for line in lines_of(file)]
    distinct, templates = set(lines), {template(line) for line in lines} - {""}
    with capsys.disabled():
        print(f"\nbenign corpus: {len(distinct)} different lines, {len(templates)} templates, {len(files())} files")
    assert len(distinct) >= 20_000
    assert len(templates) >= 1_500


def test_every_file_has_its_origin_and_its_numbers_in_the_index():
    assert sorted(f.name for f in files()) == sorted(
        p.name for p in BENIGN.iterdir() if p.suffix in (".log", ".txt", ".json")
    )
    for file in files():
        assert file.origin
        lines = lines_of(file)
        assert (len(lines), len({template(line) for line in lines})) == (file.lines, file.templates), file.name
        assert file.path.stat().st_size < 500_000


@pytest.mark.parametrize("job", [UNKNOWN_END, FAILED], ids=["unknown end", "failed"])
@pytest.mark.parametrize(("file", "kind"), CASES)
def test_a_healthy_log_shows_no_fault(file, kind, job, tmp_path):
    bundle = bundle_of(tmp_path, [(file, kind)], job)
    causes, _ = causes_and_hits(bundle)
    assert causes == []
    verdict = attribute(open_bundle(bundle))
    assert verdict["outcome"] in ("insufficient_evidence", "no_failure")
    assert verdict["culprits"] == []


def test_all_healthy_logs_of_a_failed_job_together_show_no_fault(tmp_path):
    placed = [(file, kind) for file in files() for kind in file.kinds if not file.name.startswith("sacct")]
    bundle = bundle_of(tmp_path, placed, FAILED)
    assert causes_and_hits(bundle)[0] == []
    assert attribute(open_bundle(bundle))["outcome"] == "insufficient_evidence"


def test_every_hit_in_a_healthy_log_is_known():
    known = {entry.rule for entry in known_hits()}
    assert {rule: sorted(names) for rule, names in hits().items() if rule not in known} == {}


def test_every_known_hit_still_occurs_and_has_its_reason():
    for entry in known_hits():
        assert entry.rule in hits(), f"{entry.rule} hits nothing any more: take it out"
        assert len(entry.reason) > 10
