"""Bundles as one compressed file: unpacking without trust, packing the same bytes every time."""

from __future__ import annotations

import os
import shutil
import stat
import tarfile
from pathlib import Path, PurePosixPath

import zstandard

from telemetry.decoding import ReadError, open_decoded
from telemetry.problems import BundleError

SIZE_LIMIT = 64 * 1024**3
_COUNT_LIMIT = 100_000
_COPY = 1024 * 1024


class _Source:
    """The decoded archive as a file object for tarfile's stream mode."""

    def __init__(self, path: Path) -> None:
        self._reader = open_decoded(path)

    def read(self, size: int = -1) -> bytes:
        buffer = bytearray(size if size > 0 else _COPY)
        return bytes(buffer[: self._reader.readinto(buffer)])

    def close(self) -> None:
        self._reader.__exit__(None, None, None)


def unpack(path: Path, into: Path, limit: int = SIZE_LIMIT) -> Path:
    """Unpack an archive into an empty folder and give the bundle's root in it (the one top folder, if there is one).

    Only plain files and folders are made; a link, a device or a name that leads out of the folder ends it.
    Raises BundleError for what is no archive, is damaged, is hostile, or is larger than `limit` bytes unpacked.
    """
    remedy = "Pack the bundle again as a .tar.zst or .tar.gz of plain files."
    try:
        source = _Source(path)
    except (OSError, ReadError) as error:
        raise BundleError(f"The archive cannot be opened: {error}", str(path), remedy) from error
    total = count = 0
    try:
        with tarfile.open(fileobj=source, mode="r|") as tar:  # type: ignore[call-overload]
            for member in tar:
                name = PurePosixPath(member.name)
                if name.is_absolute() or ".." in name.parts or "\0" in member.name:
                    raise BundleError(f"The archive names a file outside of it: {member.name!r}", str(path), remedy)
                target = into.joinpath(*name.parts)
                if member.isdir():
                    target.mkdir(parents=True, exist_ok=True)
                    continue
                if not member.isreg():
                    raise BundleError(f"The archive holds a link or device: {member.name!r}", str(path), remedy)
                total += member.size
                count += 1
                if total > limit or count > _COUNT_LIMIT:
                    raise BundleError("The archive is too large when unpacked", str(path), "Split or shorten it.")
                if shutil.disk_usage(into).free < member.size:
                    raise BundleError("There is no room to unpack the archive", str(into), "Make room on the disk.")
                target.parent.mkdir(parents=True, exist_ok=True)
                held = tar.extractfile(member)
                with open(target, "xb") as file:
                    if held:
                        shutil.copyfileobj(held, file, _COPY)
    except (tarfile.TarError, ReadError, OSError, EOFError) as error:
        raise BundleError(f"The archive is damaged or not an archive: {error}", str(path), remedy) from error
    finally:
        source.close()
    return _root(into)


def pack(root: Path, target: Path) -> None:
    """Pack a bundle folder as .tar.zst: the same files give the same bytes. Links, hidden and unfinished files stay
    out. Raises OSError; `target` is put in place only when it is whole."""
    names: list[Path] = []
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        names += [Path(folder, name) for name in files if not name.startswith(".") and not name.endswith(".part")]
    part = target.with_name(target.name + ".part")
    with (
        open(part, "wb") as file,
        zstandard.ZstdCompressor(level=6).stream_writer(file) as packed,
        tarfile.open(fileobj=packed, mode="w|", format=tarfile.PAX_FORMAT) as tar,
    ):
        for path in sorted(names, key=lambda path: os.fsencode(path.relative_to(root))):
            status = path.lstat()
            if not stat.S_ISREG(status.st_mode):
                continue
            member = tarfile.TarInfo(path.relative_to(root).as_posix())
            member.size, member.mode, member.mtime = status.st_size, 0o644, 0
            with open(path, "rb") as held:
                tar.addfile(member, held)
    os.replace(part, target)


def _root(into: Path) -> Path:
    names = [name for name in os.listdir(into) if not name.startswith(".")]
    if len(names) == 1 and names[0] not in ("scheduler", "applog", "syslog", "fabric", "metrics"):
        inner = into / names[0]
        if inner.is_dir():
            return inner
    return into
