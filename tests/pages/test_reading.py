"""A verdict in words: the sentence, the trail, the gaps, times, and log lines that cannot do harm."""

from types import SimpleNamespace

import pytest

from investigations.reading import answer, coverage, lines, times, trail, words
from tests.pages import verdicts


def test_only_the_culprit_of_the_sentence_is_set_apart():
    parts = answer.sentence(verdicts.worked_example())
    assert [part.text.replace("\N{NO-BREAK SPACE}", " ") for part in parts if part.culprit] == ["gpu-node-07, GPU 3"]
    assert "".join(part.text for part in parts).startswith("NVLink signal-integrity fault (XID 149) on ")


def test_a_culprit_that_is_part_of_a_device_is_found_in_the_sentence_too():
    verdict = verdicts.worked_example()
    verdict["culprits"][0]["device"] = "GPU 3 (0000:5d:00) link 8"
    assert any(part.culprit and "GPU" in part.text for part in answer.sentence(verdict))


def test_an_ambiguous_sentence_sets_nobody_apart():
    assert not any(part.culprit for part in answer.sentence(verdicts.ambiguous()))


def test_a_name_inside_a_longer_name_is_not_the_culprit():
    verdict = verdicts.worked_example()
    verdict["summary"] = "Fault on gpu-node-07, GPU 3; gpu-node-071 saw it."
    assert sum(part.culprit for part in answer.sentence(verdict)) == 1


def test_insufficient_evidence_says_what_to_collect():
    assert answer.answer(verdicts.insufficient()).action_title == "What to collect"


def test_candidates_stand_side_by_side_only_when_the_verdict_is_ambiguous():
    assert [c.cause for c in answer.answer(verdicts.ambiguous()).candidates] == ["gpu_hang", "data_loader_failure"]
    assert answer.answer(verdicts.worked_example()).candidates == ()


def test_the_trail_begins_with_the_cause_and_ends_with_what_is_beside_the_point():
    rows = trail.rows(verdicts.worked_example())
    assert [rows[0].id, rows[0].role_word, rows[-1].id] == ["E1", "First fault", "E10"]
    assert rows[0].after == "0"
    assert rows[1].after == "+0.9 ms"


def test_lines_of_one_kind_are_folded_and_counted():
    verdict = verdicts.insufficient()
    verdict["evidence"] = [
        verdicts.evidence(n + 1, "symptom", "Peer lost", "communication", "10:00:00", node=f"n{n % 4}", rank=n)
        for n in range(24)
    ]
    (row,) = trail.folded(trail.rows(verdict))
    assert (row.count, len(row.others), row.place) == (24, 23, "24 ranks on 4 nodes")


def test_a_link_of_unknown_order_gives_no_gap():
    rows = {row.id: row for row in trail.rows(verdicts.worked_example())}
    assert rows["E6"].link.gap == "+3.2 s"
    assert (rows["E7"].link.certain, rows["E7"].link.gap) == (False, "")


def test_a_missing_node_is_missing_and_never_clean():
    matrix = coverage.matrix(verdicts.worked_example())
    syslog = next(row for row in matrix.rows if row.source == "syslog")
    assert [cell.word for cell in syslog.cells] == ["complete", "complete", "complete", "missing"]
    assert syslog.total == "3 of 4"
    assert matrix.gaps[0].where == "System log of gpu-node-08 missing"


def test_a_thousand_nodes_show_only_those_with_a_gap():
    verdict = verdicts.crowded(nodes=1024, signals=1)
    verdict["coverage"][2] |= {"status": "partial", "nodes_missing": ["node0007"]}
    matrix = coverage.matrix(verdict)
    assert (len(matrix.nodes), matrix.hidden_nodes) == (1, 1023)


def test_a_gap_says_whether_it_could_change_the_answer():
    gaps = coverage.matrix(verdicts.ambiguous()).gaps
    assert [gap.could_change for gap in gaps] == [True, False, False]


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0, "0 s"),
        (0.0009, "0.9 ms"),
        (0.027, "27 ms"),
        (0.284, "0.28 s"),
        (3.2, "3.2 s"),
        (35.2, "35 s"),
        (597.2, "9 min 57 s"),
        (3960, "1 h 6 min"),
        (3 * 365 * 86400, "1095 d"),
    ],
)
def test_lengths_are_told_as_people_read_them(seconds, told):
    assert times.span(seconds) == told


def test_a_device_keeps_its_name_and_its_address_apart():
    assert words.device_name("GPU 3 (0000:5d:00)") == "GPU 3"
    assert words.device_address("GPU 3 (0000:5d:00)") == "0000:5d:00"
    assert words.device_key("GPU 3 (0000:5d:00) link 8") == words.device_key("GPU 3 (0000:5d:00)")
    assert words.device_name("mlx5_0") == "mlx5_0"


def test_terminal_escapes_and_control_characters_are_shown_and_not_obeyed():
    pieces = lines.pieces("a\x1b[31mred\x1b[0m\x00\x08b\tc")
    assert "".join(piece.text for piece in pieces) == "a␛[31mred␛[0m␀␈b\tc"
    assert all("\x1b" not in piece.text for piece in pieces)


def test_marks_that_turn_text_round_are_named():
    (_, mark, _) = lines.pieces("user\u202egpj.exe")
    assert (mark.text, mark.odd, mark.name) == ("U+202E", True, "right-to-left override")


def a_window(line, stream="syslog/gpu-node-07.log"):
    return SimpleNamespace(lines=(line,), stream=stream)


def test_the_words_that_the_rule_found_are_marked():
    text = "2026-03-11T10:02:11.4+00:00 gpu-node-07 kernel: NVRM: Xid (PCI:0000:5d:00): 79, GPU has fallen off the bus."
    line = SimpleNamespace(
        number=1, text=text, cut=False, anchor=True, evidence=(SimpleNamespace(evidence_id="E1", role="cause"),)
    )
    (shown,) = lines.readable(a_window(line), {"E1": {"signature": "xid_79", "text": text}})
    hit = "".join(piece.text for piece in shown.pieces if piece.hit)
    assert "Xid" in hit
    assert "gpu-node-07" not in hit
    assert "".join(piece.text for piece in shown.pieces) == text


def test_a_line_of_an_unknown_rule_is_marked_after_its_prefix():
    text = "2026-03-11T10:02:11.418000+00:00 gpu-node-07 kernel: something new"
    line = SimpleNamespace(
        number=1, text=text, cut=False, anchor=True, evidence=(SimpleNamespace(evidence_id="E1", role="symptom"),)
    )
    (shown,) = lines.readable(a_window(line), {})
    assert "".join(piece.text for piece in shown.pieces if piece.hit) == "something new"


def test_a_line_of_a_record_says_how_it_was_read():
    line = SimpleNamespace(
        number=3,
        text='"uid": "698a"',
        cut=False,
        anchor=True,
        evidence=(SimpleNamespace(evidence_id="E1", role="cause"),),
    )
    item = {"signature": "none", "text": "event object=Pod/w0 reason=Failed"}
    (shown,) = lines.readable(a_window(line, "scheduler/events.json"), {"E1": item})
    assert shown.read_as == "event object=Pod/w0 reason=Failed"
    assert not any(piece.hit for piece in shown.pieces)


def test_what_was_ruled_out_leads_to_nothing():
    verdict = verdicts.worked_example()
    verdict["evidence"][9]["role"] = "rejected"
    verdict["chain"] = [verdicts.link(10, 6, "gpu_application_fault", "same_job", 4000.0)]
    assert all(row.link is None for row in trail.rows(verdict))
