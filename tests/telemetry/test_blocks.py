"""Streams read as blocks of whole lines."""

import bz2
import gzip
import lzma
import os
import random
import resource
import threading
from pathlib import Path

import pytest
import zstandard

from telemetry.streams import Stream
from tests.telemetry.files import stream_of


def everything(stream: Stream, size: int) -> list[tuple[bytes, int, int, bool]]:
    return [(bytes(block.view), block.offset, block.line, block.cut) for block in stream.blocks(size)]


@pytest.mark.parametrize("size", [7, 64, 1000, 40_000])
def test_blocks_put_together_are_the_file_and_end_at_line_ends(tmp_path: Path, size: int) -> None:
    chance = random.Random(size)
    lines = [bytes(chance.choices(b"abc \r\0", k=chance.randrange(size - 1))) + b"\n" for _ in range(60)]
    data = b"".join(lines) + b"no line end"[: size - 1]
    blocks = everything(stream_of(tmp_path, data), size)
    assert b"".join(block[0] for block in blocks) == data
    for text, offset, line, cut in blocks:
        assert data[offset : offset + len(text)] == text
        assert line == data[:offset].count(b"\n") + 1
        assert not cut
        assert text.endswith(b"\n") or offset + len(text) == len(data)


def test_an_empty_file_has_no_blocks_and_no_problem(tmp_path: Path) -> None:
    stream = stream_of(tmp_path, b"")
    assert everything(stream, 64) == []
    assert stream.problems == ()


def test_a_line_longer_than_a_block_is_cut_told_and_line_numbers_stay_right(tmp_path: Path) -> None:
    stream = stream_of(tmp_path, b"one\n" + b"x" * 1000 + b"\nthree\n" + b"y" * 500)
    blocks = everything(stream, 100)
    assert [(text[:5], line, cut) for text, _, line, cut in blocks] == [
        (b"one\n", 1, False),
        (b"xxxxx", 2, True),
        (b"three", 3, False),
        (b"yyyyy", 4, True),
    ]
    assert [problem.where for problem in stream.problems] == ["byte 1011", "byte 4"]
    assert "longer than 100 bytes" in stream.problems[0].what


def test_a_line_of_50_mb_does_not_grow_the_memory(tmp_path: Path) -> None:
    file = tmp_path / "applog" / "big.out"
    file.parent.mkdir()
    with open(file, "wb") as out:
        out.write(b"first\n")
        out.seek(50 * 1024 * 1024)
        out.write(b"\nlast\n")
    stream = Stream("applog", "applog/big.out", file, file.stat().st_size)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    blocks = [(block.line, block.length) for block in stream.blocks(1024 * 1024)]
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert blocks[-1] == (3, len(b"last\n"))
    assert grown < 16 * 1024
    assert stream.lines(3, 5)[0].text == b"last"
    assert stream.lines(2, 1)[0].cut


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf16_is_read_as_utf8(tmp_path: Path, encoding: str) -> None:
    text = "".join(f"Zeile {at}: größer als vorher\n" for at in range(5000))
    stream = stream_of(tmp_path, text.encode(encoding))
    assert b"".join(block[0] for block in everything(stream, 4096)).decode() == text
    assert stream.lines(4000, 1)[0].text.decode() == "Zeile 3999: größer als vorher"


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zstandard.compress])
def test_compressed_files_read_as_their_text_whatever_their_name(tmp_path: Path, pack) -> None:
    data = b"".join(b"line %d of the log\n" % at for at in range(40_000))
    stream = stream_of(tmp_path, pack(data), "syslog/node01.log")
    assert b"".join(block[0] for block in everything(stream, 1 << 20)) == data
    assert stream.lines(30_001, 1)[0].text == b"line 30000 of the log"
    assert stream.problems == ()


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zstandard.compress])
def test_a_cut_archive_gives_what_is_there_and_a_problem(tmp_path: Path, pack) -> None:
    data = b"".join(b"%d %f\n" % (at, random.Random(at).random()) for at in range(20_000))
    packed = pack(data)
    stream = stream_of(tmp_path, packed[: len(packed) // 2])
    got = b"".join(block[0] for block in everything(stream, 1 << 16))
    assert data.startswith(got)
    assert "cut or damaged" in stream.problems[0].what


def test_two_gzip_members_are_one_text(tmp_path: Path) -> None:
    stream = stream_of(tmp_path, gzip.compress(b"a\n") + gzip.compress(b"b\n"))
    assert everything(stream, 64)[0][0] == b"a\nb\n"


def test_a_file_that_went_away_is_a_problem_not_an_error(tmp_path: Path) -> None:
    stream = Stream("applog", "applog/gone.out", tmp_path / "gone", 10)
    assert everything(stream, 64) == []
    assert stream.lines(1, 5) == []
    assert stream.problems[0].what == "Could not be read: No such file or directory"


def test_a_named_pipe_does_not_make_the_reader_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    stream = Stream("applog", "applog/pipe", tmp_path / "pipe", 0)
    done: list[object] = []
    thread = threading.Thread(target=lambda: done.append(everything(stream, 64)), daemon=True)
    thread.start()
    thread.join(5)
    assert done == [[]]
    assert "not a regular file" in stream.problems[0].what


def test_lines_are_found_by_number_and_by_offset(tmp_path: Path) -> None:
    data = b"".join(b"%d:" % at + b"z" * (at % 97) + b"\r\n" for at in range(1, 200_001))
    stream = stream_of(tmp_path, data)
    found = stream.lines(123_456, 3)
    assert [line.number for line in found] == [123_456, 123_457, 123_458]
    assert found[0].text == b"123456:" + b"z" * (123_456 % 97)
    assert data[found[0].offset :].startswith(b"123456:")
    assert stream.line_at(found[1].offset) == 123_457
    assert stream.line_at(found[1].offset - 1) == 123_456
    assert stream.line_numbers([found[2].offset, 0]) == [123_458, 1]
    assert stream.lines(123_460, 1, near=(found[0].number, found[0].offset))[0].text.startswith(b"123460:")
    assert stream.lines(200_000, 9)[-1].number == 200_000
    assert stream.lines(200_001, 9) == []


def test_every_line_is_found_around_the_steps_of_the_index(tmp_path: Path) -> None:
    step = 4 * 1024 * 1024
    data = b"a" * (step - 3) + b"\nbb\ncc\n" + b"d" * step + b"\ne\n"
    stream = stream_of(tmp_path, data)
    assert [stream.lines(at, 1)[0].text[:2] for at in range(1, 6)] == [b"aa", b"bb", b"cc", b"dd", b"e"]
    assert [stream.line_at(at) for at in (0, step - 3, step - 2, step, step + 1, len(data) - 1)] == [1, 1, 2, 2, 3, 5]


def test_a_long_line_is_shown_cut(tmp_path: Path) -> None:
    line = stream_of(tmp_path, b"x" * 70_000 + b"\n" + b"y" * 65_536 + b"\n").lines(1, 2)
    assert (len(line[0].text), line[0].cut) == (65_536, True)
    assert (len(line[1].text), line[1].cut) == (65_536, False)


def test_a_binary_file_is_read_and_named_as_one(tmp_path: Path) -> None:
    file = tmp_path / "core.4711"
    file.write_bytes(bytes(range(256)) * 400)
    stream = Stream("applog", "applog/core.4711", file, file.stat().st_size)
    assert sum(block.length for block in stream.blocks()) == 256 * 400
    assert [problem.what for problem in stream.problems] == [
        "The file looks binary, not like a log; what reads as text in it was still looked at"
    ]


def test_colours_and_progress_bars_are_text(tmp_path: Path) -> None:
    file = tmp_path / "out"
    file.write_bytes(b"\x1b[32mok\x1b[0m 10%\r20%\r\n" * 500)
    stream = Stream("applog", "applog/out", file, file.stat().st_size)
    list(stream.blocks())
    assert stream.problems == ()
