"""Writing a bundle: streams line by line, redacted, in UTF-8, and the manifest that says what came and what did not."""

from __future__ import annotations

import codecs
import json
import os
import re
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from telemetry.bundle import SOURCES
from telemetry.coverage import Coverage
from telemetry.decoding import sniff_utf16
from telemetry.job import JobContext
from telemetry.manifest import FILE, Manifest, StreamEntry, load
from telemetry.redaction import Redactor

_UNSAFE = re.compile(r"[^A-Za-z0-9._+@=,-]+")
_NAME_LIMIT = 120
_SNIFF = 4096
LONG_LINE = 1024 * 1024


class StreamWriter:
    """One stream being written. Bytes come in any pieces; whole lines go out, LF ended, redacted, as UTF-8."""

    def __init__(self, file: Path, redactor: Redactor) -> None:
        self.lines = 0
        self.bytes = 0
        self.redactor = redactor
        self._file = open(file, "wb")  # noqa: SIM115 - closed by close()
        self._held = b""
        self._begun = False
        self._decode: codecs.IncrementalDecoder | None = None

    def write(self, data: bytes) -> None:
        """Add a piece. The first 4 KiB decide whether it is UTF-16; bytes that are not UTF-8 are taken for Latin-1."""
        if not data:
            return
        if not self._begun:
            self._held += data
            if len(self._held) < _SNIFF:
                return
            data, self._held = self._held, b""
            self._begin(data)
        self._add(data)

    def close(self) -> None:
        """Write what is held back and put the file on disk. A last line without a line end stays without one."""
        if self._file.closed:
            return
        if not self._begun:
            data, self._held = self._held, b""
            self._begin(data)
            self._add(data)
        if self._decode:
            self._lines_of(self._decode.decode(b"", final=True).encode("utf-8", "replace"))
        if self._held:
            self._put(self._held)
        self._held = b""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    def _begin(self, data: bytes) -> None:
        self._begun = True
        encoding = sniff_utf16(data[:_SNIFF])
        if encoding:
            self._decode = codecs.getincrementaldecoder(encoding)("replace")

    def _add(self, data: bytes) -> None:
        if self._decode:
            data = self._decode.decode(data).encode("utf-8", "replace")
        self._lines_of(data)

    def _lines_of(self, data: bytes) -> None:
        whole = self._held + data if self._held else data
        end = whole.rfind(b"\n") + 1
        if end:
            self._put(whole[:end])
        while len(whole) - end > LONG_LINE:
            # Held back without bound, a line without end would fill the memory; a secret cut here may stay in part.
            self._put(whole[end : end + LONG_LINE])
            end += LONG_LINE
        self._held = whole[end:]

    def _put(self, lines: bytes) -> None:
        if self.bytes == 0:
            lines = lines.removeprefix(codecs.BOM_UTF8)
        if b"\r\n" in lines:
            lines = lines.replace(b"\r\n", b"\n")
        if not lines.isascii():
            lines = _utf8(lines)
        lines = self.redactor.redact_lines(lines)
        self._file.write(lines)
        self.bytes += len(lines)
        self.lines += lines.count(b"\n")


def _utf8(lines: bytes) -> bytes:
    try:
        lines.decode("utf-8")
        return lines
    except UnicodeDecodeError:
        return b"".join(_line_as_utf8(line) for line in lines.splitlines(keepends=True))


def _line_as_utf8(line: bytes) -> bytes:
    try:
        line.decode("utf-8")
        return line
    except UnicodeDecodeError:
        return line.decode("latin-1").encode("utf-8")


class BundleWriter:
    """Writes one bundle folder. Every stream is put in place whole by a rename when it is closed; streams that are
    there already (from a run that was broken off) are known from the manifest and can be skipped or replaced.

    Several writers, in several processes too, may write different streams of one folder; the one that writes the
    manifest adopts the others' entries. in_charge: asked before a stream is put in place; when it says no, the stream
    is dropped (somebody else took the work over and may have finished it already).
    """

    def __init__(
        self,
        root: Path,
        job: JobContext,
        redactor: Redactor | None = None,
        collected_by: str = "",
        in_charge: Callable[[], bool] = lambda: True,
    ) -> None:
        self.root = root
        self.job = job
        self._redactor = redactor or Redactor()
        self._collected_by = collected_by
        self._in_charge = in_charge
        root.mkdir(parents=True, exist_ok=True)
        before = load(root, [])
        self._entries = {entry.path: entry for entry in before.streams} if before else {}
        self._coverage = {(c.source, c.target): c for c in before.coverage} if before else {}

    @property
    def entries(self) -> tuple[StreamEntry, ...]:
        """The streams known to this writer, by path."""
        return tuple(self._entries[path] for path in sorted(self._entries))

    def adopt(self, entries: Iterable[StreamEntry]) -> None:
        """Take in what other writers stored in the same folder."""
        self._entries.update((entry.path, entry) for entry in entries)

    def drop_unfinished(self) -> None:
        """Remove what writers that were killed left half-written. Nobody may be writing any more."""
        for left in self.root.rglob("*.part"):
            left.unlink(missing_ok=True)

    def has(self, source: str, name: str) -> bool:
        """Whether that stream was written whole before."""
        path = self._path(source, name)
        entry = self._entries.get(path)
        return bool(entry and entry.status == "complete" and (self.root / path).is_file())

    @contextmanager
    def stream(self, source: str, name: str, target: str | None = None) -> Iterator[StreamWriter]:
        """A stream of a source. `name` becomes a safe file name (folders with `/`). target: what was asked for it.

        When the block raises, what came so far is kept with the status `partial`, and the error goes on.
        """
        path = self._path(source, name)
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        # A name of its own: a writer that was thought dead may still be at the same stream.
        part = file.with_name(f"{file.name[:_NAME_LIMIT]}.{os.getpid()}-{secrets.token_hex(4)}.part")
        writer = StreamWriter(part, self._redactor.fresh())
        status, detail = "complete", ""
        try:
            yield writer
        except BaseException as error:
            status, detail = "partial", f"Writing was broken off: {type(error).__name__}."
            raise
        finally:
            writer.close()
            if self._in_charge():
                os.replace(part, file)
                self._entries[path] = StreamEntry(
                    path, source, target, status, writer.lines, writer.bytes, dict(writer.redactor.counts), detail
                )
            else:
                part.unlink(missing_ok=True)

    def cover(self, coverage: Coverage) -> None:
        """Report on a source, or on one target of it; a later report on the same replaces it."""
        if coverage.source not in SOURCES:
            raise ValueError(f"{coverage.source!r} is not one of the sources {', '.join(SOURCES)}")
        self._coverage[coverage.source, coverage.target] = coverage

    def write_manifest(self) -> Manifest:
        """Put manifest.json in place. May be called as often as one likes; the last one counts."""
        manifest = Manifest(
            job=self.job,
            coverage=tuple(
                self._coverage[key] for key in sorted(self._coverage, key=lambda key: (key[0], key[1] or ""))
            ),
            streams=self.entries,
            collected_by=self._collected_by,
            collected_at=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        )
        part = self.root / (FILE + ".part")
        part.write_text(json.dumps(manifest.as_dict(), indent=2, sort_keys=True) + "\n", encoding="utf-8")
        os.replace(part, self.root / FILE)
        return manifest

    def _path(self, source: str, name: str) -> str:
        if source not in SOURCES:
            raise ValueError(f"{source!r} is not one of the sources {', '.join(SOURCES)}")
        return "/".join((source, *safe_parts(name)))


def safe_parts(name: str) -> list[str]:
    """File name parts that cannot leave a folder, hide, or clash with what the writer uses itself."""
    parts: list[str] = []
    for part in name.split("/"):
        clean = _UNSAFE.sub("_", part).strip(". ")[:_NAME_LIMIT]
        if clean.endswith(".part"):
            clean += "_"
        if clean:
            parts.append(clean)
    return parts or ["unnamed"]
