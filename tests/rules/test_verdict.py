"""What every verdict promises, whatever the bundle: its shape, its determinism, and what it never looks at."""

import json
import shutil

import jsonschema
import pytest
import yaml

from rules import attribute_path, verdict_schema
from tests.rules.bundles import JOB, QUIET, XID_79, copied, job_of, samples, written


@pytest.mark.parametrize("bundle", samples(), ids=lambda path: path.name)
def test_a_verdict_holds_to_the_published_schema(bundle):
    verdict = attribute_path(bundle)
    jsonschema.Draft202012Validator(verdict_schema()).validate(json.loads(verdict.as_json()))


@pytest.mark.parametrize("bundle", samples(), ids=lambda path: path.name)
def test_renaming_the_folder_and_shuffling_the_label_into_the_incident_changes_no_byte(bundle, tmp_path):
    before = attribute_path(bundle).as_json()
    copy = copied(bundle, tmp_path / "hw-xid79-gpu-fell-off-bus-gpu-node-07")
    incident = job_of(bundle)
    label = {"outcome": "attributed", "cause": "gpu_thermal", "culprits": [{"node": "elsewhere"}]}
    mixed = {
        "title": "GPU thermal",
        "label": label,
        "job": dict(reversed(incident["job"].items())),
        "source": "x",
        "id": "y",
    }
    (copy / "incident.yaml").write_text(yaml.safe_dump(mixed, sort_keys=False))
    assert attribute_path(copy).as_json() == before


@pytest.mark.parametrize("bundle", samples(), ids=lambda path: path.name)
def test_every_evidence_line_can_be_found_where_the_verdict_says(bundle):
    from telemetry.bundle import open_bundle
    from telemetry.formats.records import records

    opened = open_bundle(bundle)
    streams = {stream.path: stream for stream in opened.streams}
    for entry in attribute_path(bundle)["evidence"]:
        stream = streams.get(entry["stream"])
        if stream is None or records(stream) is not None:
            continue
        line = stream.lines(entry["line"], 1)[0]
        assert line.offset == entry["offset"]
        assert line.text.decode("utf-8", "replace").rstrip("\r").startswith(entry["text"][:200])


def test_the_same_bundle_read_twice_gives_the_same_bytes(tmp_path):
    bundle = samples()[0]
    assert attribute_path(bundle).as_json() == attribute_path(copied(bundle, tmp_path / "b")).as_json()


def test_a_folder_that_is_not_there_gives_a_verdict_shaped_answer_that_abstains(tmp_path):
    verdict = attribute_path(tmp_path / "gone")
    assert verdict["error"]["remedy"]
    assert verdict["outcome"] == "insufficient_evidence"
    jsonschema.Draft202012Validator(verdict_schema()).validate(json.loads(verdict.as_json()))


def test_every_evidence_reference_points_to_evidence_that_is_listed():
    for bundle in samples():
        verdict = attribute_path(bundle)
        known = {entry["id"] for entry in verdict["evidence"]}
        named = {
            i for part in ("reasons", "alternatives", "rejected") for item in verdict[part] for i in item["evidence"]
        }
        named |= {link[end] for link in verdict["chain"] for end in ("from", "to")}
        assert named <= known


@pytest.mark.parametrize("bundle", samples(), ids=lambda path: path.name)
def test_taking_a_source_away_never_makes_another_confident_cause(bundle, tmp_path):
    whole = attribute_path(bundle)
    for source in ("scheduler", "applog", "syslog", "fabric", "metrics"):
        if not (bundle / source).is_dir():
            continue
        copy = copied(bundle, tmp_path / source)
        shutil.rmtree(copy / source)
        without = attribute_path(copy)
        if without["outcome"] in ("attributed", "no_failure"):
            assert (without["outcome"], without["cause"]) == (whole["outcome"], whole["cause"])


def test_a_missing_node_log_is_named_and_what_it_could_hide_is_said(tmp_path):
    bundle = written(tmp_path / "b", {"syslog/n1.log": XID_79, "applog/out.log": "done\n"}, **JOB)
    syslog = next(c for c in attribute_path(bundle)["coverage"] if c["source"] == "syslog")
    assert syslog["status"] == "partial"
    assert syslog["nodes_missing"] == ["n2"]
    assert syslog["could_have_shown"]


def test_a_self_standing_fault_is_attributed_though_another_node_was_not_seen(tmp_path):
    bundle = written(tmp_path / "b", {"syslog/n1.log": QUIET.replace("{n}", "n1") + XID_79}, **JOB)
    verdict = attribute_path(bundle)
    assert (verdict["outcome"], verdict["cause"]) == ("attributed", "gpu_fell_off_bus")
    assert [c["node"] for c in verdict["culprits"]] == ["n1"]


def test_a_completed_job_has_no_failure_whatever_was_logged(tmp_path):
    bundle = written(tmp_path / "b", {"syslog/n1.log": XID_79}, **{**JOB, "state": "COMPLETED", "exit_code": "0:0"})
    verdict = attribute_path(bundle)
    assert verdict["outcome"] == "no_failure"
    assert verdict["rejected"][0]["cause"] == "gpu_fell_off_bus"


def test_a_fault_on_a_node_that_the_job_did_not_use_is_rejected_with_the_reason(tmp_path):
    other = XID_79.replace(" n1 ", " n9 ")
    bundle = written(tmp_path / "b", {"syslog/n1.log": QUIET.replace("{n}", "n1"), "syslog/n9.log": other}, **JOB)
    verdict = attribute_path(bundle)
    assert verdict["outcome"] == "insufficient_evidence"
    assert "not on one of the job's machines. It was n9." in verdict["rejected"][0]["why"]


def test_a_fault_after_the_end_is_no_cause(tmp_path):
    late = XID_79.replace("T10:30", "T12:30")
    bundle = written(tmp_path / "b", {"syslog/n1.log": QUIET.replace("{n}", "n1") + late}, **JOB)
    verdict = attribute_path(bundle)
    assert verdict["outcome"] != "attributed"
    assert "after the job had ended" in verdict["rejected"][0]["why"]


@pytest.mark.parametrize("bundle", samples(), ids=lambda path: path.name)
def test_a_site_that_names_its_zone_gets_the_same_answer(bundle, tmp_path):
    copy = copied(bundle, tmp_path / "b")
    incident = job_of(bundle)
    incident["job"]["timezone"] = "UTC"
    (copy / "incident.yaml").write_text(yaml.safe_dump(incident))
    before, after = attribute_path(bundle), attribute_path(copy)
    assert (after["outcome"], after["cause"]) == (before["outcome"], before["cause"])
