"""Slurm's hostlists."""

import pytest

from telemetry.formats.hostlist import collapse, expand


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("gpu-node-[05-08,11],x1", ["gpu-node-05", "gpu-node-06", "gpu-node-07", "gpu-node-08", "gpu-node-11", "x1"]),
        ("nid00[7100-7102]", ["nid007100", "nid007101", "nid007102"]),
        ("r[1-2]n[01-02]", ["r1n01", "r1n02", "r2n01", "r2n02"]),
        ("n[9-10]", ["n9", "n10"]),
        ("cal2112", ["cal2112"]),
        ("None assigned", []),
        ("", []),
    ],
)
def test_names_come_in_the_order_written(text: str, names: list[str]) -> None:
    assert expand(text) == names


@pytest.mark.parametrize("text", ["n[1-", "n]1[", "n[5-1]", "n[1-999999999]", "n[a-b]", "n[1][1-99999][1-99999]"])
def test_what_cannot_be_read_says_so(text: str) -> None:
    with pytest.raises(ValueError, match="node list"):
        expand(text)


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["gpu-node-07", "gpu-node-05", "gpu-node-06"], "gpu-node-[05-07]"),
        (["n9", "n10", "n11"], "n[9-11]"),
        (["n09", "n10"], "n[09-10]"),
        (["a", "b3"], "a,b3"),
        ([], ""),
    ],
)
def test_collapsing_gives_the_usual_writing(names: list[str], text: str) -> None:
    assert collapse(names) == text
    assert sorted(expand(text)) == sorted(names)
