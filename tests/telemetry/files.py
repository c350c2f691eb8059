"""Where the recorded answers lie, and bundles written from a few lines."""

from collections.abc import Mapping
from pathlib import Path

from telemetry.streams import Stream

DATA = Path(__file__).parent.parent / "data" / "telemetry"


def recorded(name: str) -> bytes:
    return (DATA / name).read_bytes()


def recorded_stream(name: str) -> Stream:
    file = DATA / name
    source = "metrics" if name.startswith("prometheus") else "scheduler"
    return Stream(source, f"{source}/{file.name}", file, file.stat().st_size)


def stream_of(folder: Path, data: bytes, name: str = "applog/job.out") -> Stream:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return Stream(name.split("/")[0], name, file, len(data))


def bundle_folder(root: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, text in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
    return root
