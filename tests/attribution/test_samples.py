"""The sample cluster: enough variety to show every kind of answer, and nothing that gives the answer away."""

from pathlib import Path

import pytest
import yaml

SAMPLES = Path(__file__).resolve().parents[2] / "investigations" / "samples"
INDEX = yaml.safe_load((SAMPLES / "index.yaml").read_text())


def test_every_bundle_is_listed_once():
    assert sorted(INDEX["bundles"]) == sorted(path.name for path in (SAMPLES / "bundles").iterdir())


@pytest.mark.parametrize("name", INDEX["bundles"])
def test_a_bundle_holds_a_job_and_telemetry_but_no_answer(name):
    bundle = SAMPLES / "bundles" / name
    incident = yaml.safe_load((bundle / "incident.yaml").read_text())
    assert set(incident) == {"job"}
    assert incident["job"]["cluster"] == INDEX["cluster"]["slug"]
    assert name == f"job-{incident['job']['id']}"
    streams = [
        path.relative_to(bundle).parts[0] for path in bundle.rglob("*") if path.is_file() and path.parent != bundle
    ]
    assert streams
    assert set(streams) <= {"scheduler", "applog", "syslog", "fabric", "metrics"}


def test_the_samples_show_every_outcome_and_most_kinds_of_fault():
    from rules import attribute, core_pack
    from telemetry.bundle import open_bundle

    verdicts = [attribute(open_bundle(SAMPLES / "bundles" / name), core_pack()) for name in INDEX["bundles"]]
    assert {verdict["outcome"] for verdict in verdicts} == {
        "attributed",
        "ambiguous",
        "insufficient_evidence",
        "no_failure",
    }
    assert len({verdict["sub_domain"] for verdict in verdicts}) >= 8
