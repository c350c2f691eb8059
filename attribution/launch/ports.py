"""Ports on 127.0.0.1: what is one, and the next that nobody listens on."""

import errno
import socket

LOCAL = "127.0.0.1"
LAST = 65535


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


def port_number(text: str) -> int:
    """`text` as a port; RuntimeError when it is none."""
    port = int(text) if text.isascii() and text.isdecimal() and len(text) <= 5 else 0
    if not 1 <= port <= LAST:
        raise RuntimeError(f"“{text}” is not a port number; give one from 1 to {LAST}: make run PORT=8000")
    return port


def first_free(wanted: int, tries: int = 100) -> int:
    """`wanted`, or the next free port after it; RuntimeError when `tries` of them are taken."""
    last = min(wanted + tries - 1, LAST)
    for port in range(wanted, last + 1):
        if is_free(port):
            return port
    tried = f"port {wanted} is" if last == wanted else f"the ports {wanted} to {last} are all"
    raise RuntimeError(f"{tried} taken or not for this user; give another with --port, or make run PORT=8000")
