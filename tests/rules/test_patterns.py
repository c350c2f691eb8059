"""Patterns of rule files: what is refused, and that none can run over a line's end."""

import pytest

from rules import patterns
from rules.scan import database_for
from telemetry.streams import Block


def lines_hit(pattern: str, text: bytes) -> list[bytes]:
    block = Block(bytearray(text), len(text), 0, 0)
    return [hit.text for hit in database_for([pattern]).hits(block)]


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        (r"a(?=b)", "linear time"),
        (r"(a)\1", "linear time"),
        (r"error: .*", "ends open"),
        (r"code \d+", "ends open"),
        (r"(?P<code>code \d+)", "ends open"),
        (r"x{3,}", "ends open"),
        (r"first\nsecond", "cross lines"),
        (r"(?:a)?", "empty line"),
    ],
)
def test_a_pattern_that_a_scan_cannot_trust_is_refused_with_the_reason(pattern, reason):
    assert reason in (patterns.fault_in(pattern) or "")


@pytest.mark.parametrize("pattern", [r"Xid \((?P<pci>[0-9a-f:]+)\): 79,", r"code \d{1,5}", r"plus \+", r"a[^,]*,"])
def test_a_bounded_pattern_is_taken(pattern):
    assert patterns.fault_in(pattern) is None


@pytest.mark.parametrize("pattern", [r"from [^,]*, to", r"from\s+to", r"from\D+to", r"from\W+to", r"from[^x]{0,9}to"])
def test_no_pattern_matches_over_the_end_of_a_line(pattern):
    assert lines_hit(pattern, b"from\n, to\nfrom\nto\n") == []
    assert lines_hit(pattern, b"from , to\n") in ([b"from , to"], [])


def test_a_line_hit_by_two_patterns_is_one_hit_with_both():
    block = Block(bytearray(b"alpha beta\n"), 11, 0, 0)
    (hit,) = database_for(["alpha", "beta"]).hits(block)
    assert hit.numbers == [0, 1]


def test_carriage_returns_are_not_part_of_a_line():
    assert lines_hit("alpha", b"alpha\r\nbeta\r\n") == [b"alpha"]


def test_a_nul_and_bytes_that_are_no_text_do_not_stop_the_scan():
    assert lines_hit("alpha", b"\x00\xff\xfe junk\n\x80alpha\x00\n") == [b"\x80alpha\x00"]
