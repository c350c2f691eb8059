"""How a bundle was written down does not matter: only what its lines say.

Order of files and of lines of the same moment, streams that were collected twice, line ends of Windows, lines that a
shipper delivered twice: the answer stays. A file that breaks off at any byte may take an answer away, never make
another one.
"""

from __future__ import annotations

import functools
import gzip
import random
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from rules import Verdict, attribute_path
from telemetry.formats.prefix import parse_prefix
from tests.rules.bundles import copied, samples
from tests.rules.test_clock_shift import assert_no_other_confident_cause

Change = Callable[[Path, random.Random], None]
BUNDLES = samples()
SOURCES = ("scheduler", "applog", "syslog", "fabric", "metrics")
# The same examples in every run: a suite that fails by chance tells nobody what broke.
quietly = settings(
    derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.generate],
)  # fmt: skip


def logs(bundle: Path, *sources: str) -> list[Path]:
    """The plain text files of these sources."""
    found = [file for source in sources or SOURCES for file in sorted((bundle / source).glob("*"))]
    return [file for file in found if file.suffix != ".json"]


def files_written_in_another_order(bundle: Path, chance: random.Random) -> None:
    found = [file for source in SOURCES for file in sorted((bundle / source).glob("*"))]
    kept = {file: file.read_bytes() for file in found}
    for file in found:
        file.unlink()
    chance.shuffle(found)
    for file in found:
        file.write_bytes(kept[file])


def output_under_another_name(bundle: Path, chance: random.Random) -> None:
    """Only where a job has one output: with several, a name may say whose it is. It changes what is read first."""
    outputs = logs(bundle, "applog")
    if len(outputs) == 1:
        outputs[0].rename(outputs[0].with_name("".join(chance.choices("abcxyz", k=6)) + ".log"))


def lines_of_one_moment_shuffled(bundle: Path, chance: random.Random) -> None:
    """Lines one after another that bear the same stamp; a line without a stamp stays where it is."""
    for file in logs(bundle, "syslog", "fabric"):
        stamped = [(parse_prefix(line).time, line) for line in file.read_bytes().split(b"\n")]
        lines: list[bytes] = []
        for moment, group in groupby(stamped, key=lambda pair: pair[0]):
            together = [line for _, line in group]
            if moment is not None:
                chance.shuffle(together)
            lines += together
        file.write_bytes(b"\n".join(lines))


def stream_collected_twice(bundle: Path, chance: random.Random) -> None:
    """The second copy is compressed and lies beside the first, as after a rotation."""
    file = chance.choice(logs(bundle, "applog", "syslog", "fabric") or [bundle / "incident.yaml"])
    if file.name != "incident.yaml":
        file.with_name(file.name + ".gz").write_bytes(gzip.compress(file.read_bytes(), mtime=0))


def line_ends_of_windows(bundle: Path, chance: random.Random) -> None:
    for file in logs(bundle):
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))


def lines_delivered_twice(bundle: Path, chance: random.Random) -> None:
    for file in logs(bundle, "applog", "syslog", "fabric"):
        if chance.random() < 0.7:
            lines = file.read_bytes().splitlines(keepends=True)
            file.write_bytes(b"".join(line * 2 if line.endswith(b"\n") else line + b"\n" + line for line in lines))


CHANGES: tuple[Change, ...] = (
    files_written_in_another_order, output_under_another_name, lines_of_one_moment_shuffled, stream_collected_twice,
    line_ends_of_windows, lines_delivered_twice,
)  # fmt: skip


@functools.cache
def answer_of(bundle: Path) -> Verdict:
    return attribute_path(bundle)


@contextmanager
def a_copy_of(bundle: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield copied(bundle, Path(folder) / "bundle")


def said(verdict: Verdict) -> tuple[object, ...]:
    places = sorted((c["kind"], c["node"] or "", c["device"] or "") for c in verdict["culprits"])
    return verdict["outcome"], verdict["cause"], places, sorted(a["cause"] for a in verdict["alternatives"])


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda path: path.name)
def test_the_answer_stays_with(bundle: Path, change: Change):
    with a_copy_of(bundle) as copy:
        change(copy, random.Random(7))
        assert said(attribute_path(copy)) == said(answer_of(bundle))


@quietly
@given(
    bundle=st.sampled_from(BUNDLES), changes=st.lists(st.sampled_from(CHANGES), min_size=2), seed=st.integers(0, 999)
)
def test_the_answer_stays_with_several_of_them(bundle: Path, changes: list[Change], seed: int):
    with a_copy_of(bundle) as copy:
        for change in dict.fromkeys(changes):
            if not (change is lines_of_one_moment_shuffled and lines_delivered_twice in changes):
                change(copy, random.Random(seed))
        assert said(attribute_path(copy)) == said(answer_of(bundle))


@quietly
@given(bundle=st.sampled_from(BUNDLES), data=st.data())
def test_files_that_break_off_at_any_byte_never_make_another_confident_cause(bundle: Path, data: st.DataObject):
    with a_copy_of(bundle) as copy:
        files = [file for source in SOURCES for file in sorted((copy / source).glob("*"))]
        for file in data.draw(st.lists(st.sampled_from(files), min_size=1, max_size=3, unique=True)):
            raw = file.read_bytes()
            file.write_bytes(raw[: data.draw(st.integers(0, len(raw)))])
        answer = attribute_path(copy)
        assert answer["error"] is None
        assert_no_other_confident_cause(answer_of(bundle), answer)
