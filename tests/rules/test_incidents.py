"""Accuracy on labelled incidents may rise, never fall; a confident wrong answer is the worst."""

import pytest

from tests.bench.accuracy import INCIDENTS, count


@pytest.mark.parametrize(("incidents", "matches", "wrong"), [("first", 82, 0), ("second", 55, 5)])
def test_accuracy_does_not_fall(incidents, matches, wrong):
    counts, misses = count(INCIDENTS / incidents)
    assert counts["match"] >= matches, "\n".join(misses)
    assert counts["wrong"] <= wrong, "\n".join(misses)
