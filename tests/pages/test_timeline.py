"""The timeline's figure: what is drawn, where, and how much of it."""

import plotly.graph_objects as go
import pytest

from investigations.timeline import View, figure, timeline
from tests.pages import verdicts

EVERY = [verdicts.worked_example, verdicts.ambiguous, verdicts.insufficient, verdicts.no_failure]


def trace(drawn, name):
    return next(item for item in drawn.figure["data"] if item["name"] == name)


def lanes(drawn):
    return [lane.label for lane in drawn.lanes]


@pytest.mark.parametrize("make", EVERY)
@pytest.mark.parametrize("span", ["fault", "story", "job"])
@pytest.mark.parametrize("width", [260, 1000])
def test_every_figure_is_one_that_plotly_accepts(make, span, width):
    go.Figure(figure(make(), View(span=span, width=width)))


def test_the_culprit_comes_first_open_to_its_devices_and_the_scheduler_last():
    drawn = timeline(verdicts.worked_example(), View())
    assert lanes(drawn)[:2] == ["gpu-node-07", "GPU 3"]
    assert [lane.label for lane in drawn.lanes if lane.hot] == ["GPU 3"]
    assert lanes(drawn)[-1] == "Scheduler"


def test_the_node_of_the_first_symptom_follows_the_culprit():
    drawn = timeline(verdicts.worked_example(), View())
    assert [lane.label for lane in drawn.lanes if not lane.sub][1] == "gpu-node-05"


def test_a_folded_culprit_carries_the_fault_on_its_own_lane():
    drawn = timeline(verdicts.worked_example(), View(toggled=frozenset({"gpu-node-07"})))
    assert [lane.label for lane in drawn.lanes if lane.hot] == ["gpu-node-07"]
    assert "GPU 3" not in lanes(drawn)


def test_a_node_whose_log_is_missing_is_hatched_and_says_so():
    drawn = timeline(verdicts.worked_example(), View())
    assert [lane.label for lane in drawn.lanes if lane.blind] == ["gpu-node-08"]
    assert any(shape["type"] == "path" for shape in drawn.figure["layout"]["shapes"])


def test_the_lead_is_a_bracket_with_its_length():
    texts = [item["text"] for item in timeline(verdicts.worked_example(), View()).figure["layout"]["annotations"]]
    assert "3.2 s" in texts
    assert "10:02:11.418 first fault" in texts


def test_quiet_time_is_folded_in_the_story_and_its_length_written():
    texts = [item["text"] for item in timeline(verdicts.worked_example(), View()).figure["layout"]["annotations"]]
    assert any("with no event, folded" in text or text.endswith("folded") for text in texts)
    whole = timeline(verdicts.worked_example(), View(span="job")).figure["layout"]["annotations"]
    assert not any("folded" in item["text"] for item in whole)


def test_layers_differ_by_colour_and_by_shape():
    drawn = timeline(verdicts.worked_example(), View(span="job"))
    layers = [item for item in drawn.figure["data"] if item.get("customdata") and item["name"] != "First fault"]
    assert len({item["marker"]["symbol"] for item in layers}) == len(layers)


def test_colours_are_named_so_that_both_modes_can_resolve_them():
    text = str(figure(verdicts.worked_example(), View()))
    assert "var(--fault)" in text
    assert "#" not in text


def test_an_unknown_order_is_a_dashed_line_and_not_an_arrow():
    verdict = verdicts.worked_example()
    certain = timeline(verdict, View()).figure["layout"]
    for link in verdict["chain"]:
        link["order"] = "unknown"
    unknown = timeline(verdict, View()).figure["layout"]
    assert any(item["showarrow"] for item in certain["annotations"])
    assert not any(item["showarrow"] for item in unknown["annotations"])
    dashes = [shape for shape in unknown["shapes"] if shape.get("line", {}).get("dash") == "4px,3px"]
    assert len(dashes) > 1


def test_a_clock_that_is_off_is_told_and_its_marks_have_a_hollow_twin():
    drawn = timeline(verdicts.worked_example(), View(clock="logged"))
    assert "gpu-node-08 runs 3.9 s slow" in drawn.warning
    assert len(trace(drawn, "other clock")["x"]) == 1
    assert drawn.two_clocks


def test_the_strip_warns_when_the_clock_as_logged_turns_the_order_round():
    verdict = verdicts.worked_example()
    late = next(item for item in verdict["evidence"] if item["id"] == "E6")
    late["time_logged"] = "2026-03-11T10:02:10.900000Z"
    drawn = timeline(verdict, View(clock="logged"))
    assert "gpu-node-05 seems to fail 0.52 s before the first fault" in drawn.warning
    assert not drawn.quiet_warning


def test_a_clock_three_years_off_does_not_stretch_the_axis():
    verdict = verdicts.worked_example()
    verdict["evidence"][5]["time_logged"] = "2023-03-11T10:02:14.618000Z"
    drawn = timeline(verdict, View())
    assert drawn.length < 120
    assert "runs 1096 d slow" in drawn.warning
    assert "stand 1096 d too early" in drawn.warning
    assert not drawn.quiet_warning


def test_a_line_known_only_by_its_neighbours_is_not_drawn_before_the_fault():
    verdict = verdicts.worked_example()
    vague = next(item for item in verdict["evidence"] if item["id"] == "E6")
    vague |= {"time": "2026-03-11T10:01:58Z", "time_error": 616.0, "time_logged": None}
    drawn = timeline(verdict, View())
    fault = trace(drawn, "First fault")["x"][0]
    marks = trace(drawn, "Communication")
    at = next(x for x, ids in zip(marks["x"], marks["customdata"], strict=True) if "E6" in ids)
    assert at == pytest.approx(fault)
    assert drawn.length < 60


def test_evidence_without_a_time_is_counted_and_not_drawn():
    verdict = verdicts.worked_example()
    verdict["evidence"][6] |= {"time": None, "time_logged": None}
    assert timeline(verdict, View()).undated == 1


def test_nothing_is_drawn_when_no_line_carries_a_time():
    verdict = verdicts.insufficient()
    verdict["evidence"][0] |= {"time": None}
    assert timeline(verdict, View()) is None
    assert figure(verdict, View())["data"] == []


def test_a_thousand_nodes_are_folded_and_the_figure_stays_small():
    drawn = timeline(verdicts.crowded(), View())
    assert "1,022 more nodes" in lanes(drawn)
    assert sum(len(item["x"]) for item in drawn.figure["data"]) < 2000
    assert sum(1 for item in drawn.figure["layout"]["annotations"] if item["showarrow"]) <= 100


def test_no_evidence_is_lost_when_marks_are_folded():
    drawn = timeline(verdicts.crowded(signals=3000), View(span="story"))
    seen = {name for item in drawn.figure["data"] for ids in item.get("customdata", ()) for name in ids}
    folded = sum(1 for item in drawn.figure["data"] for ids in item.get("customdata", ()) if len(ids) == 50)
    assert len(seen) == 3001 or folded  # a mark names its first fifty


def test_a_window_shows_only_what_is_in_it_and_labels_it():
    whole = timeline(verdicts.worked_example(), View(span="fault"))
    fault = trace(whole, "First fault")["x"][0]
    near = timeline(verdicts.worked_example(), View(span="fault", start=fault - 0.001, end=fault + 0.002))
    names = {name for item in near.figure["data"] for ids in item.get("customdata", ()) for name in ids}
    assert names == {"E1", "E2", "E3"}
    assert near.window == "11 Mar 2026, 10:02:11.417 to 10:02:11.420 UTC"


def test_a_window_can_be_typed_as_two_times():
    query = {"since": "2026-03-11 10:02:11.000", "until": "2026-03-11 10:02:12"}
    drawn = timeline(verdicts.worked_example(), View.from_query(query))
    assert drawn.window == "11 Mar 2026, 10:02:11.000 to 10:02:12.000 UTC"
    assert View.from_query({"since": "yesterday", "until": "today"}).since is None


def test_hostile_text_stays_text():
    verdict = verdicts.worked_example()
    verdict["evidence"][0]["title"] = "<b>bold</b> <a href='https://example.org'>x</a>"
    text = str(figure(verdict, View()))
    assert "<b>" not in text
    assert "<a" not in text


@pytest.mark.parametrize(
    "query", [{"start": "nan", "end": "1"}, {"start": "5", "end": "2"}, {"span": "x"}, {"width": "-4"}]
)
def test_a_query_that_makes_no_sense_shows_the_whole_story(query):
    view = View.from_query(query)
    assert (view.span, view.start) == ("story", None)
    assert view.width >= 200


def test_no_text_stands_inside_the_plot_on_a_phone():
    narrow = timeline(verdicts.worked_example(), View(width=260)).figure["layout"]["annotations"]
    assert not any("XID" in item["text"] for item in narrow)
