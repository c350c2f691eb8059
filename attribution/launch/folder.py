"""The data folder: everything that one installation keeps, readable by its owner alone."""

import fcntl
import os
import secrets
from collections.abc import Callable
from pathlib import Path


class DataFolderError(Exception):
    """The folder cannot be used; the message says why and what to do."""


class DataFolder:
    """`path` and what lies in it:

    run/    the Valkey socket, the lock, the schedule's state        log/    one file a process
    static/ the collected static files                               bundles/, first-fault.sqlite3
    secret_key, password, sample-loaded
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.run = path / "run"
        self.log = path / "log"
        self.password_file = path / "password"
        self._secret_key_file = path / "secret_key"
        self._sample_mark = path / "sample-loaded"
        self._lock: int | None = None

    def make(self) -> None:
        """Make what is missing, with mode 700; files that are there stay as they are."""
        try:
            for folder in (self.path, self.run, self.log):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.path.chmod(0o700)
        except OSError as wrong:
            raise DataFolderError(
                f"The data folder {self.path} cannot be made or used: {wrong.strerror}. "
                "Name another one in FIRST_FAULT_DATA."
            ) from wrong

    def take(self, url: str) -> None:
        """Hold the folder until this process ends, so that two consoles never share it; the lock file tells `url`."""
        lock = os.open(self.run / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            running = os.read(lock, 1000).decode(errors="replace").strip() or "an address that it has not told yet"
            os.close(lock)
            raise DataFolderError(
                f"Already running on {self.path}, at {running}. Stop that one first, or name another folder in "
                "FIRST_FAULT_DATA."
            ) from None
        os.ftruncate(lock, 0)
        os.write(lock, f"{url}\n".encode())
        self._lock = lock

    def release(self) -> None:
        """Let another console have the folder; the end of the process does it too."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    @property
    def secret_key(self) -> str:
        """The key that signs sessions, made on first use."""
        return _kept(self._secret_key_file, lambda: secrets.token_urlsafe(64))

    @property
    def password(self) -> str:
        """The first user's password, made on first use."""
        return _kept(self.password_file, lambda: secrets.token_urlsafe(12))

    @property
    def sample_loaded(self) -> bool:
        return self._sample_mark.exists()

    def mark_sample_loaded(self) -> None:
        self._sample_mark.touch()


def _kept(file: Path, make: Callable[[], str]) -> str:
    """The line in `file`, after making it (mode 600) when there is none."""
    try:
        if kept := file.read_text().strip():
            return kept
    except FileNotFoundError:
        pass
    new = make()
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as opened:
        os.fchmod(descriptor, 0o600)
        opened.write(f"{new}\n")
    return new
