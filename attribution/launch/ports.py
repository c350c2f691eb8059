"""Finding a port on 127.0.0.1 that nobody listens on."""

import errno
import socket

LOCAL = "127.0.0.1"


def is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOCAL, port))
        except OSError as wrong:
            if wrong.errno in (errno.EADDRINUSE, errno.EACCES):
                return False
            raise
    return True


def first_free(wanted: int, tries: int = 100) -> int:
    """`wanted`, or the next free port after it; RuntimeError when `tries` of them are taken."""
    for port in range(wanted, min(wanted + tries, 65536)):
        if is_free(port):
            return port
    raise RuntimeError(f"no free port on {LOCAL} from {wanted} on; give another with --port")
