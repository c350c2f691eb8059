"""Opening a stored file so that it reads as UTF-8 (or unknown 8-bit) text: decompression and UTF-16 on the fly."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import os
import stat
import zlib
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

import zstandard

PIECE = 1024 * 1024
# A small archive can hold a stream that never ends; what comes after this many bytes is not read.
DECODED_LIMIT = 64 * 1024**3
_XZ_MEMORY = 256 * 1024 * 1024
_ZSTD_WINDOW = 128 * 1024 * 1024
_SNIFF = 4096


class ReadError(Exception):
    """The stored bytes are not what they say they are: a cut or damaged archive, or no regular file."""


class _Raw(Protocol):
    def readinto(self, buffer: memoryview, /) -> int | None: ...

    def close(self) -> None: ...


class Reader:
    """A decoded stream. `packed` says that its length is not the stored size."""

    def __init__(self, raw: _Raw, *, packed: bool, seekable: bool, also: io.RawIOBase | None = None) -> None:
        self._raw = raw
        self._also = also
        self._seekable = seekable
        self._read = 0
        self.packed = packed

    def readinto(self, buffer: memoryview | bytearray) -> int:
        """Fill as much of `buffer` as there is; 0 only at the end. Raises ReadError or OSError."""
        view = memoryview(buffer)
        done = 0
        while done < len(view):
            if self.packed and self._read >= DECODED_LIMIT:
                raise ReadError(f"the unpacked text is longer than {DECODED_LIMIT} bytes")
            try:
                got = self._raw.readinto(view[done:])
            except (EOFError, zlib.error, lzma.LZMAError, zstandard.ZstdError, gzip.BadGzipFile) as error:
                if done:
                    # What came before the damage is handed out first; the next call fails again.
                    break
                raise ReadError(f"the compressed data is cut or damaged ({error})") from error
            if not got:
                break
            done += got
            self._read += got
        return done

    def skip(self, count: int) -> None:
        """Pass over `count` bytes from the start."""
        if self._seekable:
            self._raw.seek(count)  # type: ignore[attr-defined]
            return
        waste = memoryview(bytearray(min(max(count, 1), PIECE)))
        while count > 0:
            got = self.readinto(waste[:count] if count < len(waste) else waste)
            if not got:
                return
            count -= got

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self._raw.close()
        if self._also:
            self._also.close()


def open_decoded(path: Path) -> Reader:
    """Open a regular file. What it holds is told from its first bytes, not from its name.

    Raises OSError when it cannot be opened, ReadError when it is not a regular file.
    """
    file = open(path, "rb", buffering=0, opener=_open_without_waiting)  # noqa: SIM115 - the Reader closes it
    try:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ReadError("not a regular file")
        head = file.read(_SNIFF) or b""
        file.seek(0)
        unpacked = _unpacked(head, file)
        if unpacked is not None:
            start = bytearray(_SNIFF)
            got = _first(unpacked, start)
            raw: _Raw = _Rest(bytes(start[:got]), unpacked)
            head = bytes(start[:got])
        else:
            raw = file
            _advise(file)
        encoding = sniff_utf16(head)
        if encoding:
            return Reader(_Utf16(raw, encoding), packed=True, seekable=False, also=file)
        return Reader(raw, packed=unpacked is not None, seekable=unpacked is None, also=file)
    except BaseException:
        file.close()
        raise


def sniff_utf16(head: bytes) -> str | None:
    """'utf-16-le' or 'utf-16-be' when the first bytes say so by a mark or by where the NUL bytes stand."""
    if head.startswith(codecs.BOM_UTF16_LE) and not head.startswith(codecs.BOM_UTF32_LE):
        return "utf-16-le"
    if head.startswith(codecs.BOM_UTF16_BE):
        return "utf-16-be"
    pairs = len(head) // 2
    if pairs < 8:
        return None
    even, odd = head[0 : pairs * 2 : 2].count(0), head[1 : pairs * 2 : 2].count(0)
    if odd > pairs * 0.7 and even < pairs * 0.05:
        return "utf-16-le"
    if even > pairs * 0.7 and odd < pairs * 0.05:
        return "utf-16-be"
    return None


def _open_without_waiting(path: str, flags: int) -> int:
    # A named pipe in a bundle must not make the reader wait for a writer.
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)


def _advise(file: io.FileIO) -> None:
    if hasattr(os, "posix_fadvise"):
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_SEQUENTIAL)


def _unpacked(head: bytes, file: io.FileIO) -> Any:
    if head.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=_Pieced(file))
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        return _Zst(file, head)
    if head.startswith(b"\xfd7zXZ\x00"):
        return _Xz(file)
    if head.startswith(b"BZh") and head[4:10] == b"1AY&SY":
        return bz2.BZ2File(_Pieced(file))
    return None


def _first(raw: _Raw, into: bytearray) -> int:
    try:
        return raw.readinto(memoryview(into)) or 0
    except (EOFError, zlib.error, lzma.LZMAError, zstandard.ZstdError, gzip.BadGzipFile) as error:
        raise ReadError(f"the compressed data is cut or damaged ({error})") from error


class _Rest:
    """Bytes that were looked at already, then the rest of the stream."""

    def __init__(self, head: bytes, raw: _Raw) -> None:
        self._head = head
        self._raw = raw

    def readinto(self, buffer: memoryview, /) -> int:
        if self._head:
            got = min(len(self._head), len(buffer))
            buffer[:got] = self._head[:got]
            self._head = self._head[got:]
            return got
        return self._raw.readinto(buffer) or 0

    def close(self) -> None:
        self._raw.close()


class _Pieced(io.BufferedReader):
    """Reads the stored file in large pieces; whoever opened the file closes it."""

    def __init__(self, file: io.FileIO) -> None:
        super().__init__(file, PIECE)

    def __del__(self) -> None:
        if not self.closed:
            self.detach()


class _Pieces:
    """Base of the decoders that turn one piece of input into one piece of output."""

    def __init__(self) -> None:
        self._ready = b""
        self._at = 0

    def _next(self) -> bytes:
        """The next decoded bytes, b"" at the end."""
        raise NotImplementedError

    def readinto(self, buffer: memoryview, /) -> int:
        if self._at >= len(self._ready):
            self._ready, self._at = self._next(), 0
        got = min(len(buffer), len(self._ready) - self._at)
        buffer[:got] = self._ready[self._at : self._at + got]
        self._at += got
        return got

    def close(self) -> None:
        self._ready = b""


class _Zst:
    """The library takes a cut frame for the end of the file; where the frame tells its size, that is noticed."""

    def __init__(self, file: io.FileIO, head: bytes) -> None:
        unpack = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
        self._stream = unpack.stream_reader(file, read_size=PIECE, read_across_frames=True, closefd=False)
        told = zstandard.get_frame_parameters(head).content_size if len(head) > 18 else 0
        self._owed = told if told < DECODED_LIMIT else 0

    def readinto(self, buffer: memoryview, /) -> int:
        got = self._stream.readinto(buffer)
        self._owed = max(self._owed - got, 0)
        if not got and self._owed:
            raise EOFError("the file ends before the end of its data")
        return got

    def close(self) -> None:
        self._stream.close()


class _Xz(_Pieces):
    """lzma.LZMAFile has no memory limit; a hostile header may ask for 4 GiB."""

    def __init__(self, file: io.FileIO) -> None:
        super().__init__()
        self._file = file
        self._unpack = lzma.LZMADecompressor(memlimit=_XZ_MEMORY)

    def _next(self) -> bytes:
        while True:
            if self._unpack.eof:
                rest = self._unpack.unused_data or self._file.read(PIECE) or b""
                if not rest.strip(b"\0"):
                    return b""
                self._unpack = lzma.LZMADecompressor(memlimit=_XZ_MEMORY)
                out = self._unpack.decompress(rest, PIECE)
            elif self._unpack.needs_input:
                piece = self._file.read(PIECE)
                if not piece:
                    raise EOFError("the file ends before the end of its data")
                out = self._unpack.decompress(piece, PIECE)
            else:
                out = self._unpack.decompress(b"", PIECE)
            if out:
                return out


class _Utf16(_Pieces):
    """UTF-16 as UTF-8, without the mark; halves that fit nothing become U+FFFD."""

    def __init__(self, raw: _Raw, encoding: str) -> None:
        super().__init__()
        self._raw = raw
        self._decode = codecs.getincrementaldecoder(encoding)("replace")
        self._piece = bytearray(PIECE)
        self._begun = False

    def _next(self) -> bytes:
        while True:
            got = self._raw.readinto(memoryview(self._piece)) or 0
            text = self._decode.decode(bytes(self._piece[:got]), final=got == 0)
            if not self._begun and text:
                text = text.removeprefix("\ufeff")
                self._begun = True
            if text or not got:
                return text.encode("utf-8", "replace")

    def close(self) -> None:
        self._raw.close()
