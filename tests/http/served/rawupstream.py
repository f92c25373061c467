"""An upstream made of bare sockets: a script for each connection, for what no server would do."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.http.served.running import PATIENCE

Script = Callable[["Connection", int], None]


class Connection:
    """One accepted connection. `number`: how many came before it."""

    def __init__(self, inner: socket.socket) -> None:
        self.inner = inner
        inner.settimeout(PATIENCE)

    def request(self) -> bytes:
        """Head and body of the next request; empty where the other side closed."""
        raw = b""
        while b"\r\n\r\n" not in raw:
            if not (piece := self.inner.recv(65536)):
                return b""
            raw += piece
        head, _, body = raw.partition(b"\r\n\r\n")
        size = 0
        for line in head.split(b"\r\n"):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                size = int(value)
        while len(body) < size:
            body += self.inner.recv(65536)
        return head + b"\r\n\r\n" + body

    def send(self, raw: bytes) -> None:
        self.inner.sendall(raw)

    def reset(self) -> None:
        """Close with a reset instead of an end."""
        self.inner.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.inner.close()

    def gone(self) -> bool:
        """Return True if the other side closes; what it sends is thrown away."""
        self.inner.settimeout(PATIENCE)
        try:
            while self.inner.recv(65536):
                pass
        except TimeoutError:
            return False
        except ConnectionError:
            return True
        return True


@contextmanager
def raw_upstream(script: Script) -> Iterator[str]:
    """Run `script(connection, number)` for each connection, in a thread; yields the base URL.

    What a script raises is raised at the end.
    """
    failures: list[Exception] = []
    threads: list[threading.Thread] = []

    def serve(inner: socket.socket, number: int) -> None:
        with contextlib.closing(inner):
            try:
                script(Connection(inner), number)
            except Exception as error:  # noqa: BLE001  it is raised at the end
                failures.append(error)

    def accept(listener: socket.socket) -> None:
        number = 0
        while True:
            try:
                inner, _ = listener.accept()
            except OSError:
                return
            threads.append(threading.Thread(target=serve, args=(inner, number)))
            threads[-1].start()
            number += 1

    with socket.create_server(("127.0.0.1", 0), backlog=1_000) as listener:
        accepting = threading.Thread(target=accept, args=(listener,))
        accepting.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/up/v1"
        finally:
            listener.shutdown(socket.SHUT_RDWR)
    accepting.join(PATIENCE)
    for thread in threads:
        thread.join(PATIENCE)
    if failures:
        raise failures[0]
