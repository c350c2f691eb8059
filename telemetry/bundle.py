"""A bundle: everything that was collected about one job, opened for reading."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any

import yaml

from telemetry import archive
from telemetry.coverage import Coverage, merge
from telemetry.job import JobContext
from telemetry.jobfill import job_from_records
from telemetry.manifest import FILE as MANIFEST
from telemetry.manifest import Manifest, load
from telemetry.placing import node_of_stream, same_host
from telemetry.problems import BundleError, Problem
from telemetry.streams import Stream

SOURCES = ("scheduler", "applog", "syslog", "fabric", "metrics")
INCIDENT = "incident.yaml"
_YAML_LIMIT = 1024 * 1024
_STREAM_LIMIT = 100_000
_MANY_BYTES = 64 * 1024 * 1024


class Bundle:
    """A bundle on disk. Its files are read when asked for, never all at once; close() drops an unpacked archive."""

    def __init__(
        self,
        root: Path,
        job: JobContext,
        streams: tuple[Stream, ...],
        manifest: Manifest | None = None,
        problems: tuple[Problem, ...] = (),
        unpacked: tempfile.TemporaryDirectory[str] | None = None,
    ) -> None:
        self.root = root
        self.job = job
        self.streams = streams
        self.manifest = manifest
        self._opening = problems
        self._unpacked = unpacked

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What could not be read so far, sorted; reading streams may add to it."""
        found = set(self._opening)
        for stream in self.streams:
            found.update(stream.problems)
        return tuple(sorted(found))

    @cached_property
    def coverage(self) -> tuple[Coverage, ...]:
        """One report a source, in the order of SOURCES; nodes of the job without logs are named."""
        return tuple(self._cover(source) for source in SOURCES)

    @cached_property
    def digest(self) -> str:
        """sha256, hex, over stream paths, their stored bytes and the job: the same wherever the bundle lies."""
        whole = hashlib.sha256()
        job = json.dumps(self.job.as_dict(), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        whole.update(b"first-fault/bundle/1\n" + job.encode() + b"\n")
        if sum(stream.size for stream in self.streams) > _MANY_BYTES:
            # Hashing lets go of the interpreter lock, so two files at a time take half as long.
            with ThreadPoolExecutor(min(os.cpu_count() or 1, 4)) as pool:
                list(pool.map(Stream.sha256, self.streams))
        for stream in self.streams:
            name = os.fsencode(stream.path)
            whole.update(b"%d %b %d " % (len(name), name, stream.size))
            whole.update(stream.sha256())
        return whole.hexdigest()

    def stream(self, path: str) -> Stream | None:
        """The stream of that path in the bundle."""
        return next((stream for stream in self.streams if stream.path == path), None)

    def close(self) -> None:
        """Remove what was unpacked from an archive; the bundle must not be read afterwards."""
        if self._unpacked:
            self._unpacked.cleanup()

    def __enter__(self) -> Bundle:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def _cover(self, source: str) -> Coverage:
        streams = [stream for stream in self.streams if stream.source == source]
        if self.manifest:
            report = merge(source, self.manifest.coverage)
            if report.status == "not_collected" and streams:
                report = Coverage(source, "complete", bytes=sum(stream.size for stream in streams))
        elif not streams:
            return merge(source, ())
        else:
            size = sum(stream.size for stream in streams)
            report = Coverage(source, "complete" if size else "empty", bytes=size)
            if not size:
                return Coverage(source, "empty", detail="The files are there and hold nothing.")
        if source != "syslog" or report.status not in ("complete", "partial") or not self.job.nodes:
            return report
        return self._name_missing_nodes(report, streams)

    def _name_missing_nodes(self, report: Coverage, streams: list[Stream]) -> Coverage:
        filled = [stream for stream in streams if stream.size]
        if any(stream.node is None for stream in filled):
            # A file of several nodes: which of them it covers is not known from outside.
            return report
        seen = [stream.node for stream in filled if stream.node]
        missing = dict.fromkeys(report.nodes_missing)
        missing.update(dict.fromkeys(node for node in self.job.nodes if not any(same_host(node, s) for s in seen)))
        if not missing:
            return report
        count = f"{len(missing)} of {len(self.job.nodes)} nodes of the job"
        return Coverage(
            report.source,
            "partial",
            reason="nodes_missing" if report.status == "complete" else report.reason or "nodes_missing",
            detail=report.detail or f"There is no log of {count}.",
            nodes_missing=tuple(missing),
            target=report.target,
            asked=report.asked,
            covered=report.covered,
            lines=report.lines,
            bytes=report.bytes,
            request=report.request,
        )


def open_bundle(path: str | os.PathLike[str]) -> Bundle:
    """Open a bundle folder or a .tar.zst / .tar.gz / .tar archive of one.

    The job comes from manifest.json, else from `job:` of incident.yaml (nothing else in that file is looked at),
    else from what the scheduler's records say. One bad file never stops it: it becomes a Problem.
    Raises BundleError when there is nothing that could be read.
    """
    where = Path(path)
    unpacked: tempfile.TemporaryDirectory[str] | None = None
    try:
        mode = where.stat().st_mode
    except (OSError, ValueError) as error:
        raise BundleError(
            "The bundle is not there or cannot be opened", str(where), "Check the path and its permissions."
        ) from error
    root = where
    if stat.S_ISREG(mode):
        unpacked = tempfile.TemporaryDirectory(prefix="bundle-")
        try:
            root = archive.unpack(where, Path(unpacked.name))
        except BaseException:
            unpacked.cleanup()
            raise
    elif not stat.S_ISDIR(mode):
        raise BundleError("A bundle is a folder or an archive", str(where), "Give the path of one of them.")
    try:
        return _open_folder(root, where, unpacked)
    except BaseException:
        if unpacked:
            unpacked.cleanup()
        raise


def _open_folder(root: Path, where: Path, unpacked: tempfile.TemporaryDirectory[str] | None) -> Bundle:
    problems: list[Problem] = []
    complaints: list[str] = []
    manifest = load(root, complaints)
    problems += [Problem(MANIFEST, text, "", "Collect the bundle again, or remove the file.") for text in complaints]
    job = manifest.job if manifest else None
    if job is None:
        job = _job_of_incident(root, problems)
    found = _find_streams(root, problems)
    if job is None and not found:
        raise BundleError(
            "There is neither a job nor any telemetry in it",
            str(where),
            f"Put logs into the folders {', '.join(SOURCES)}, and the job into {INCIDENT} if there is one.",
        )
    job = job or JobContext()
    streams = tuple(Stream(source, name, file, size) for source, name, file, size in found)
    if manifest is None:
        job = job.filled_from(job_from_records(job, [s for s in streams if s.source == "scheduler"]))
    targets = {entry.path: entry.target for entry in manifest.streams} if manifest else {}
    for stream in streams:
        stream.node = node_of_stream(stream.source, stream.path, job.nodes, targets.get(stream.path))
    return Bundle(root, job, streams, manifest, tuple(problems), unpacked)


def _job_of_incident(root: Path, problems: list[Problem]) -> JobContext | None:
    path = root / INCIDENT
    if not path.is_file():
        return None
    remedy = "Correct the file; the job is then taken from what the scheduler's records say."
    try:
        if path.stat().st_size > _YAML_LIMIT:
            problems.append(Problem(INCIDENT, f"It is longer than {_YAML_LIMIT} bytes and was not read.", "", remedy))
            return None
        # BaseLoader keeps every value as text: `1:0` would else be read as the number 60.
        found: Any = yaml.load(path.read_bytes(), Loader=yaml.BaseLoader)  # noqa: S506 - BaseLoader makes text only
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f"line {mark.line + 1}" if mark else ""
        problems.append(Problem(INCIDENT, "It is not valid YAML and was not read.", line, remedy))
        return None
    except (OSError, ValueError, RecursionError) as error:
        problems.append(Problem(INCIDENT, f"It could not be read: {error}.", "", remedy))
        return None
    job = found.get("job") if isinstance(found, dict) else None
    if not isinstance(job, dict):
        problems.append(Problem(INCIDENT, "It has no `job:` with details of the job.", "", remedy))
        return None
    complaints: list[str] = []
    context = JobContext.from_dict(job, complaints)
    problems += [Problem(INCIDENT, text, "job", "Correct the value.") for text in complaints]
    return context


def _find_streams(root: Path, problems: list[Problem]) -> list[tuple[str, str, Path, int]]:
    found: list[tuple[str, str, Path, int]] = []
    real_root = os.path.realpath(root)
    try:
        loose = sorted(entry.name for entry in os.scandir(root) if not entry.name.startswith("."))
    except OSError as error:
        raise BundleError(
            f"The folder cannot be listed: {error.strerror}", str(root), "Check its permissions."
        ) from error
    for name in loose:
        if name not in (*SOURCES, INCIDENT, MANIFEST):
            remedy = f"Put it into one of the folders {', '.join(SOURCES)} if it belongs to the job."
            problems.append(Problem(_shown(name), "It is not in the folder of a source and was not read.", "", remedy))
    for source in SOURCES:
        if source not in loose:
            continue
        for folder, folders, files in os.walk(
            root / source, onerror=lambda error: problems.append(_unlisted(root, error))
        ):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(files):
                if name.startswith("."):
                    continue
                file = Path(folder, name)
                # Names that are not UTF-8 would break every JSON and database that they come into.
                path = _shown(file.relative_to(root).as_posix())
                if name.endswith(".part"):
                    problems.append(
                        Problem(path, "It is an unfinished file and was not read.", "", "Collect it again.")
                    )
                    continue
                size = _size(file, path, real_root, problems)
                if size is not None:
                    found.append((source, path, file, size))
                if len(found) > _STREAM_LIMIT:
                    raise BundleError(
                        f"The bundle has more than {_STREAM_LIMIT} files", str(root), "Collect fewer of them."
                    )
    return sorted(found, key=lambda item: os.fsencode(item[1]))


def _size(file: Path, path: str, real_root: str, problems: list[Problem]) -> int | None:
    """Size of a regular file inside the bundle; a link that leads out of it, or a device, is not opened."""
    try:
        status = file.stat()
        inside = not file.is_symlink() or os.path.realpath(file).startswith(real_root + os.sep)
    except OSError as error:
        problems.append(Problem(_shown(path), f"Could not be read: {error.strerror}", "", "Collect the file again."))
        return None
    if not stat.S_ISREG(status.st_mode) or not inside:
        problems.append(
            Problem(_shown(path), "It is not a regular file of the bundle and was not read.", "", "Copy the file in.")
        )
        return None
    return status.st_size


def _unlisted(root: Path, error: OSError) -> Problem:
    where = os.path.relpath(error.filename, root) if error.filename else ""
    return Problem(_shown(where), f"The folder cannot be listed: {error.strerror}", "", "Check its permissions.")


def _shown(name: str) -> str:
    return name.encode("utf-8", "replace").decode()
