"""Reading one log file that was opened safely: decoded, in pieces, in bounded memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from connectors.errors import mapped
from telemetry.decoding import Reader, open_decoded

CHUNK = 256 * 1024
_LONGEST_LINE = 1024 * 1024


def read_chunks(descriptor: int, path: str) -> Iterator[bytes]:
    """Decompressed bytes, UTF-16 as UTF-8, up to CHUNK at a time; the descriptor stays open.

    `path` is only for messages. What stands before damage is given; then BadAnswer is raised.
    """
    with mapped(path), _open(descriptor) as reader:
        buffer = bytearray(CHUNK)
        while got := reader.readinto(buffer):
            yield bytes(memoryview(buffer)[:got])


def can_jump(descriptor: int, path: str) -> bool:
    """Whether a part can be read without what stands before it: neither compressed nor UTF-16."""
    with mapped(path), _open(descriptor) as reader:
        return not reader.packed


def read_ends(descriptor: int, size: int, limit: int, path: str) -> Iterator[bytes]:
    """The first quarter of `limit` bytes and the last three quarters of a plain file of `size` bytes, each in whole
    lines: how a job began and, above all, how it ended."""
    head, tail = limit // 4, limit - limit // 4
    with mapped(path):
        yield from _to_line_end(_range(descriptor, 0, head))
        in_line = True
        for chunk in _range(descriptor, size - tail, size):
            if not in_line:
                yield chunk
            elif (at := chunk.find(b"\n")) >= 0:
                in_line = False
                yield chunk[at + 1 :]


def whole_lines(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The same bytes in pieces that end at a newline; a line over a MiB comes in pieces without one."""
    held = b""
    for chunk in chunks:
        held += chunk
        at = held.rfind(b"\n") + 1
        if at:
            yield held[:at]
            held = held[at:]
        elif len(held) > _LONGEST_LINE:
            yield held
            held = b""
    if held:
        yield held


def _open(descriptor: int) -> Reader:
    # The file that was judged, by its descriptor: its name may lead somewhere else by now.
    return open_decoded(Path(f"/proc/self/fd/{descriptor}"))


def _range(descriptor: int, start: int, end: int) -> Iterator[bytes]:
    at = start
    while at < end and (chunk := os.pread(descriptor, min(CHUNK, end - at), at)):
        at += len(chunk)
        yield chunk


def _to_line_end(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """All chunks, the last one up to its last newline."""
    held = b""
    for chunk in chunks:
        if held:
            yield held
        held = chunk
    yield held[: held.rfind(b"\n") + 1]
