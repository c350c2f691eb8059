"""Kubernetes and Kueue objects as records, from what Kubernetes 1.35 answered."""

import json
import time
from pathlib import Path

from telemetry.formats.record import Record
from telemetry.formats.records import records
from tests.telemetry.files import recorded, recorded_stream, stream_of


def texts(name: str) -> list[str]:
    return [record.text for record in records(recorded_stream(f"kubernetes/{name}")) or []]


def test_an_oom_killed_container_says_so_in_one_line() -> None:
    found = texts("oom.pods.json")
    assert found[0].startswith("pod name=oom-wg5bk node=node02 phase=Failed reason=- message=-")
    assert (
        "container pod=oom-wg5bk node=node02 name=trainer state=terminated last=0 init=0 reason=OOMKilled exit=137 "
        "signal=- restarts=0 message=-"
    ) in found


def test_an_eviction_names_who_wanted_it() -> None:
    assert any(
        text.startswith("condition object=Pod/evicted-zhbxr node=node02 type=DisruptionTarget status=True ")
        and "reason=TerminationByKubelet message=The node was low on resource" in text
        for text in texts("evicted.pods.json")
    )


def test_workload_conditions_are_records() -> None:
    assert any(
        "object=Workload/" in text and "type=Evicted status=True reason=Deactivated" in text
        for text in texts("workloads.json")
    )


def test_both_shapes_of_events_are_read_and_placed_on_the_pods_node() -> None:
    found = list(records(recorded_stream("kubernetes/events.k8s.io.json")) or [])
    scheduled = next(record for record in found if "reason=Scheduled" in record.text)
    assert (scheduled.node, scheduled.precision, scheduled.local) == ("node02", 1e-6, False)
    refused = next(record for record in found if "UnexpectedAdmissionError" in record.text)
    assert refused.node == "node02"
    assert refused.precision == 1.0


def test_a_pod_that_could_not_be_scheduled_is_on_no_node() -> None:
    found = records(recorded_stream("kubernetes/events.k8s.io.json")) or []
    assert {record.node for record in found if "reason=FailedScheduling" in record.text} == {None}


def test_records_know_their_line(tmp_path: Path) -> None:
    items = json.loads(recorded("kubernetes/pods.list.json"))["items"]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=1)
    stream = stream_of(tmp_path, text.encode(), "scheduler/pods.json")
    lines = text.split("\n")
    for record in records(stream) or []:
        if record.text.startswith("pod "):
            assert '"uid": "' in lines[record.line - 1]
            assert text[record.offset :].startswith(lines[record.line - 1])


def test_a_cut_list_gives_the_whole_objects_and_a_problem(tmp_path: Path) -> None:
    data = recorded("kubernetes/pods.list.json")
    stream = stream_of(tmp_path, data[: len(data) // 2], "scheduler/pods.json")
    found: list[Record] = list(records(stream) or [])
    assert len([record for record in found if record.text.startswith("pod ")]) > 3
    assert "cut" in stream.problems[0].what


def test_what_is_no_json_is_read_as_lines(tmp_path: Path) -> None:
    stream = stream_of(tmp_path, b'{"items": [', "scheduler/pods.json")
    assert records(stream) is None
    assert "not valid JSON" in stream.problems[0].what


def test_deep_nesting_does_not_end_the_reader(tmp_path: Path) -> None:
    assert records(stream_of(tmp_path, b"[" * 200_000, "scheduler/x.json")) is None


def test_many_objects_on_one_line_are_read_without_counting_it_again_for_each(tmp_path: Path) -> None:
    pods = [{"kind": "Pod", "metadata": {"name": f"p{n}"}, "status": {"phase": "Failed", "message": "m" * 200}}
            for n in range(12_000)]  # fmt: skip
    stream = stream_of(tmp_path, json.dumps({"kind": "List", "items": pods}).encode(), "scheduler/pods.json")
    begun = time.process_time()
    assert sum(1 for record in records(stream) or ()) == 12_000
    assert time.process_time() - begun < 3
