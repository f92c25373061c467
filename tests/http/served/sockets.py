"""HTTP by hand: what no client library would send, and answers as they lie on the wire."""

from __future__ import annotations

import contextlib
import re
import socket
import time
from collections.abc import Iterable

from tests.http.served.running import PATIENCE

HOST = b"Host: edge\r\n"


def connect(address: str) -> socket.socket:
    host, port = address.removeprefix("http://").split("/")[0].rsplit(":", 1)
    return socket.create_connection((host, int(port)), timeout=PATIENCE)


def rest(connection: socket.socket, seconds: float = PATIENCE) -> tuple[bytes, bool]:
    """Return what comes until the other side closes, or for so long; and whether it closed."""
    end = time.monotonic() + seconds
    seen = b""
    try:
        while (left := end - time.monotonic()) > 0:
            connection.settimeout(left)
            if not (piece := connection.recv(65536)):
                return seen, True
            seen += piece
    except TimeoutError:
        return seen, False
    except ConnectionError:
        return seen, True
    return seen, False


def until(connection: socket.socket, end: bytes) -> bytes:
    """Return what comes up to `end`, or until the other side closes."""
    seen = b""
    while not seen.endswith(end) and (piece := connection.recv(65536)):
        seen += piece
    return seen


def answers(connection: socket.socket, count: int = 1, *, bodies: bool = True) -> bytes:
    """The next `count` answers, as soon as they are there. `bodies`: they have some, whatever their
    heads say."""
    seen = b""
    while _whole(seen, bodies) < count and (piece := connection.recv(65536)):
        seen += piece
    return seen


def ask(
    address: str, *pieces: bytes, count: int = 1, bodies: bool = True, pause: float = 0.0
) -> bytes:
    """Send pieces, each in a packet of its own; the first `count` answers, as soon as they are
    there. `bodies`: they have some, whatever their heads say."""
    with connect(address) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for piece in pieces:
            connection.sendall(piece)
            time.sleep(pause)
        return answers(connection, count, bodies=bodies)


def _whole(raw: bytes, bodies: bool) -> int:
    """How many answers are there from beginning to end."""
    found = 0
    while raw:
        head, end, raw = raw.partition(b"\r\n\r\n")
        if not end:
            return found
        chunked = b"transfer-encoding: chunked" in head.lower()
        size = re.search(rb"content-length: *(\d+)", head.lower())
        if bodies and chunked:
            _, end, raw = raw.partition(b"0\r\n\r\n")
            if not end:
                return found
        elif bodies and size:
            if len(raw) < int(size[1]):
                return found
            raw = raw[int(size[1]) :]
        found += 1
    return found


def talk(address: str, *pieces: bytes, pause: float = 0.02) -> tuple[bytes, bool]:
    """Send pieces, each in a packet of its own, to a server that closes the connection in the end;
    then as `rest`."""
    with connect(address) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with contextlib.suppress(ConnectionError):  # it may have closed before the last piece
            for piece in pieces:
                connection.sendall(piece)
                time.sleep(pause)
        return rest(connection)


def drip(address: str, pieces: Iterable[bytes], pause: float) -> tuple[bytes, float]:
    """Send pieces until there is an answer; it, and after how many seconds at most."""
    started = time.monotonic()
    with connect(address) as connection:
        for piece in pieces:
            connection.settimeout(pause)
            try:
                connection.sendall(piece)
                if seen := connection.recv(65536):
                    return seen + rest(connection)[0], time.monotonic() - started
                break
            except TimeoutError:
                continue
            except ConnectionError:
                break
        return rest(connection)[0], time.monotonic() - started
