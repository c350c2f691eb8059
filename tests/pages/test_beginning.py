"""What the timeline says of the beginning: a time only where it is known, an interval or candidates where it is not."""

from typing import Any

import plotly.graph_objects as go
import pytest

from investigations.reading import answer, trail
from investigations.reading.beginning import beginning
from investigations.timeline import View, timeline
from tests.pages import verdicts

HOT = "var(--fault)"


def a_vague_fault() -> dict[str, Any]:
    """Attributed, but the line of the cause has no time of its own: 05:07:08 to 05:12:52."""
    verdict = verdicts.verdict(outcome="attributed", cause="missing_file", title="A file is not there")
    vague = {"source": "applog", "stream": verdicts.APPLOG, "time_error": 172.0, "time_logged": None}
    verdict["evidence"] = [
        verdicts.evidence(1, "cause", "File not found", "application", "05:10:00", node="gpu-node-05", **vague),
        verdicts.evidence(2, "symptom", "Worker died", "application", "05:10:00", node="gpu-node-06", **vague),
    ]
    return verdict


def one_clock_seven_hours_off(outcome: str = "attributed") -> dict[str, Any]:
    """A node's system log runs 7 h slow; the job's output does not."""
    verdict = verdicts.verdict(outcome=outcome, cause="gpu_driver_fault", title="GPU driver fault")
    verdict["job"] |= {"started": "2026-03-11T13:50:00Z", "ended": "2026-03-11T14:20:30Z"}
    off = {"node": "gpu-node-05", "time_error": 1.0}
    verdict["evidence"] = [
        verdicts.evidence(
            1, "cause", "Driver gave up", "gpu", "13:58:21", **off, time_logged="2026-03-11T06:58:21.000000Z"
        ),
        verdicts.evidence(
            2, "symptom", "Reset failed", "gpu", "13:58:52", **off, time_logged="2026-03-11T06:58:52.000000Z"
        ),
        verdicts.evidence(
            3, "symptom", "Job aborted", "application", "14:20:00", source="applog", stream=verdicts.APPLOG, **off
        ),
    ]
    basis = "the only whole hour that lays its lines into the job's time"
    verdict["clocks"] = [{"node": "gpu-node-05", "offset_seconds": -25200.0, "error_seconds": 0.0, "basis": basis}]
    if outcome == "attributed":
        verdict |= {"first_fault_at": "2026-03-11T13:58:21Z", "first_fault_error": 1.0}
    else:
        places = [{"node": "gpu-node-05", "device": None}]
        both = {"sub_domain": "gpu", "culprits": places, "evidence": ["E1"], "why": "Fits."}
        verdict["alternatives"] = [
            both | {"cause": "gpu_driver_fault", "title": "GPU driver fault"},
            both | {"cause": "gpu_firmware_failure", "title": "GPU firmware failure"},
        ]
    return verdict


def texts(drawn: Any) -> list[str]:
    return [item["text"] for item in drawn.figure["layout"]["annotations"] if item["text"]]


def names(drawn: Any) -> list[str]:
    return [item["name"] for item in drawn.figure["data"]]


def lines_through(drawn: Any) -> list[dict[str, Any]]:
    """The vertical lines of the ruler that are not folds."""
    shapes = drawn.figure["layout"]["shapes"]
    return [s for s in shapes if s.get("yref") == "paper" and s["line"].get("color") in (HOT, "var(--warn)")]


@pytest.mark.parametrize("span", ["fault", "story", "job"])
@pytest.mark.parametrize("clock", ["logged", "corrected"])
@pytest.mark.parametrize(
    "make", [a_vague_fault, one_clock_seven_hours_off, lambda: one_clock_seven_hours_off("ambiguous")]
)
def test_every_one_is_a_figure_that_plotly_accepts(make, span, clock):
    drawn = timeline(make(), View(span=span, clock=clock))
    go.Figure(drawn.figure)


# A fault whose time is not known


def test_a_fault_of_unknown_time_is_told_as_an_interval_and_never_as_a_time():
    drawn = timeline(a_vague_fault(), View())
    assert drawn.caption.startswith("The first fault came some time between 05:07:08 and 05:12:52, ")
    assert "first fault: some time between 05:07:08 and 05:12:52" in texts(drawn)
    assert not any("05:10:00" in text for text in texts(drawn))


@pytest.mark.parametrize("span", ["fault", "story", "job"])
def test_the_whole_interval_is_drawn_as_a_band_with_both_its_ends(span):
    verdict = a_vague_fault()
    verdict["job"] |= {"started": None, "ended": None}
    drawn = timeline(verdict, View(span=span))
    left, right = sorted(shape["x0"] for shape in lines_through(drawn))
    assert right - left == pytest.approx(344)
    assert all(shape["line"]["dash"] for shape in lines_through(drawn))
    assert any(s["type"] == "rect" and (s["x0"], s["x1"]) == (left, right) for s in drawn.figure["layout"]["shapes"])
    assert drawn.start <= left
    assert right <= drawn.end


def test_a_known_fault_keeps_one_solid_line_and_no_band():
    (line,) = lines_through(timeline(verdicts.worked_example(), View()))
    assert line["line"].get("dash") is None


def test_the_facts_beside_the_answer_say_the_same_interval():
    assert ("First fault", "between 05:07:08 and 05:12:52 UTC") in answer.answer(a_vague_fault()).facts


def test_what_follows_a_fault_of_unknown_time_is_listed_by_its_own_time_and_not_by_a_distance():
    verdict = a_vague_fault()
    verdict["evidence"][1] |= {"time": "2026-03-11T05:12:47Z", "time_error": 7.0}
    assert [row.after for row in trail.rows(verdict)] == ["±3 min", "05:12:47"]


def test_an_interval_over_midnight_names_the_days():
    verdict = a_vague_fault()
    verdict["evidence"][0]["time"] = "2026-03-11T00:01:00Z"
    assert "between 10 Mar 23:58:08 and 11 Mar 00:03:52" in timeline(verdict, View()).caption


def test_a_time_that_is_given_but_hardly_known_is_an_interval_too():
    verdict = verdicts.worked_example() | {"first_fault_error": 120.0}
    drawn = timeline(verdict, View())
    assert "first fault: some time between 10:02:11 and 10:04:11" in texts(drawn)


def test_a_cause_whose_line_has_no_time_is_said_to_have_none():
    verdict = a_vague_fault()
    verdict["evidence"][0] |= {"time": None, "time_error": None}
    drawn = timeline(verdict, View())
    assert drawn.caption.startswith("The line of the first fault carries no time, 1 line of symptoms")
    assert lines_through(drawn) == []
    assert "First fault" not in names(drawn)


# Two causes that fit equally


def test_candidates_are_marked_and_nothing_is_called_the_first_fault():
    drawn = timeline(one_clock_seven_hours_off("ambiguous"), View(clock="corrected"))
    assert "First fault" not in names(drawn)
    assert HOT not in str(drawn.figure)
    (ring,) = [item for item in drawn.figure["data"] if item["name"] == "Candidates"]
    (line,) = lines_through(drawn)
    assert ring["x"] == [line["x0"]]
    assert "13:58:21 2 candidates" in texts(drawn)
    assert not any("first fault" in text for text in texts(drawn))


def test_the_caption_of_an_ambiguous_verdict_tells_of_the_same_line():
    caption = timeline(one_clock_seven_hours_off("ambiguous"), View()).caption
    assert caption.startswith("2 causes fit equally; the line behind them is at 13:58:21 (logged as 06:58:21), ")


def test_the_lane_of_a_candidate_is_not_tinted_as_that_of_the_fault_is():
    suspected = [
        {"node": "gpu-node-05", "device": None, "kind": "node", "serial": None, "link_peer": None, "ranks": []}
    ]
    ambiguous = timeline(one_clock_seven_hours_off("ambiguous") | {"culprits": suspected}, View())
    assert not any(lane.hot for lane in ambiguous.lanes)
    assert ambiguous.lanes[0].label == "gpu-node-05"
    assert timeline(one_clock_seven_hours_off() | {"culprits": suspected}, View()).lanes[0].hot


def test_candidates_on_different_lines_are_each_marked():
    verdict = one_clock_seven_hours_off("ambiguous")
    verdict["evidence"][2]["role"] = "cause"
    verdict["alternatives"][1]["evidence"] = ["E3"]
    drawn = timeline(verdict, View(clock="corrected"))
    assert len(lines_through(drawn)) == 2
    assert {"13:58:21 candidate", "14:20:00 candidate"} <= set(texts(drawn))
    assert drawn.caption.startswith("2 causes fit equally; their lines are marked, the earliest at 13:58:21")


def test_the_list_of_evidence_calls_them_candidates_too():
    first, *_ = trail.rows(one_clock_seven_hours_off("ambiguous"))
    assert (first.role_word, first.kind, first.mark) == ("Candidate", "candidate", "gpu")


def test_candidates_without_a_line_of_their_own_are_counted_and_not_drawn():
    drawn = timeline(verdicts.ambiguous(), View())
    assert drawn.caption.startswith("2 causes fit equally, and no line stands as the first fault, ")
    assert lines_through(drawn) == []


def test_where_nothing_failed_no_line_is_the_first_fault():
    drawn = timeline(verdicts.no_failure(), View())
    assert "First fault" not in names(drawn)
    assert drawn.caption == "No fault; “Cancelled by its own user” is at 10:12:47."
    assert trail.rows(verdicts.no_failure())[0].role_word == "Cause"
    assert beginning(verdicts.no_failure()).kind == "none"


# A clock that is hours off


def test_as_logged_each_line_stands_where_the_log_put_it():
    drawn = timeline(one_clock_seven_hours_off(), View(clock="logged"))
    assert "06:58:21 as logged, first fault" in texts(drawn)
    assert any(label.startswith("06:58") for label in drawn.figure["layout"]["xaxis"]["ticktext"])
    assert "6:58" in drawn.window
    fault = next(item for item in drawn.figure["data"] if item["name"] == "First fault")["x"][0]
    effect = next(item for item in drawn.figure["data"] if item["name"] == "Application")["x"][0]
    assert fault < effect
    assert drawn.length < 7200  # the seven hours between are folded


def test_corrected_the_ruler_and_the_axis_are_in_corrected_time():
    drawn = timeline(one_clock_seven_hours_off(), View(clock="corrected"))
    assert "13:58:21 first fault" in texts(drawn)
    assert not any(label.startswith("06:") for label in drawn.figure["layout"]["xaxis"]["ticktext"])
    assert "06:58" not in drawn.window


def test_the_strip_tells_of_the_clock_that_is_chosen():
    logged = timeline(one_clock_seven_hours_off(), View(clock="logged")).warning
    assert logged == (
        "The clock of gpu-node-05 runs 7 h slow (from the only whole hour that lays its lines into the job's time). "
        "As logged, the lines of its system log stand 7 h too early; “Corrected” moves them."
    )
    corrected = timeline(one_clock_seven_hours_off(), View(clock="corrected")).warning
    assert corrected.endswith("The lines of its system log are moved by 7 h.")


def test_the_lane_tells_whole_hours_as_hours():
    drawn = timeline(one_clock_seven_hours_off(), View())
    assert [lane.note for lane in drawn.lanes if lane.odd_clock] == ["7 h slow"]


def test_the_job_span_folds_the_hours_between_two_clocks():
    drawn = timeline(one_clock_seven_hours_off(), View(span="job", clock="logged"))
    assert drawn.length < 7200
    assert any("folded" in text for text in texts(drawn))


def test_the_caption_names_both_times():
    assert timeline(one_clock_seven_hours_off(), View()).caption.startswith(
        "First fault at 13:58:21 (logged as 06:58:21), "
    )


def test_a_lead_is_no_bracket_between_two_clocks():
    verdict = one_clock_seven_hours_off() | {"lead_seconds": 1299.0}
    verdict["evidence"][2]["node"] = "gpu-node-06"
    assert "21 min 39 s" not in texts(timeline(verdict, View(clock="logged", span="job")))
    assert "21 min 39 s" in texts(timeline(verdict, View(clock="corrected", span="job", width=1400)))
