"""Metrics as records, from what Prometheus 2.42 answered."""

from telemetry.formats.records import records
from tests.telemetry.files import recorded_stream


def found(name: str):
    return list(records(recorded_stream(f"prometheus/{name}")) or [])


def test_a_gpu_is_one_series_whatever_labels_came_and_went() -> None:
    series = [record for record in found("range.DCGM_FI_DEV_XID_ERRORS.json") if record.text.startswith("metric ")]
    places = [(record.node, record.fields["device"]) for record in series]
    assert len(places) == len(set(places)) == 12


def test_changes_of_the_last_xid_lie_between_two_points() -> None:
    changes = [r for r in found("range.DCGM_FI_DEV_XID_ERRORS.json") if r.text.startswith("metric_change ")]
    told = {(r.node, r.fields["device"], r.fields["from"], r.fields["to"]) for r in changes}
    assert ("node02", "0", "0", "48") in told
    assert ("node02", "0", "48", "63") in told
    first = next(record for record in changes if record.fields["to"] == "48")
    assert first.text == "metric_change name=DCGM_FI_DEV_XID_ERRORS node=node02 device=0 from=0 to=48"
    assert first.precision == 10.0


def test_a_gpu_that_vanishes_ends_early_while_its_neighbours_go_on() -> None:
    early = {record.fields["device"]: int(record.fields["ended_early"]) for record in found("range.vanishing_gpu.json")}
    assert early == {"0": 0, "1": 195, "2": 0, "3": 0}


def test_a_temperature_is_summed_up_and_its_changes_are_no_events() -> None:
    temperatures = found("range.DCGM_FI_DEV_GPU_TEMP.json")
    assert {record.text.split(" ")[0] for record in temperatures} == {"metric"}
    assert all("max" in record.fields for record in temperatures)


def test_infinite_and_missing_values_are_tolerated() -> None:
    assert all("nan" not in record.text.lower().replace("name", "") for record in found("range.inf_nan.json"))


def test_an_error_answer_is_a_problem() -> None:
    stream = recorded_stream("prometheus/error.parse.json")
    assert list(records(stream) or []) == []
    assert "parse error" in stream.problems[0].what
