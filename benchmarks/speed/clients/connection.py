"""One connection of a client that costs next to nothing itself: a blocking socket, bytes made
before anything is timed. What is measured with it is the server, not an HTTP library."""

from __future__ import annotations

import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass

END = b"\r\n\r\n"
LAST_CHUNK = b"0\r\n\r\n"
SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class TimedReply:
    """`first`: seconds until the first byte of the body; `took`: until the last one."""

    status: int
    headers: dict[str, str]
    body: bytes
    first: float
    took: float


class Connection:
    """Kept alive; opened again where the server closed it."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._socket: socket.socket | None = None

    def post(self, path: str, body: bytes, headers: Mapping[str, str]) -> TimedReply:
        return self.send(request("POST", path, body, headers))

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> TimedReply:
        return self.send(request("GET", path, b"", headers or {}))

    def send(self, raw: bytes) -> TimedReply:
        if self._socket is None:
            self._socket = socket.create_connection(("127.0.0.1", self._port), SECONDS)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        began = time.perf_counter()
        self._socket.sendall(raw)
        head, rest = self._head(self._socket)
        first = time.perf_counter() - began if rest else 0.0
        status, headers = _parsed(head)
        parts = [rest]
        size, wanted = len(rest), headers.get("content-length")
        while size < int(wanted) if wanted else not parts[-1].endswith(LAST_CHUNK):
            more = self._socket.recv(262_144)
            if not more:
                break
            first = first or time.perf_counter() - began
            if not wanted and len(more) < len(LAST_CHUNK):  # the end may lie in two pieces
                more = parts.pop() + more
            parts.append(more)
            size += len(more)
        took = time.perf_counter() - began
        if headers.get("connection", "").lower() == "close":
            self.close()
        return TimedReply(status, headers, b"".join(parts), first or took, took)

    def _head(self, link: socket.socket) -> tuple[bytes, bytes]:
        got = b""
        while END not in got:
            more = link.recv(65_536)
            if not more:
                raise ConnectionError("the server closed the connection without an answer")
            got += more
        head, _, rest = got.partition(END)
        return head, rest

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
        self._socket = None


def request(method: str, path: str, body: bytes, headers: Mapping[str, str]) -> bytes:
    """Return the request's bytes on the wire."""
    lines = [f"{method} {path} HTTP/1.1", "host: 127.0.0.1", f"content-length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode("latin-1") + END + body


def _parsed(head: bytes) -> tuple[int, dict[str, str]]:
    first, *lines = head.decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in lines)
    return int(first.split()[1]), {name.lower(): value.strip() for name, _, value in pairs}
