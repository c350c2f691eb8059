"""The command line: needs no database, broker, settings or environment, and answers in the order given."""

import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from tests.rules.bundles import SAMPLES, WORKED_EXAMPLE

ROOT = Path(__file__).parents[2]


def run(*arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(home)}
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_one_verdict_a_line_in_the_order_given_and_an_unreadable_folder_does_not_stop_the_others(tmp_path):
    paths = [str(SAMPLES / "job-119"), str(tmp_path / "nothing"), str(WORKED_EXAMPLE)]
    done = run("attribute", *paths, "--json", home=tmp_path)
    assert done.returncode == 0, done.stderr
    verdicts = [json.loads(line) for line in done.stdout.splitlines()]
    assert [v["job"]["id"] for v in verdicts] == ["119", None, "88213"]
    assert verdicts[1]["error"]["where"]
    assert verdicts[2]["cause"] == "gpu_link_signal_integrity"


def test_it_writes_nothing_but_its_pattern_cache(tmp_path):
    run("attribute", str(WORKED_EXAMPLE), home=tmp_path)
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert written
    assert {path.suffix for path in written} == {".hsdb"}


def test_a_damaged_cache_is_made_anew(tmp_path):
    first = run("attribute", str(WORKED_EXAMPLE), "--json", home=tmp_path)
    for file in tmp_path.rglob("*.hsdb"):
        file.write_bytes(file.read_bytes()[:100])
    assert run("attribute", str(WORKED_EXAMPLE), "--json", home=tmp_path).stdout == first.stdout


def test_the_report_names_culprit_and_action_for_a_person(tmp_path):
    done = run("attribute", str(WORKED_EXAMPLE), home=tmp_path)
    assert "gpu-node-07, GPU 3 (0000:5d:00)" in done.stdout
    assert "What to do: Drain the node" in done.stdout


def test_the_schema_is_printed(tmp_path):
    schema = json.loads(run("attribute", "--schema", home=tmp_path).stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert "insufficient_evidence" in schema["properties"]["outcome"]["enum"]


def test_no_path_is_an_error_that_says_what_to_do(tmp_path):
    done = run("attribute", home=tmp_path)
    assert done.returncode != 0
    assert "Name at least one bundle" in done.stderr


@pytest.mark.slow
def test_rules_check_passes_on_the_core_pack_and_says_how_much_it_ran(tmp_path):
    done = run("rules", "check", home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "rules," in done.stdout


def test_rules_explain_prints_how_the_verdict_came_about_with_each_rules_place(tmp_path):
    done = run("rules", "explain", str(WORKED_EXAMPLE), home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Outcome: attributed, gpu_link_signal_integrity" in done.stdout
    assert "decided by gpu_link_signal [gpu-node-07, 0000:5d:00" in done.stdout
    assert "core/fabric/nvlink5.yaml:" in done.stdout


def test_the_schema_of_a_rule_is_printed_for_editors(tmp_path):
    schema = json.loads(run("rules", "schema", home=tmp_path).stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert "signatures" in schema["properties"]
